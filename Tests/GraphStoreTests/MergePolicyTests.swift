import Foundation
import GraphModel
import GraphTesting
import Testing

/// The tables of docs/guides/conflicts.md are the specification: each cell is tested on a real store.
@Suite struct MergePolicyTests {
  /// The words that a cell may hold.
  enum CellOutcome: String {
    case refused = "refused"
    case storedStays = "stored stays"
    case mineWins = "mine wins"
    case bothStay = "both stay"
    case bothAgree = "both agree"
  }

  struct Cell: CustomTestStringConvertible, Sendable {
    let policy: MergePolicy
    let column: String
    let verdict: CellOutcome

    var testDescription: String { "\(policy), \(column): \(verdict.rawValue)" }
  }

  private struct TableParseError: Error {
    let reason: String
  }

  /// All cells of the tables whose first column is the policy.
  static func cells() throws -> [Cell] {
    let page = String(decoding: try Fixtures.file("docs/guides/conflicts.md"), as: UTF8.self)
    let policies = Dictionary(uniqueKeysWithValues: MergePolicy.allCases.map { ("`\($0)`", $0) })
    var cells = [Cell]()
    var columns = [String]()
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("|") else {
        columns = []
        continue
      }
      let words = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      if words.first == "policy" {
        columns = words
      } else if !columns.isEmpty, words.first?.hasPrefix("`") == true {
        guard words.count == columns.count, let policy = policies[words[0]] else {
          throw TableParseError(reason: "a row that fits no table: \(line)")
        }
        for (column, word) in zip(columns, words).dropFirst() {
          guard let verdict = CellOutcome(rawValue: word) else {
            throw TableParseError(reason: "an unknown word: \(word)")
          }
          cells.append(Cell(policy: policy, column: column, verdict: verdict))
        }
      }
    }
    return cells
  }

  @Test func tableOfGuideIsComplete() throws {
    let cells = try Self.cells()
    for column in MergeFixture.columns {
      #expect(cells.filter { $0.column == column }.map(\.policy) == MergePolicy.allCases, "\(column)")
    }
    #expect(cells.count == MergeFixture.columns.count * MergePolicy.allCases.count)
  }

  @Test func storeMatchesEveryTableCell() throws {
    for cell in try Self.cells() {
      let scene = try MergeFixture()
      let (verdict, conflicts, theirs) = try scene.play(cell.column, cell.policy)
      #expect(verdict == cell.verdict.rawValue, "\(cell.testDescription)")
      switch cell.verdict {
      case .bothStay, .bothAgree:
        // A conflict about another property may be reported, but none about this one.
        #expect(!conflicts.contains { scene.isAbout(cell.column, $0) }, "\(cell.testDescription)")
      case .refused, .storedStays, .mineWins:
        if scene.isUnopposed(cell.column, cell.verdict) {
          #expect(!conflicts.contains { scene.isAbout(cell.column, $0) }, "\(cell.testDescription)")
          continue
        }
        let reported = try #require(conflicts.first { scene.isAbout(cell.column, $0) }, "\(cell.testDescription)")
        #expect(reported.author == "bob", "\(cell.testDescription)")
        #expect(reported.revision == theirs, "\(cell.testDescription)")
        #expect(reported.mineWon == (cell.verdict == .mineWins), "\(cell.testDescription)")
        let values = scene.values(cell.column, cell.verdict)
        #expect(reported.mine == values.mine, "\(cell.testDescription)")
        #expect(reported.theirs == values.theirs, "\(cell.testDescription)")
      }
      #expect(try StoreCheckRun(scene.store).findings.isEmpty, "\(cell.testDescription)")
    }
  }

  @Test func overwrittenValueStaysInHistory() throws {
    let scene = try MergeFixture()
    let (_, conflicts, theirs) = try scene.play("same property", .objectTrump)
    let named = try #require(conflicts.first?.revision)
    #expect(named == theirs)
    let size = try scene.store.property("Thing.size")
    let commits = try scene.store.store.commits(after: named - 1, through: nil, maximumChanges: 10)
    #expect(commits.first?.changes.first?.after?[size] == .integer(5))
    #expect(commits.last?.changes.first?.before?[size] == .integer(5))
  }

  @Test func losingValueIsStoredWithCommit() throws {
    let scene = try MergeFixture()
    scene.others()
    try scene.store.must([scene.set("size", 5)])
    scene.mine()
    let transaction = Transaction(id: scene.store.nextID(), policy: .storeTrump, changes: [try scene.set("size", 9)])
    let request = WriteRequest.transaction(transaction, author: "ann")
    let first = try scene.store.store.commit([request], now: 1)[0].outcome
    try scene.store.reopen()
    let again = try scene.store.store.commit([request], now: 2)[0].outcome
    #expect(first == again)
    guard case .committed(let committed) = again else {
      Issue.record("it was committed")
      return
    }
    #expect(committed.conflicts.map(\.mine) == [.integer(9)])
  }
}

