import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Writes by every path of the store, as a user that sees a part of the graph. The planner's own tests have the cases
/// of a transaction.
@Suite struct WriteAccessTests {
  private let store: TestStore
  private let boards: [ObjectID]

  init() throws {
    store = try TestStore(try Fixtures.team())
    boards = [try store.insert("Board"), try store.insert("Board")]
  }

  private func on(_ index: Int, _ role: Role) -> [Grant] { [Grant(role, on: boards[index].key)] }

  private func note(on index: Int, by user: String = "ann", _ values: [String: Value] = [:]) throws -> ObjectID {
    try store.by(user) {
      try store.insert("Note", values.merging(["board": .object(boards[index])]) { first, _ in first })
    }
  }

  private func refusal(_ result: WriteResult) -> Refusal? {
    if case .refused(let refusal) = result.outcome { refusal } else { nil }
  }

  private func edit(_ id: ObjectID, _ text: String = "x") throws -> Change {
    try store.update(id, "Note.text", .string(text))
  }

  private func restore(_ scope: RestoreRequest.Scope, at revision: Revision? = nil) throws -> WriteResult {
    let request = RestoreRequest(store.nextID(), scope, at: revision)
    return try store.store.commit(
      [.restore(request, author: Principal(author: store.author), rights: store.rights)], now: store.now)[0]
  }

  // MARK: - Transactions, undo and redo

