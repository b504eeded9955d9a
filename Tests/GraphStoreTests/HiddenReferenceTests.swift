import GraphModel
import GraphStore
import GraphTesting
import Synchronization
import Testing

/// Stored references to objects that a user does not see must not decide, return or be counted, on any path. Ann edits
/// the first board.
@Suite struct HiddenReferenceTests {
  private let store: TestStore
  private let boards: [ObjectID]
  /// A note of the second board.
  private let hidden: ObjectID
  /// A note of the first board that refers to it.
  private let shown: ObjectID

  init() throws {
    store = try TestStore(try ScopedGraph.model())
    boards = [try store.insert("Board"), try store.insert("Board")]
    hidden = try store.insert("Note", ["board": .object(boards[1]), "text": .string("secret")])
    let tag = try store.insert("Tag")
    shown = try store.insert(
      "Note", ["board": .object(boards[0]), "next": .object(hidden), "tags": .objects([tag])])
  }

  private func ann<Result>(_ body: () throws -> Result) rethrows -> Result {
    try store.by("ann", [Grant(.editor, on: boards[0].key)], body)
  }

  private func refusal(_ result: WriteResult) -> Refusal? {
    if case .refused(let refusal) = result.outcome { refusal } else { nil }
  }

  private func condition(_ predicate: String, _ entity: String) throws -> GraphPredicate {
    try GraphPredicate(parsing: predicate, entity: try store.entity(entity), model: store.model)
  }

  // MARK: - Batches

  private func setX(_ predicate: String) throws -> Batch.Operation {
    .update(
      try condition(predicate, "Note"),
      [Batch.Assignment(try store.property("Note.x").number, .value(.integer(5)))])
  }

  /// The batch is one transaction, or is split into slices.
  @Test(arguments: [0, 7]) func batchDecidesByWhatTheUserSees(more: Int) throws {
    for _ in 0..<more {
      _ = try store.insert("Note", ["board": .object(boards[0]), "next": .object(hidden)])
    }
    let head = try store.store.head.revision
    for predicate in ["next != NULL", "next == '\(hidden)'", "tags.@count > 0"] {
      try ann { _ = try store.taken(try store.batch("Note", try setX(predicate))) }
      #expect(try store.store.head.revision == head, "\(predicate) selects nothing")
    }
    try ann { _ = try store.taken(try store.batch("Note", try setX("next == NULL AND tags.@count == 0"))) }
    #expect(try store.value(shown, "Note.x") == .integer(5) && store.value(hidden, "Note.x") == .integer(0))
    #expect(try store.all("Note", "x == 5").count == more + 1)
    try ann { _ = try store.taken(try store.batch("Note", .delete(try condition("next != NULL", "Note")))) }
    #expect(try store.all("Note").count == more + 2)
    // The reference to the board is seen with its note.
    let board = "board == '\(boards[0])'"
    try ann { _ = try store.taken(try store.batch("Note", .delete(try condition(board, "Note")))) }
    #expect(try store.all("Note").map(\.id) == [hidden])
  }

  private final class Progress: Sendable {
    let totals = Mutex([Int]())
  }

  @Test func progressOfARefusedDeleteCountsNothing() throws {
    for _ in 0..<9 {
      _ = try store.insert("Note", ["board": .object(boards[0]), "x": .integer(9), "owner": .string("bob")])
    }
    let progress = Progress()
    let board = try condition("title == ''", "Board")
    let refused = try ann {
      refusal(
        try store.batch("Board", .delete(board)) { part in
          progress.totals.withLock { $0 += [part.done, part.total, part.changed] }
        })
    }
    #expect(refused == AccessJudge.effectOnInvisible)
    #expect(progress.totals.withLock { $0.allSatisfy { $0 == 0 } })
  }