/// Ann has read an object, Bob changes it, Ann saves.
final class MergeFixture {
  static let columns =
    [
      "same property", "other property", "to-many edit", "ordered edit", "text edit", "delete against update",
      "update against delete", "delete against delete", "insert against unique", "which only Ann changed",
      "which only Bob changed", "the text in which both typed", "the to-many to which both added",
      "a crate that Bob took to another ship", "a sailor whom Bob hired", "the whole crew, which Bob enlarged",
      "a ship to which Bob gave a captain", "a captain to whom Bob gave a ship",
    ] + listColumns + deletedColumns

  private static let model = """
    {"format": 1, "name": "Merge", "version": 1,
     "entities": [
       {"name": "Thing",
        "attributes": [
          {"name": "name", "type": "string"}, {"name": "size", "type": "integer", "default": 0},
          {"name": "weight", "type": "integer", "default": 0}, {"name": "words", "type": "text", "default": ""}],
        "relationships": [
          {"name": "marks", "destination": "Mark", "inverse": "things", "toMany": true}],
        "unique": [["name"]]},
       {"name": "Mark", "attributes": [{"name": "name", "type": "string"}],
        "relationships": [{"name": "things", "destination": "Thing", "inverse": "marks", "toMany": true}]},
       {"name": "Ship", "attributes": [{"name": "name", "type": "string"}],
        "relationships": [
          {"name": "captain", "destination": "Sailor", "inverse": "commands"},
          {"name": "crew", "destination": "Sailor", "inverse": "ship", "toMany": true},
          {"name": "cargo", "destination": "Crate", "inverse": "ship", "toMany": true, "ordered": true},
          {"name": "flags", "destination": "Flag", "inverse": "ship", "toMany": true, "deleteRule": "cascade"}]},
       {"name": "Flag",
        "relationships": [{"name": "ship", "destination": "Ship", "inverse": "flags", "optional": false}]},
       {"name": "Sailor", "attributes": [{"name": "name", "type": "string"}],
        "relationships": [
          {"name": "ship", "destination": "Ship", "inverse": "crew"},
          {"name": "commands", "destination": "Ship", "inverse": "captain"}]},
       {"name": "Crate", "attributes": [{"name": "name", "type": "string"}],
        "relationships": [{"name": "ship", "destination": "Ship", "inverse": "cargo"}]},
       {"name": "Chapter", "relationships": [
          {"name": "pictures", "destination": "Picture", "inverse": "chapters", "toMany": true, "ordered": true}]},
       {"name": "Picture", "relationships": [
          {"name": "chapters", "destination": "Chapter", "inverse": "pictures", "toMany": true}]}]}
    """

  let store: TestStore
  let thing: ObjectID
  /// Two marks that the thing does not have, and one that it has.
  let marks: [ObjectID]
  /// Two ships; the first has one sailor, and three crates in their order.
  let ships: [ObjectID]
  /// The first is of the first ship's crew, two are ashore.
  let sailors: [ObjectID]
  let crates: [ObjectID]
  /// It has the first three of the pictures, in their order.
  let chapter: ObjectID
  let pictures: [ObjectID]
  /// The values that Ann has read.
  let base: Revision

