import Foundation
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// A whole graph is exported in one order and imported into an empty store completely, or not at all.
@Suite struct WholeGraphTests {
  private struct Rows: BatchRowSource {
    let rows: [[Value]]
    var count: Int { rows.count }

    func forEachChunk(_ body: ([[Value]]) throws -> Void) throws {
      for start in stride(from: 0, to: rows.count, by: 7) { try body(Array(rows[start..<min(start + 7, rows.count)])) }
    }
  }

  private func export(_ store: TestStore) throws -> [ObjectImage] {
    var images = [ObjectImage]()
    var announced = -1
    let head = try store.store.head
    let end = try store.store.export { at, count in
      announced = count
      #expect(at == head)
    } _: {
      images.append($0)
    }
    #expect(end == AnswerCompletion(at: head))
    #expect(announced == images.count)
    return images
  }

  private func restore(
    _ rows: [[Value]], into store: TestStore, id: TransactionID? = nil,
    progress: @escaping @Sendable (BatchProgress) throws -> Void = { _ in }
  ) throws -> Outcome {
    store.now += 1
    let batch = Batch(id: id ?? store.nextID(), entity: 0, operation: .restore(rows: rows.count))
    let run = BatchJob(batch, author: "ann", rows: Rows(rows: rows), progress: progress)
    return try store.store.commit([.batch(run)], now: store.now)[0].outcome
  }

  private func rows(_ images: [ObjectImage]) -> [[Value]] { images.map { [.object($0.id)] + $0.values } }

  private func plain(_ images: [ObjectImage]) -> [[Value]] { rows(images) }

  private func refusal(_ outcome: Outcome) -> Refusal? {
    if case .refused(let refusal) = outcome { refusal } else { nil }
  }