  /// Each note has a link of ann, and private ones of others, whose scope follows the note.
  @Test(arguments: [1, 7]) func batchCountsNoInvisibleObjectThatFollows(count: Int) throws {
    let source = Fixtures.teamSource.replacing(
      #"{"name": "Link", "scope": "from","#,
      with: #"{"name": "Link", "scope": "from", "access": {"read": "creator == $user"},"#
    ).replacing(#""derived": "notes.@count""#, with: #""default": 0"#)
    let store = try TestStore(try Model(parsing: source.utf8))
    let boards = [try store.insert("Board"), try store.insert("Board")]
    let target = try store.insert("Note", ["board": .object(boards[1])])
    for _ in 0..<count {
      let note = try store.insert("Note", ["board": .object(boards[0]), "text": .string("x")])
      for user in ["ann", "bob", "carol"] {
        _ = try store.by(user) { try store.insert("Link", ["from": .object(note), "to": .object(target)]) }
      }
    }
    let condition = try GraphPredicate(
      parsing: "text == 'x'", entity: try store.entity("Note"), model: store.model)
    let move = Batch.Assignment(try store.property("Note.board").number, .value(.object(boards[1])))
    let progress = Progress()
    try store.by("ann", boards.map { Grant(.editor, on: $0.key) }) {
      let result = try store.batch("Note", .update(condition, [move])) { part in
        progress.totals.withLock { $0 += [part.changed] }
      }
      try store.taken(result)
    }
    #expect(progress.totals.withLock { $0.last } == 2 * count)
  }

  // MARK: - Values of history

  @Test func undoAndRestoreNameNoInvisibleObject() throws {
    let before = try store.store.head.revision
    let other = try store.insert("Note", ["board": .object(boards[0])])
    try ann { _ = try store.must([try store.update(shown, "Note.next", .object(other))]) }
    #expect(try ann { refusal(try store.undo()) } == AccessJudge.effectOnInvisible)
    let restored = try ann {
      let request = RestoreRequest(store.nextID(), .object(shown), at: before)
      return try store.store.commit(
        [.restore(request, author: Principal(author: "ann"), rights: store.rights)], now: store.now)[0]
    }
    #expect(refusal(restored) == AccessJudge.effectOnInvisible)
    #expect(try store.value(shown, "Note.next") == .object(other))
  }

  /// Ann's note stays because an object that she does not see refers to it. She learns neither who has changed that one
  /// nor when.
  @Test(arguments: [false, true]) func undoNamesNoChangeOfAnInvisibleObject(isShown: Bool) throws {
    let note = try ann { try store.insert("Note", ["board": .object(boards[0])]) }
    let referrer = isShown ? shown : hidden
    try store.by("bob") { _ = try store.must([try store.update(referrer, "Note.next", .object(note))]) }
    let revision = try store.store.head.revision
    let conflicts = try #require(try ann { refusal(try store.undo()) }?.conflicts)
    #expect(conflicts.map(\.id) == [note] && conflicts[0].property != 0)
    #expect(conflicts[0].author == (isShown ? "bob" : "") && conflicts[0].revision == (isShown ? revision : 0))
  }

  /// The undo of a delete does not restore a reference to an object that another user has deleted since.
  @Test(arguments: [false, true]) func undoNamesNoDeleteOfAnInvisibleObject(isShown: Bool) throws {
    let target = isShown ? try store.insert("Note", ["board": .object(boards[0])]) : hidden
    let note = try store.insert("Note", ["board": .object(boards[0]), "next": .object(target)])
    try ann { _ = try store.must([Change(.delete, note)]) }
    try store.by("bob") { _ = try store.must([Change(.delete, target)]) }
    let result = try ann { try store.undo() }
    let conflicts =
      switch result.outcome {
      case .committed(let committed): committed.conflicts
      case .refused(let refusal): refusal.conflicts
      }
    #expect(conflicts.allSatisfy { $0.author == (isShown ? "bob" : "") && ($0.revision > 0) == isShown })
    #expect(conflicts.count == 1)
  }

  @Test func overwriteDoesNotReturnAnInvisibleReference() throws {
    let base = try store.store.head.revision
    let other = try store.insert("Note", ["board": .object(boards[0])])
    try store.by("bob") {
      let edits = [try store.edit("Note.next", .object(other)), try store.edit("Note.text", .string("bob"))]
      _ = try store.must([Change(.update, shown, base: base, edits: edits)])
    }
    let committed = try ann {
      try store.taken(
        try store.commit([try store.update(shown, "Note.text", .string("ann"), base: base)], policy: .overwrite))
    }
    #expect(!committed.conflicts.isEmpty && !"\(committed.conflicts)".contains("\(hidden)"))
    #expect(try store.value(shown, "Note.next") == .object(other))
    #expect(try store.value(shown, "Note.text") == .string("ann"))
  }

  /// For ann, the object was inserted with the move, so she can't have read an earlier state that she edits.
  @Test(arguments: MergePolicy.allCases) func editOfAStateBeforeAMoveReturnsNoEarlierValue(policy: MergePolicy) throws {
    let base = try store.store.head.revision
    try store.by("bob") {
      let edits = [
        try store.edit("Note.board", .object(boards[0])), try store.edit("Note.text", .string("cleared")),
        try store.edit("Note.x", .integer(1)),
      ]
      _ = try store.must([Change(.update, hidden, base: .max, edits: edits)])
    }
    let result = try ann {
      try store.commit([try store.update(hidden, "Note.x", .integer(2), base: base)], policy: policy)
    }
    let conflicts =
      switch result.outcome {
      case .committed(let committed): committed.conflicts
      case .refused(let refusal): refusal.conflicts
      }
    #expect(conflicts.map(\.kind) == [.deleted] && !"\(result.outcome)".contains("secret"))
    #expect(try store.value(hidden, "Note.text") == .string("cleared"))
    #expect(try store.value(hidden, "Note.x") == .integer(1))
  }

  @Test func originOfAMoveWithAnEditShowsNoEarlierValue() throws {
    let edits = [try store.edit("Note.board", .object(boards[0])), try store.edit("Note.text", .string("cleared"))]
    _ = try store.must([Change(.update, hidden, base: .max, edits: edits)])
    let rights = Rights(user: "ann", grants: [Grant(.reader, on: boards[0].key)])
    let visibility = Visibility(rights, model: store.model)
    for path in ["Note.text", "Note.board", "Note.x"] {
      let origin = try store.store.origin(of: try store.property(path).number, of: hidden, seenBy: visibility)
      #expect(origin.kind == .inserted && origin.replaced == .null, "\(path)")
      #expect(try origin.revision == store.store.head.revision, "\(path)")
    }
  }

  // MARK: - Lists

  private static let lists = """
    {"format": 1, "name": "Lists", "version": 1, "entities": [
      {"name": "Board", "scope": "self", "relationships": [
        {"name": "notes", "destination": "Note", "inverse": "board", "toMany": true, "ordered": true},
        {"name": "picks", "destination": "Note", "inverse": "pickedBy", "toMany": true, "ordered": true}]},
      {"name": "Note", "scope": "board",
       "attributes": [{"name": "isPrivate", "type": "bool", "default": false}],
       "access": {"read": "isPrivate == false"},
       "relationships": [
        {"name": "board", "destination": "Board", "inverse": "notes"},
        {"name": "pickedBy", "destination": "Board", "inverse": "picks", "toMany": true}]}]}
    """

  @Test func orderOfAListLeavesInvisibleMembersInPlace() throws {
    let store = try TestStore(try Model(parsing: Self.lists.utf8))
    let board = try store.insert("Board")
    let secret = try store.insert("Note", ["board": .object(board), "isPrivate": .bool(true)])
    let notes = try (0..<3).map { _ in try store.insert("Note", ["board": .object(board)]) }
    _ = try store.must([try store.update(board, "Board.picks", .objects([secret] + notes))])
    for order in [notes, Array(notes.reversed())] {
      try store.by("ann", [Grant(.editor, on: board.key)]) {
        for list in ["Board.notes", "Board.picks"] {
          _ = try store.must([try store.update(board, list, .objects(order))])
        }
      }
      #expect(try store.value(board, "Board.picks") == .objects([secret] + order))
      #expect(try store.all("Note", "isPrivate == FALSE", sort: "board.order").map(\.id) == order)
    }
  }
}