  init() throws {
    store = try TestStore(try Model(parsing: Self.model.utf8))
    store.author = "cid"
    store.replica = UniqueID(high: 3, low: 3)
    marks = try ["a", "b", "c"].map { [store] in try store.insert("Mark", ["name": .string($0)]) }
    thing = try store.insert(
      "Thing", ["name": .string("t"), "words": .string("the cat sat"), "marks": .objects([marks[2]])])
    ships = try ["Argo", "Beagle"].map { [store] in try store.insert("Ship", ["name": .string($0)]) }
    sailors = try ["s", "t", "u"].map { [store] in try store.insert("Sailor", ["name": .string($0)]) }
    crates = try ["k", "l", "m"].map { [store, ships] in
      try store.insert("Crate", ["name": .string($0), "ship": .object(ships[0])])
    }
    try store.must([store.update(sailors[0], "Sailor.ship", .object(ships[0]))])
    pictures = try (0..<5).map { [store] _ in try store.insert("Picture") }
    chapter = try store.insert("Chapter", ["pictures": .objects(Array(pictures.prefix(3)))])
    base = try store.store.head.revision
  }

  func others() { (store.author, store.replica) = ("bob", UniqueID(high: 2, low: 2)) }

  func mine() { (store.author, store.replica) = ("ann", UniqueID(high: 1, low: 1)) }

  func set(_ property: String, _ value: Int64) throws -> Change {
    try store.update(thing, "Thing.\(property)", .integer(value), base: base)
  }

  private func type(_ splice: TextSplice) throws -> Change {
    Change(.update, thing, base: base, edits: [Edit(try store.property("Thing.words").number, .splice([splice]))])
  }

  private func member(added: [ObjectID], removed: [ObjectID] = []) throws -> Change {
    let edit = Edit(try store.property("Thing.marks").number, .members(added: added, removed: removed))
    return Change(.update, thing, base: base, edits: [edit])
  }

  private func made(_ size: Int64) throws -> Change {
    try store.insertion("Thing", ["name": .string("n"), "size": .integer(size)])
  }

  private func number(_ property: String, _ id: ObjectID) throws -> Value { try store.value(id, "Thing.\(property)") }

  private func has(_ mark: Int) throws -> Bool {
    try store.value(thing, "Thing.marks").objectIDs.contains(marks[mark])
  }

  private func says(_ words: String) throws -> Bool {
    try store.value(thing, "Thing.words").stringValue?.contains(words) == true
  }

  /// One case: Bob's edit, Ann's edit, and whether the store has her edit and his edit afterwards.
  struct Case {
    var theirs: [Change]
    var mine: [Change]
    var hasMine: () throws -> Bool
    var hasTheirs: () throws -> Bool
  }

  private func load(_ crates: [ObjectID], after anchor: ObjectID?) throws -> Change {
    let edit = Edit(try store.property("Ship.cargo").number, .place(crates, after: anchor))
    return Change(.update, ships[0], base: base, edits: [edit])
  }

  private func place(_ crate: Int) throws -> Int64 {
    guard case .integer(let place) = try store.value(crates[crate], "Crate.ship.order") else { return .min }
    return place
  }

  private func orderedEdit() throws -> Case {
    Case(
      theirs: [try load([crates[2]], after: nil)], mine: [try load([crates[0]], after: crates[1])],
      hasMine: { try self.place(0) > self.place(1) }, hasTheirs: { try self.place(2) < self.place(1) })
  }

  /// Edits that name the end of a relationship that does not store it.
  private func otherEnd(_ column: String) throws -> Case {
    func leads(_ id: ObjectID, _ path: String, to other: ObjectID?) -> () throws -> Bool {
      { try self.store.value(id, path) == other.map(Value.object) ?? .null }
    }
    func says(_ id: ObjectID, _ path: String, _ other: ObjectID) throws -> Change {
      try store.update(id, path, .object(other), base: base)
    }
    switch column {
    case "a crate that Bob took to another ship":
      return Case(
        theirs: [try says(crates[2], "Crate.ship", ships[1])], mine: [try load([crates[2]], after: nil)],
        hasMine: leads(crates[2], "Crate.ship", to: ships[0]), hasTheirs: leads(crates[2], "Crate.ship", to: ships[1]))
    case "a sailor whom Bob hired":
      let edit = Edit(try store.property("Ship.crew").number, .members(added: [sailors[1]], removed: []))
      return Case(
        theirs: [try says(sailors[1], "Sailor.ship", ships[1])],
        mine: [Change(.update, ships[0], base: base, edits: [edit])],
        hasMine: leads(sailors[1], "Sailor.ship", to: ships[0]),
        hasTheirs: leads(sailors[1], "Sailor.ship", to: ships[1]))
    case "the whole crew, which Bob enlarged":
      return Case(
        theirs: [try says(sailors[1], "Sailor.ship", ships[0])],
        mine: [try store.update(ships[0], "Ship.crew", .objects([sailors[2]]), base: base)],
        hasMine: leads(sailors[1], "Sailor.ship", to: nil), hasTheirs: leads(sailors[1], "Sailor.ship", to: ships[0]))
    case "a ship to which Bob gave a captain":
      return Case(
        theirs: [try says(ships[0], "Ship.captain", sailors[1])],
        mine: [try says(sailors[2], "Sailor.commands", ships[0])],
        hasMine: leads(ships[0], "Ship.captain", to: sailors[2]),
        hasTheirs: leads(ships[0], "Ship.captain", to: sailors[1]))
    case "a captain to whom Bob gave a ship":
      return Case(
        theirs: [try says(ships[1], "Ship.captain", sailors[1])],
        mine: [try says(ships[0], "Ship.captain", sailors[1])],
        hasMine: leads(ships[0], "Ship.captain", to: sailors[1]),
        hasTheirs: leads(ships[1], "Ship.captain", to: sailors[1]))
    default: throw Refusal(.malformed, "no case tries the column \"\(column)\"")
    }
  }