  /// People who manage each other in a circle, one-to-one, many-to-many, inheritance; more than one slice.
  private func company() throws -> TestStore {
    let store = try TestStore(try Fixtures.company())
    let project = try store.insert("Project", ["title": .string("t"), "year": .integer(1)])
    var people = [ObjectID]()
    for number in 0..<9 {
      people.append(
        try store.insert(
          "Person",
          [
            "name": .string("p\(number)"), "age": .integer(40), "bio": .string("likes tea \(number)"),
            "salary": .decimal(try #require(DecimalValue("12.50"))),
            "projects": .objects(number < 3 ? [project] : []),
          ]))
    }
    for (number, id) in people.enumerated() {
      try store.must([store.update(id, "Person.manager", .object(people[(number + 1) % 9]))])
    }
    _ = try store.insert("Robot", ["name": .string("r")])
    let desk = try store.insert("Desk")
    try store.must([store.update(people[0], "Person.desk", .object(desk))])
    return store
  }

  private func notes() throws -> TestStore {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("Plans")])
    let tags = try ["a", "b"].map { try store.insert("Tag", ["name": .string($0)]) }
    for number in 0..<8 {
      _ = try store.insert(
        "Note",
        ["text": .string("milk \(number)"), "board": .object(board), "tags": .objects(number < 5 ? tags.sorted() : [])])
    }
    return store
  }

  private func ordered() throws -> TestStore {
    let store = try TestStore(try Fixtures.ordered())
    let project = try store.insert("Project", ["title": .string("t")])
    for label in ["c", "a", "b"] {
      _ = try store.insert("Step", ["label": .string(label), "project": .object(project)])
    }
    let chapter = try store.insert("Chapter")
    let others = try (0..<3).map { try store.insert("Project", ["title": .string("\($0)")]) }
    try store.must([store.update(chapter, "Chapter.projects", .objects([others[2], project, others[0]]))])
    return store
  }

  @Test(arguments: ["company", "notes", "ordered", "workplace"])
  func importedGraphEqualsExportedGraph(_ name: String) throws {
    let store: TestStore
    switch name {
    case "company": store = try company()
    case "notes": store = try notes()
    case "ordered": store = try ordered()
    default:
      store = try TestStore(try Fixtures.workplace())
      let department = try store.insert("Department")
      _ = try store.insert("Person", ["name": .string("Ann"), "unit": .object(department)])
      _ = try store.insert("Project", ["department": .object(department), "starts": .date(5), "due": .date(6)])
    }
    let images = try export(store)
    #expect(images.count > 2)
    let keys = images.map { ($0.id.entity, $0.id.key) }
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })

    // In any order of the rows, and with any entity in a reference.
    for rows in [rows(images), rows(images.reversed())] {
      let copy = try TestStore(store.model)
      guard case .committed(let committed) = try restore(rows, into: copy) else {
        Issue.record("it was refused")
        continue
      }
      #expect(committed.revision == 1)
      #expect(plain(try export(copy)) == plain(images))
      let next = try store.store.statistics().sequences
      #expect(try copy.store.statistics().sequences.map(\.next) == next.map(\.next))
      // The store works like any other: it commits, searches, undoes, and passes the check.
      if name == "notes" {
        #expect(try copy.all("Note", "text CONTAINS \"milk\"").count == 8)
        let board = try copy.insert("Board", ["name": .string("New")])
        let note = try copy.insert("Note", ["text": .string("n"), "board": .object(board)])
        #expect(try copy.value(note, "Note.number") == .integer(9))
      }
      try copy.reopen()
      try copy.store.close()
      #expect(try StoreCheck.run(directory: copy.directory.path, model: copy.model) == [])
    }
  }

  @Test func storeWithCommitsIsRefused() throws {
    let store = try notes()
    let refused = refusal(try restore(rows(export(store)), into: store))
    #expect(refused?.code == .notAllowed)
    #expect(refused?.message.contains("the store already has 11 commits") == true)
  }

  @Test func resentImportIsCommittedOnce() throws {
    let store = try notes()
    let copy = try TestStore(store.model)
    let id = copy.nextID()
    let rows = rows(try export(store))
    let first = try restore(rows, into: copy, id: id)
    #expect(try restore([], into: copy, id: id) == first)
    #expect(try copy.store.head.revision == 1)
  }

  /// The largest number that an import may contain leaves none for the next note; the writer refuses that note and
  /// continues.
  @Test func exhaustedSequenceRefusesInserts() throws {
    let store = try notes()
    let images = try export(store)
    var rows = rows(images)
    let note = try #require(images.indices.last { images[$0].id.entity == (try? store.entity("Note").number) })
    rows[note][try #require(try store.property("Note.number").slot) + 1] = .integer(.max - 1)
    let copy = try TestStore(store.model)
    guard case .committed = try restore(rows, into: copy) else { throw TestStore.UnexpectedCommit() }
    let refusal = try copy.refusal([copy.insertion("Note", ["text": .string("n")])])
    #expect(refusal?.violations.first?.rule == "assigned")
    #expect(refusal?.violations.first?.message == "Note.number has no number left in its sequence")
    _ = try copy.insert("Board", ["name": .string("New")])
    #expect(try StoreCheckRun(copy).findings.isEmpty)
  }

  /// Each mistake is reported with the number of its row, and leaves nothing behind.
  @Test(arguments: [
    "duplicate id", "missing end", "wrong kind of end", "unique", "required", "rule", "type", "count", "abstract",
    "short",
    "temporary", "other count",
  ])
  func importErrorReportsItsRow(_ mistake: String) throws {
    let store = try company()
    let images = try export(store)
    var rows = rows(images)
    let model = store.model
    func slot(_ path: String) throws -> Int { try #require(try store.property(path).slot) + 1 }
    func row(_ entity: String, _ number: Int = 0) throws -> Int {
      let wanted = try store.entity(entity).number
      return try #require(images.indices.filter { images[$0].id.entity == wanted }.dropFirst(number).first)
    }
    let person = try row("Person", 4)
    var wanted: (row: Int, rule: String)? = (person + 1, "")
    switch mistake {
    case "duplicate id":
      rows[person][0] = rows[person - 1][0]
      wanted = (person + 1, "unique")
    case "missing end":
      rows[person][try slot("Person.manager")] = .object(
        ObjectID(key: UniqueID(high: 1, low: 2), entity: images[person].id.entity))
      wanted = (person + 1, "destination")
    case "wrong kind of end":
      rows[person][try slot("Person.manager")] = .object(images[try row("Robot")].id)
      wanted = (person + 1, "destination")
    case "unique":
      rows[person][try slot("Party.name")] = .string("r")
      // The robot comes later.
      wanted = (try row("Robot") + 1, "unique")
    case "required":
      rows[person][try slot("Party.name")] = .null
      wanted = (person + 1, "required")
    case "rule":
      rows[person][try slot("Person.age")] = .integer(200)
      wanted = (person + 1, "maximum")
    case "type":
      rows[person][try slot("Person.age")] = .string("old")
      wanted = (person + 1, "type")
    case "count":
      // A project takes three members.
      rows[person][try slot("Person.projects")] = .objects([images[try row("Project")].id])
      wanted = (try row("Project") + 1, "count")
    case "abstract":
      rows[person][0] = .object(ObjectID(key: images[person].id.key, entity: try store.entity("Party").number))
      rows[person] = Array(rows[person].prefix(try store.entity("Party").slotCount + 1))
      wanted = (person + 1, "type")
    case "short":
      rows[person].removeLast()
      wanted = nil
    case "temporary":
      rows[person][0] = .object(.temporary(1, entity: images[person].id.entity))
      wanted = nil
    default:
      let copy = try TestStore(model)
      let batch = Batch(id: copy.nextID(), entity: 0, operation: .restore(rows: rows.count + 1))
      let run = BatchJob(batch, author: "ann", rows: Rows(rows: rows))
      let outcome = try copy.store.commit([.batch(run)], now: copy.now)[0].outcome
      #expect(refusal(outcome)?.code == .malformed)
      return
    }
    let copy = try TestStore(model)
    let refused = try #require(refusal(try restore(rows, into: copy)))
    if let wanted {
      #expect(
        refused.violations.contains { $0.id.isTemporary && Int($0.id.key.low) == wanted.row && $0.rule == wanted.rule },
        "\(refused)")
      // The messages are those of the rules, regardless of the part that detects the violation.
      #expect(!refused.violations.contains { $0.message.contains("constraint failed") }, "\(refused)")
      switch mistake {
      case "unique":
        let violation = try #require(refused.violations.first { $0.property > 0 })
        #expect(violation.message == "another new Party has the same name")
        #expect(violation.value == .string("r"))
        // The conflict names its object by the row.
        #expect(refused.conflicts.map(\.kind) == [.unique])
        #expect(refused.conflicts.map { Int($0.id.key.low) } == [person + 1], "\(refused)")
      case "required", "rule":
        let violation = try #require(refused.violations.first)
        #expect(refused.violations.count == 1, "\(refused)")
        #expect(violation.message == (mistake == "rule" ? "Person.age is more than 150" : "Person.name needs a value"))
        #expect(violation.value == (mistake == "rule" ? .integer(200) : .null))
        #expect(violation.property > 0)
      case "count":
        #expect(refused.violations.first?.message == "Project.members has 4 objects; the maximum is 3", "\(refused)")
      default: break
      }
    } else {
      #expect(refused.code == .malformed)
      #expect(refused.message.contains("row \(person + 1) "))
    }
    #expect(try copy.store.head.revision == 0)
    #expect(try export(copy).isEmpty)
    // A correct import is still possible.
    guard case .committed = try restore(self.rows(images), into: copy) else {
      Issue.record("it was refused")
      return
    }
    try copy.store.close()
    #expect(try StoreCheck.run(directory: copy.directory.path, model: model) == [])
  }

  @Test(arguments: [
    (Int64(2), "is 2 in two objects"), (0, "is 0, but"), (-5, "is -5, but"), (.max, "leaves no next number"), (7, ""),
  ])
  func duplicateSequenceNumberIsRefused(number: Int64, why: String) throws {
    let source = """
      {"format": 1, "name": "Desk", "version": 1, "entities": [{"name": "Thing", "attributes": [
        {"name": "number", "type": "integer", "assigned": "sequence"}]}]}
      """
    let store = try TestStore(try Model(parsing: source.utf8))
    for _ in 0..<3 { _ = try store.insert("Thing") }
    var rows = rows(try export(store))
    let slot = try #require(try store.property("Thing.number").slot) + 1
    let third = try #require(rows.firstIndex { $0[slot] == .integer(3) })
    rows[third][slot] = .integer(number)
    let copy = try TestStore(store.model)
    let outcome = try restore(rows, into: copy)
    guard !why.isEmpty else {
      // The next number follows the highest one.
      let fresh = try copy.insert("Thing")
      return #expect(try copy.value(fresh, "Thing.number") == .integer(number + 1))
    }
    let refused = try #require(refusal(outcome))
    #expect(refused.violations.allSatisfy { $0.rule == "assigned" && $0.message.contains(why) }, "\(refused)")
    #expect(try copy.store.head.revision == 0)
  }

  /// Its rows have the store's numbers of entities, not the model's.
  @Test func migratedStoreIsExportedAndImported() throws {
    let old = try ShopVersions.filled()
    let count = try export(old).count - 1
    try old.store.close()
    let model = try ShopVersions.model(ShopVersions.second)
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    let account = try store.insert("Account", ["balance": .integer(5)])
    let images = try export(store)
    // All but the one of the entity that has gone, and a new one.
    #expect(images.count == count + 1)
    #expect(images.first?.id == account)
    let keys = images.map { ($0.id.entity, $0.id.key) }
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
    let copy = try TestStore(model)
    guard case .committed = try restore(rows(images), into: copy) else {
      Issue.record("it was refused")
      return
    }
    #expect(plain(try export(copy)) == plain(images))
  }

  @Test func cancelledImportLeavesNothing() throws {
    let store = try company()
    let rows = rows(try export(store))
    for moment in stride(from: 0, to: 2 * rows.count, by: 5) {
      let copy = try TestStore(store.model)
      let outcome = try restore(rows, into: copy) { progress in
        if progress.done >= moment { throw Refusal(.unavailable, "given up") }
      }
      #expect(refusal(outcome)?.code == .unavailable)
      #expect(try export(copy).isEmpty)
      try copy.store.close()
      #expect(try StoreCheck.run(directory: copy.directory.path, model: store.model) == [])
    }
  }

  /// A refusal of one row also reports the violations of the other rows; a reference to a refused row is no violation.
  @Test func errorsOfEveryKindAreReportedTogether() throws {
    let store = try company()
    let images = try export(store)
    var rows = rows(images)
    let person = try store.entity("Person").number
    let people = images.indices.filter { images[$0].id.entity == person }
    try #require(people.count > 4)
    func set(_ place: Int, _ path: String, _ value: Value) throws {
      rows[people[place]][try #require(try store.property(path).slot) + 1] = value
    }
    try set(1, "Person.age", .string("old"))
    try set(2, "Person.age", .integer(200))
    try set(2, "Person.manager", .object(ObjectID(key: UniqueID(high: 1, low: 2), entity: person)))
    try set(3, "Person.manager", .object(images[people[1]].id))
    try set(4, "Party.name", .null)
    let copy = try TestStore(store.model)
    let refused = try #require(refusal(try restore(rows, into: copy)))
    let reported = refused.violations.map { "\(Int($0.id.key.low) - 1) \($0.rule)" }
    #expect(
      reported.sorted()
        == [
          "\(people[1]) type", "\(people[2]) destination", "\(people[2]) maximum", "\(people[4]) required",
        ].sorted(), "\(refused)")
    // Without the invalid age, only the other violations are reported.
    try set(1, "Person.age", .integer(30))
    let second = try #require(refusal(try restore(rows, into: copy)))
    #expect(
      second.violations.map { "\(Int($0.id.key.low) - 1) \($0.rule)" }.sorted()
        == [
          "\(people[2]) destination", "\(people[2]) maximum", "\(people[4]) required",
        ].sorted(), "\(second)")
    #expect(try copy.store.head.revision == 0)
  }

  @Test func idInTwoEntitiesIsRefused() throws {
    let store = try TestStore(try Fixtures.company())
    let (desk, robot) = (try store.insert("Desk"), try store.insert("Robot", ["name": .string("r")]))
    let images = try export(store).map { image in
      image.id == desk
        ? ObjectImage(id: ObjectID(key: robot.key, entity: desk.entity), revision: 1, values: image.values) : image
    }
    let empty = try TestStore(try Fixtures.company())
    let refusal = try #require(refusal(try restore(plain(images), into: empty)))
    #expect(refusal.violations.map(\.rule) == ["unique"])
    #expect(refusal.violations.first?.message.contains("is given twice") == true)
    #expect(try empty.store.head.revision == 0)
  }

  @Test func inconsistentOneToOneIsRefused() throws {
    let store = try company()
    let (property, inverse) = (try store.property("Person.desk"), try store.property("Desk.owner"))
    var images = try export(store)
    let person = try store.entity("Person").number
    let owner = try #require(images.firstIndex { $0.id.entity == person && !$0[property].isNull })
    let target = try #require(images[owner][property].objectID)
    let place = try #require(images.firstIndex { $0.id == target })
    images[place][inverse] = .null
    let empty = try TestStore(try Fixtures.company())
    let refusal = try #require(refusal(try restore(plain(images), into: empty)))
    #expect(refusal.violations.first?.message.contains("is another object, or none") == true, "\(refusal)")
  }
}