  @Test func rightsArriveWithTheRequest() throws {
    let note = try note(on: 0)
    try store.by("ann", on(0, .commenter)) { () throws in #expect(try store.refusal([try edit(note)]) == nil) }
    try store.by("ann", on(0, .reader)) { () throws in
      #expect(try store.refusal([try edit(note, "y")])?.code == .notAllowed)
    }
    try store.by("ann", on(1, .owner)) { () throws in #expect(try store.refusal([try edit(note)])?.code == .notFound) }
    #expect(try store.refusal([try edit(note)]) == nil, "without rights everything is permitted")
  }

  private func commit(_ transaction: Transaction, by user: String, _ grants: [Grant]) throws -> WriteResult {
    let rights = Rights(user: user, grants: grants)
    return try store.store.commit(
      [.transaction(transaction, author: Principal(author: user), rights: rights)], now: store.now)[0]
  }

  @Test func outcomeIsThatOfThePrincipalWhoCommitted() throws {
    let transaction = Transaction(id: store.nextID(), changes: [try edit(try note(on: 0))])
    let first = try store.taken(try commit(transaction, by: "ann", on(0, .editor)))
    let stolen = try commit(transaction, by: "bob", on(0, .owner))
    #expect(refusal(stolen)?.code == .notAllowed && stolen.record == nil)
    let again = try store.taken(try commit(transaction, by: "ann", on(0, .reader)))
    #expect(again.revision == first.revision, "an outcome needs no right to change")
  }

  @Test func knownOutcomeHasTheConflictsThatAreVisibleNow() throws {
    let note = try note(on: 0)
    let read = try store.store.head.revision
    try store.by("bob") { _ = try store.must([try edit(note, "theirs")]) }
    let changes = [try store.update(note, "Note.text", .string("mine"), base: read)]
    let transaction = Transaction(id: store.nextID(), policy: .objectTrump, changes: changes)
    let first = try store.taken(try commit(transaction, by: "ann", on(0, .editor)))
    #expect(first.conflicts.map(\.theirs) == [.string("theirs")])
    #expect(try store.taken(try commit(transaction, by: "ann", on(0, .reader))).conflicts == first.conflicts)
    let later = try store.taken(try commit(transaction, by: "ann", on(1, .editor)))
    #expect(later.conflicts.isEmpty && later.revision == first.revision)
  }

  /// The values that the commit replaced are those of a time at which the note lay on a board that ann no longer sees.
  @Test func knownOutcomeHasNoValuesFromBeforeTheObjectWasVisible() throws {
    let both = on(0, .editor) + on(1, .editor)
    let note = try note(on: 1, by: "bob", ["key": .string("k"), "text": .string("secret")])
    let insertion = try store.insertion(
      "Note", ["board": .object(boards[0]), "key": .string("k"), "text": .string("ann's")])
    let transaction = Transaction(id: store.nextID(), policy: .objectTrump, changes: [insertion])
    let first = try store.taken(try commit(transaction, by: "ann", both))
    #expect(first.conflicts.contains { $0.theirs == .string("secret") && $0.author == "bob" })
    #expect(try store.taken(try commit(transaction, by: "ann", both)).conflicts == first.conflicts)

    let later = try store.taken(try commit(transaction, by: "ann", on(0, .reader))).conflicts
    #expect(later == first.conflicts.map(\.withoutContents) && later.allSatisfy { $0.id == note })
    #expect(later.allSatisfy { $0.theirs == .null && $0.mine == .null && $0.author.isEmpty && $0.revision == 0 })

    // The last state of the deleted note lies on her board; the conflict's does not.
    try store.by("bob") { _ = try store.must([Change(.delete, note, base: .max)]) }
    #expect(try store.taken(try commit(transaction, by: "ann", on(0, .reader))).conflicts == later)
  }

  /// A note that carol has edited on the other board, and that bob has then moved to ann's.
  private func movedNote() throws -> (id: ObjectID, born: Revision, moved: Revision) {
    let note = try note(on: 1, by: "bob", ["key": .string("k")])
    let born = try store.store.head.revision
    try store.by("carol") { _ = try store.must([try edit(note, "carol's")]) }
    try store.by("bob") { _ = try store.must([try store.update(note, "Note.board", .object(boards[0]))]) }
    return (note, born, try store.store.head.revision)
  }

  private func expectOnlyTheMove(_ refusal: Refusal?, _ moved: Revision) {
    #expect(refusal?.code == .conflict && refusal?.conflicts.map(\.author) == ["bob"])
    #expect(refusal?.conflicts.map(\.revision) == [moved] && refusal?.message.contains("carol") == false)
  }

  /// For ann, the note exists since the move. Her answers must not depend on earlier commits.
  @Test func conflictsNameNoCommitFromBeforeTheObjectWasVisible() throws {
    let (note, born, moved) = try movedNote()
    let text = try store.edit("Note.text", .string("ann's"))
    try store.by("ann", on(0, .editor)) {
      for revision in [born - 1, born, moved - 1] {
        let update = Change(.update, note, base: .max, edits: [text], onlyIf: Precondition(revision: revision))
        expectOnlyTheMove(try store.refusal([update]), moved)
        let delete = Change(.delete, note, base: .max, onlyIf: Precondition(revision: revision))
        expectOnlyTheMove(try store.refusal([delete]), moved)
        expectOnlyTheMove(try store.refusal([Change(.delete, note, base: revision)]), moved)
      }
      let insertion = try store.insertion(
        "Note", ["board": .object(boards[0]), "key": .string("k"), "text": .string("ann's")])
      let merged = try store.taken(try store.commit([insertion], policy: .storeTrump))
      #expect(merged.conflicts.map(\.author) == ["bob"] && merged.conflicts.map(\.revision) == [moved])
    }
    // Later commits are named as always.
    try store.by("carol") { _ = try store.must([try edit(note, "later")]) }
    try store.by("ann", on(0, .editor)) {
      let late = try store.refusal([Change(.delete, note, base: moved)])
      #expect(late?.conflicts.map(\.author) == ["carol"])
    }
  }

  /// The link comes into sight with its note, by a change that is no edit of the link.
  @Test func deleteNamesNoEditFromBeforeTheObjectWasVisible() throws {
    let (from, to) = (try note(on: 1), try note(on: 1))
    let link = try store.by("bob") { try store.insert("Link", ["from": .object(from), "to": .object(to)]) }
    let born = try store.store.head.revision
    try store.by("carol") { _ = try store.must([try store.update(link, "Link.label", .string("carol's"))]) }
    try store.by("bob") { _ = try store.must([try store.update(from, "Note.board", .object(boards[0]))]) }
    let moved = try store.store.head.revision
    try store.by("ann", on(0, .editor)) {
      expectOnlyTheMove(try store.refusal([Change(.delete, link, base: born)]), moved)
      expectOnlyTheMove(try store.refusal([Change(.delete, link, base: moved - 1)]), moved)
    }
  }

  @Test func undoAndRedoNeedTheRightsOfNow() throws {
    let note = try note(on: 0)
    try store.by("ann", on(0, .commenter)) { try store.must([try edit(note)]) }
    try store.by("ann", on(0, .reader)) { () throws in #expect(refusal(try store.undo())?.code == .notAllowed) }
    try store.by("ann", on(1, .owner)) { () throws in
      #expect(refusal(try store.undo()) == AccessJudge.effectOnInvisible)
    }
    try store.by("ann", on(0, .commenter)) { try store.taken(try store.undo()) }
    #expect(try store.value(note, "Note.text") == .string(""))
    try store.by("ann", on(0, .reader)) { () throws in #expect(refusal(try store.redo())?.code == .notAllowed) }
    try store.by("ann", on(0, .commenter)) { try store.taken(try store.redo()) }
    #expect(try store.value(note, "Note.text") == .string("x"))
  }

  @Test func undoOfOthersCommitNamesNobodyToAUserOfOneBoard() throws {
    _ = try note(on: 1, by: "bob")
    let revision = try store.store.head.revision
    let partly = try store.by("ann", on(0, .owner)) { refusal(try store.undo(revision)) }
    #expect(partly?.code == .notAllowed && partly?.message.contains("bob") == false)
    let unrestricted = try store.by("ann") { refusal(try store.undo(revision)) }
    #expect(unrestricted?.message.contains("bob") == true)
  }

  @Test func commitWithoutChangesNeedsARoleThatChangesSomething() throws {
    let note = try note(on: 0)
    let revision = try store.store.head.revision
    try store.by("ann", on(0, .reader)) { () throws in
      for changes in [[], [try edit(note, "")]] {
        let found = try store.refusal(changes)
        #expect(found?.code == .notAllowed && found?.message.contains("needs the role commenter") == true)
      }
    }
    #expect(try store.store.head.revision == revision)
    try store.by("ann", on(0, .reader) + on(1, .commenter)) { () throws in #expect(try store.refusal([]) == nil) }
  }

  @Test func reviveIsAnInsert() throws {
    let note = try note(on: 0, by: "bob")
    try store.by("ann", on(0, .editor)) { try store.must([Change(.delete, note, base: .max)]) }
    // Ann's own delete of bob's note; as a commenter she can't bring it back.
    try store.by("ann", on(0, .commenter)) {
      let refusal = refusal(try store.undo())
      #expect(refusal?.code == .notAllowed && refusal?.message.contains("create your own Note only") == true)
    }
    try store.by("ann", on(0, .editor)) { try store.taken(try store.undo()) }
    #expect(try store.value(note, "Note.creator") == .string("bob"))
  }

  // MARK: - Restore

  @Test func restoreOfInvisibleObjectIsLikeThatOfAnUnknownOne() throws {
    let note = try note(on: 1, by: "bob")
    let revision = try store.store.head.revision
    try store.by("bob") { try store.must([try edit(note)]) }
    let unknown = ObjectID(key: UniqueID(high: note.key.high, low: note.key.low ^ 1), entity: note.entity)
    let messages = try [note, unknown].map { id in
      let found = try store.by("ann", on(0, .owner)) { refusal(try restore(.object(id), at: revision)) }
      #expect(found?.code == .notFound)
      return found?.message.replacing("\(id)", with: "ID")
    }
    #expect(messages[0] == messages[1])
    try store.by("ann", on(1, .reader)) { () throws in
      #expect(refusal(try restore(.object(note), at: revision))?.code == .notAllowed)
    }
    try store.by("ann", on(1, .editor)) { try store.taken(try restore(.object(note), at: revision)) }
    #expect(try store.value(note, "Note.text") == .string(""))
  }

  @Test func restoreOfTheGraphNeedsTheRightForEachChange() throws {
    let note = try note(on: 0)
    let revision = try store.store.head.revision
    try store.by("ann", on(0, .editor)) { try store.must([try edit(note)]) }
    _ = try self.note(on: 1, by: "bob")
    try store.by("ann", on(0, .editor)) { () throws in
      #expect(refusal(try restore(.everything, at: revision)) == AccessJudge.effectOnInvisible)
    }
    #expect(try store.all("Note").count == 2 && store.value(note, "Note.text") == .string("x"))
  }

  /// A note that had a confidential text on another board, which is deleted.
  @Test func restoreBringsBackNoStateThatTheUserCouldNotSee() throws {
    let note = try note(on: 1, by: "bob", ["text": .string("salaries")])
    let secret = try store.store.head.revision
    try store.by("bob") {
      let edits = [
        try store.edit("Note.text", .string("lunch")), try store.edit("Note.board", .object(boards[0])),
      ]
      try store.must([Change(.update, note, base: .max, edits: edits)])
    }
    let shown = try store.store.head.revision
    try store.by("bob") {
      try store.must([try edit(note, "dinner")])
      try store.must([Change(.delete, boards[1], base: .max)])
    }
    try store.by("ann", on(0, .owner)) {
      let messages = try [secret, secret - 1].map { revision in
        let found = refusal(try restore(.object(note), at: revision))
        #expect(found?.code == .notFound)
        return found?.message.replacing("revision \(revision)", with: "R")
      }
      #expect(messages[0] == messages[1], "like a note that did not exist yet")
      #expect(refusal(try restore(.everything, at: secret)) == AccessJudge.effectOnInvisible)
      #expect(refusal(try restore(.contents(boards[0]), at: secret))?.code == .conflict)
      #expect(try store.value(note, "Note.text") == .string("dinner"))
      try store.taken(try restore(.object(note), at: shown))
      #expect(try store.value(note, "Note.text") == .string("lunch"))
    }
    try store.by("bob", on(0, .owner) + on(1, .reader)) { try store.taken(try restore(.object(note), at: secret)) }
    #expect(try store.value(note, "Note.text") == .string("salaries"))
  }

  @Test func restoreKeepsReferencesToWhatTheUserCouldNotSee() throws {
    let (from, hidden, other) = (try note(on: 0), try note(on: 1), try note(on: 0))
    let link = try store.by("bob") {
      try store.insert("Link", ["from": .object(from), "to": .object(hidden), "label": .string("old")])
    }
    let revision = try store.store.head.revision
    try store.by("bob") {
      try store.must([try store.update(link, "Link.to", .object(other))])
      try store.must([try store.update(link, "Link.label", .string("new"))])
      try store.must([try store.update(hidden, "Note.board", .object(boards[0]))])
    }
    let property = try store.property("Link.to").number
    try store.by("ann", on(0, .owner)) {
      let result = try store.taken(try restore(.object(link), at: revision))
      #expect(result.conflicts == [Conflict(kind: .changed, id: link, property: property)])
    }
    #expect(try store.value(link, "Link.to") == .object(other) && store.value(link, "Link.label") == .string("old"))
    try store.by("ann", on(0, .owner) + on(1, .reader)) { try store.taken(try restore(.object(link), at: revision)) }
    #expect(try store.value(link, "Link.to") == .object(hidden))
  }

  /// The conflict names a delete of which the user can know nothing else.
  @Test func restoreNamesNoDeleteOfAnInvisibleObject() throws {
    let (from, hidden, other) = (try note(on: 0), try note(on: 0), try note(on: 0))
    let link = try store.insert("Link", ["from": .object(from), "to": .object(hidden), "label": .string("old")])
    let revision = try store.store.head.revision
    try store.by("bob") {
      try store.must([try store.update(link, "Link.to", .object(other))])
      try store.must([try store.update(link, "Link.label", .string("new"))])
      try store.must([try store.update(hidden, "Note.board", .object(boards[1]))])
      try store.must([Change(.delete, hidden, base: .max)])
    }
    let property = try store.property("Link.to").number
    let all = try store.by("ann", on(0, .owner)) { try store.taken(try restore(.object(link), at: revision)) }
    #expect(all.conflicts == [Conflict(kind: .deleted, id: link, property: property)])
  }

  // MARK: - Batches

  private func setText(_ predicate: String) throws -> Batch.Operation {
    let condition = try GraphPredicate(parsing: predicate, entity: try store.entity("Note"), model: store.model)
    return .update(condition, [Batch.Assignment(try store.property("Note.text").number, .value(.string("x")))])
  }

  @Test(arguments: [1, 7]) func batchSelectsOnlyWhatTheUserSees(count: Int) throws {
    let seen = try (0..<count).map { _ in try note(on: 0) }
    let hidden = try (0..<count).map { _ in try note(on: 1) }
    try store.by("ann", on(0, .editor)) { try store.taken(try store.batch("Note", try setText("text == ''"))) }
    for note in seen { #expect(try store.value(note, "Note.text") == .string("x")) }
    for note in hidden { #expect(try store.value(note, "Note.text") == .string("")) }
  }

  @Test(arguments: [1, 7]) func batchNeedsTheRightForEachObject(count: Int) throws {
    for _ in 0..<count { _ = try note(on: 0) }
    _ = try note(on: 0, by: "bob")
    let revision = try store.store.head.revision
    try store.by("ann", on(0, .commenter)) { () throws in
      #expect(refusal(try store.batch("Note", try setText("text == ''")))?.code == .notAllowed)
      #expect(refusal(try store.batch("Note", .delete(.always)))?.code == .notAllowed)
    }
    #expect(try store.store.head.revision == revision && store.all("Note").count == count + 1)
  }

  @Test func batchOfAPartlySightedUserReadsNoOtherObjects() throws {
    _ = try note(on: 0)
    try store.by("ann", on(0, .editor)) {
      let found = refusal(try store.batch("Note", try setText("board.name == ''")))
      #expect(found?.code == .notAllowed && found?.message.contains("reads other objects") == true)
    }
    try store.taken(try store.batch("Note", try setText("board.name == ''")))
  }

  @Test(arguments: [1, 7]) func insertedRowsAreJudged(count: Int) throws {
    let board = try store.property("Note.board").number
    func insert(on target: ObjectID) throws -> Refusal? {
      let rows = (0..<count).map { _ in [Value.object(target)] }
      return refusal(try store.batch("Note", .insert([board], rows: count), rows: rows))
    }
    try store.by("ann", on(0, .reader)) { () throws in #expect(try insert(on: boards[0])?.code == .notAllowed) }
    let unknown = ObjectID(
      key: UniqueID(high: boards[1].key.high, low: boards[1].key.low ^ 1), entity: boards[1].entity)
    try store.by("ann", on(0, .commenter)) { () throws in
      #expect(try insert(on: boards[0]) == nil)
      // A board that ann can't see is like one that does not exist.
      let messages = try [boards[1], unknown].map { target in
        let refusal = try insert(on: target)
        #expect(refusal?.code == .invalid && refusal?.violations.count == count)
        return refusal?.message.replacing("\(target)", with: "ID")
      }
      #expect(messages[0] == messages[1])
      #expect(messages[0]?.contains("board refers to a Board that does not exist: ID") == true, "\(messages)")
    }
    #expect(try store.all("Note", "creator == 'ann'").count == count && store.all("Note").count == count)
  }

  @Test func onlyAnOwnerImportsAWholeGraph() throws {
    for (grants, isAllowed) in [([Grant(.editor)], false), (on(0, .owner), false), ([Grant(.owner)], true)] {
      let empty = try TestStore(store.model)
      let batch = Batch(id: empty.nextID(), entity: 0, operation: .restore(rows: 0))
      let rights = Rights(user: "ann", grants: grants)
      let run = BatchJob(batch, author: "ann", rights: rights, rows: ImportedRows(rows: []))
      let refusal = refusal(try empty.store.commit([.batch(run)], now: empty.now)[0])
      #expect((refusal == nil) == isAllowed && (refusal == nil || refusal?.code == .notAllowed))
    }
  }
}