  private func toManyEdit() throws -> Case {
    Case(
      theirs: [try member(added: [marks[0]])], mine: [try member(added: [marks[1]], removed: [marks[2]])],
      hasMine: { try self.has(1) && !self.has(2) }, hasTheirs: { try self.has(0) })
  }

  private func textEdit() throws -> Case {
    Case(
      theirs: [try type(TextSplice(offset: 11, length: 0, insertion: " down"))],
      mine: [try type(TextSplice(offset: 4, length: 3, insertion: "dog"))],
      hasMine: { try self.says("the dog sat") }, hasTheirs: { try self.says("sat down") })
  }

  private func make(_ column: String) throws -> Case {
    let thing = thing
    func stored(_ property: String, _ value: Int64) -> () throws -> Bool {
      { try self.number(property, thing) == .integer(value) }
    }
    let isGone = { try self.store.image(thing) == nil }
    switch column {
    case "same property":
      return Case(
        theirs: [try set("size", 5)], mine: [try set("size", 9)], hasMine: stored("size", 9),
        hasTheirs: stored("size", 5))
    case "other property":
      return Case(
        theirs: [try set("weight", 5)], mine: [try set("size", 9)], hasMine: stored("size", 9),
        hasTheirs: stored("weight", 5))
    case "to-many edit": return try toManyEdit()
    case "ordered edit": return try orderedEdit()
    case "text edit": return try textEdit()
    case "delete against update":
      return Case(
        theirs: [try set("size", 5)], mine: [Change(.delete, thing, base: base)], hasMine: isGone,
        hasTheirs: stored("size", 5))
    case "update against delete":
      return Case(
        theirs: [Change(.delete, thing, base: base)], mine: [try set("size", 9)], hasMine: stored("size", 9),
        hasTheirs: isGone)
    case "delete against delete":
      let delete = Change(.delete, thing, base: base)
      return Case(theirs: [delete], mine: [delete], hasMine: isGone, hasTheirs: isGone)
    case "insert against unique":
      func only(_ size: Int64) -> () throws -> Bool {
        { try self.store.all("Thing", "name == \"n\"").map { try self.number("size", $0.id) } == [.integer(size)] }
      }
      return Case(theirs: [try made(5)], mine: [try made(9)], hasMine: only(9), hasTheirs: only(5))
    case "which only Ann changed":
      return Case(
        theirs: [try set("size", 5)], mine: [try set("size", 9), try set("weight", 3)], hasMine: stored("weight", 3),
        hasTheirs: stored("weight", 0))
    case "which only Bob changed":
      return Case(
        theirs: [try set("size", 5), try set("weight", 7)], mine: [try set("size", 9)], hasMine: stored("weight", 0),
        hasTheirs: stored("weight", 7))
    case "the text in which both typed": return try beside(textEdit())
    case "the to-many to which both added": return try beside(toManyEdit())
    case _ where Self.deletedColumns.contains(column): return try deleted(column)
    default: return try Self.listColumns.contains(column) ? list(column) : otherEnd(column)
    }
  }

  /// The same, and both change one property besides.
  private func beside(_ other: Case) throws -> Case {
    var both = other
    both.theirs.append(try set("size", 5))
    both.mine.append(try set("size", 9))
    return both
  }

  /// The outcome in the page's words, the reported conflicts, and Bob's revision.
  func play(_ column: String, _ policy: MergePolicy) throws -> (String, [Conflict], Revision) {
    let played = try make(column)
    others()
    try store.must(played.theirs)
    let theirs = try store.store.head.revision
    mine()
    let (hasMine, hasTheirs, conflicts): (Bool, Bool, [Conflict])
    switch try store.commit(played.mine, policy: policy).outcome {
    case .refused(let refusal):
      // Nothing of it is written.
      #expect(try store.store.head.revision == theirs)
      #expect(try played.hasTheirs())
      return ("refused", refusal.conflicts, theirs)
    case .committed(let committed):
      (hasMine, hasTheirs, conflicts) = (try played.hasMine(), try played.hasTheirs(), committed.conflicts)
    }
    switch (hasMine, hasTheirs) {
    case (true, true): return (column == "delete against delete" ? "both agree" : "both stay", conflicts, theirs)
    case (true, false): return ("mine wins", conflicts, theirs)
    case (false, true): return ("stored stays", conflicts, theirs)
    case (false, false): return ("neither", conflicts, theirs)
    }
  }

  // MARK: - Reported conflicts

  /// Whether a conflict concerns the subject of the column.
  func isAbout(_ column: String, _ conflict: Conflict) -> Bool {
    let names =
      switch column {
      case "same property": ["size"]
      case "insert against unique": ["size", "name"]
      case "delete against update", "update against delete": [""]
      case "which only Ann changed", "which only Bob changed": ["weight"]
      case "text edit", "the text in which both typed": ["words"]
      case "to-many edit", "the to-many to which both added": ["marks"]
      case "ordered edit": ["cargo", "ship"]
      case _ where Self.listColumns.contains(column): ["pictures"]
      case _ where Self.deletedColumns.contains(column): [""]
      case "a crate that Bob took to another ship", "a sailor whom Bob hired", "the whole crew, which Bob enlarged":
        ["ship"]
      case "a ship to which Bob gave a captain": ["captain"]
      case "a captain to whom Bob gave a ship": ["commands"]
      default: ["size", "weight", "words", "marks", ""]
      }
    return names.contains(store.model.property(conflict.property)?.name ?? "")
  }

  /// Whether this property has no conflict, so that none is reported: the transaction is refused for another one.
  func isUnopposed(_ column: String, _ verdict: MergePolicyTests.CellOutcome) -> Bool {
    switch (column, verdict) {
    case ("which only Ann changed", .refused), ("which only Ann changed", .mineWins): true
    case ("which only Bob changed", .refused), ("which only Bob changed", .storedStays): true
    case ("the text in which both typed", .refused), ("the to-many to which both added", .refused): true
    // Both edit one list: the later edit applies to the result of the earlier one.
    case ("a picture that Bob took out and Ann moved", _), ("a picture that Bob moved and Ann took out", _): true
    default: false
    }
  }

  func values(_ column: String, _ verdict: MergePolicyTests.CellOutcome) -> (mine: Value, theirs: Value) {
    switch (column, verdict) {
    case ("delete against update", _), ("update against delete", _): (.null, .null)
    case _ where Self.deletedColumns.contains(column): (.null, .null)
    case ("insert against unique", .refused): (.string("n"), .string("n"))
    case ("which only Ann changed", _): (.integer(3), .integer(0))
    case ("which only Bob changed", _): (.integer(0), .integer(7))
    case ("the text in which both typed", _): (.string("the dog sat"), .string("the cat sat down"))
    case ("the to-many to which both added", _): (.null, .objects([marks[0], marks[2]].sorted()))
    case ("a crate that Bob took to another ship", _), ("a sailor whom Bob hired", _):
      (.object(ships[0]), .object(ships[1]))
    case ("the whole crew, which Bob enlarged", _): (.null, .object(ships[0]))
    case ("the whole list, in which Bob moved a picture", _): wholeLists
    case ("a ship to which Bob gave a captain", _): (.object(sailors[2]), .object(sailors[1]))
    case ("a captain to whom Bob gave a ship", _): (.object(ships[0]), .object(ships[1]))
    default: (.integer(9), .integer(5))
    }
  }
}
