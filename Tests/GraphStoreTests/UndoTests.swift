import GraphModel
import GraphTesting
import Testing

/// The step that undo and redo select: groups, scopes, names, and the events that end a redo.
@Suite struct UndoTests {
  let store: TestStore
  let note: ObjectID

  init() throws {
    store = try TestStore(try Fixtures.stickies())
    store.author = "zoe"
    let board = try store.insert("Board", ["name": .string("B")])
    note = try store.insert("Note", ["board": .object(board), "text": .string("one")])
    store.author = "ann"
  }

  func move(_ x: Double, _ group: UndoGroup? = nil) throws {
    try store.must([store.update(note, "Note.x", .double(x))], undo: group)
  }

  func x() throws -> Value { try store.value(note, "Note.x") }

  // MARK: - Groups

  @Test func commitsOfGroupAreUndoneTogether() throws {
    try move(1)
    try move(2, .test(1, "Drag"))
    try store.must([store.update(note, "Note.y", .double(5))], undo: .test(1, "Drag"))
    try move(3, .test(1, "Drag"))
    let record = try #require(try store.undo(scope: .test).record)
    #expect(try x() == .double(1))
    #expect(try store.value(note, "Note.y") == .double(0))
    #expect(record.undoes == 6)
    #expect(record.redoes == nil)
    #expect(record.undo == .test(1, "Drag"))
    #expect(record.changes.count == 1)
    let again = try #require(try store.redo(scope: .test).record)
    #expect(try x() == .double(3))
    #expect(try store.value(note, "Note.y") == .double(5))
    #expect(again.undoes == 7)
    #expect(again.redoes == 6)
    #expect(again.undo == .test(1, "Drag"))
    #expect(try store.store.commits(after: 6, through: nil, maximumChanges: 100) == [record, again])
    try store.expectSound()
  }

  @Test func commitsOfOthersDoNotEndGroup() throws {
    try move(2, .test(1))
    try store.by("bob") { try store.must([store.update(note, "Note.y", .double(9))]) }
    try store.must([store.update(note, "Note.color", .string("pink"))], undo: .test(1))
    try store.taken(store.undo())
    #expect(try x() == .double(0))
    #expect(try store.value(note, "Note.color") == .string("yellow"))
    #expect(try store.value(note, "Note.y") == .double(9))
  }

  @Test func interveningStepOfSameScopeEndsGroup() throws {
    try move(1, .test(1))
    try move(2, .test(2))
    try move(3, .test(1))
    for expected in [2.0, 1, 0] {
      try store.taken(store.undo(scope: .test))
      #expect(try x() == .double(expected))
    }
    #expect(try store.refused(store.undo(scope: .test)).code == .notFound)
  }

  @Test func undoEndsGroup() throws {
    try move(1, .test(1))
    try store.taken(store.undo())
    try move(2, .test(1))
    try store.taken(store.undo())
    #expect(try x() == .double(0))
    #expect(try store.state().undo == nil)
  }

  @Test func commitsWithoutGroupAreSingleSteps() throws {
    try move(1)
    try move(2)
    try store.taken(store.undo())
    #expect(try x() == .double(1))
    try store.taken(store.undo())
    #expect(try x() == .double(0))
    #expect(try store.refused(store.undo()).message == "ann has nothing to undo")
    #expect(try store.refused(store.undo(scope: .test)).code == .notFound)
  }

  @Test func emptySaveIsNoStep() throws {
    try move(1)
    try move(1)
    try store.taken(store.undo())
    #expect(try x() == .double(0))
    try store.must([store.update(note, "Note.x", .double(0))])
    try store.taken(store.redo())
    #expect(try x() == .double(1))
  }

  @Test func emptySaveReturnsStepOfItsGroup() throws {
    try move(1, .test(1))
    try move(1, .test(1))
    let record = try #require(try store.undo(4).record)
    #expect(record.undoes == 3)
    #expect(try x() == .double(0))
    // The whole step is undone, for the revision of any of its commits.
    #expect(try store.state().undo == nil)
    #expect(try store.state().redo?.newest == 3)
    #expect(try store.refused(store.undo(4)).code == .conflict)
  }

  // MARK: - Scopes

  @Test func scopesHaveSeparateStacks() throws {
    try move(1, .test(1))
    try store.must([store.update(note, "Note.y", .double(2))], undo: .test(1, scope: .other))
    try store.must([store.update(note, "Note.z", .double(3))])
    try store.taken(store.undo(scope: .test))
    #expect(try x() == .double(0))
    try store.taken(store.undo(scope: .zero))
    #expect(try store.value(note, "Note.z") == .double(0))
    #expect(try store.value(note, "Note.y") == .double(2))
    // An edit of one scope takes nothing from the redo of another.
    try store.must([store.update(note, "Note.y", .double(4))], undo: .test(2, scope: .other))
    try store.taken(store.redo(scope: .test))
    #expect(try x() == .double(1))
    // All scopes together are one stack.
    #expect(try store.refused(store.redo()).code == .notFound)
    try store.taken(store.undo())
    #expect(try x() == .double(0))
    try store.taken(store.undo())
    #expect(try store.value(note, "Note.y") == .double(2))
  }

  @Test func authorUndoesOnlyOwnSteps() throws {
    try move(1, .test(1))
    let refusals = try store.by("bob") {
      try [store.refused(store.undo(scope: .test)), store.refused(store.undo(3))]
    }
    #expect(refusals[0].message == "bob has nothing to undo")
    #expect(refusals[1].code == .notAllowed)
    #expect(try store.by("nobody") { try store.state() } == UndoState())
  }

  @Test func authorNamesAreComparedByBytes() throws {
    let (one, two) = ("ren\u{E9}", "rene\u{301}")
    try store.by(one) { try move(5) }
    try store.by(two) {
      #expect(try store.refused(store.undo(3)).code == .notAllowed)
      #expect(try store.refused(store.undo()).code == .notFound)
      try move(7)
      try move(5)
    }
    let refusal = try store.by(one) { try store.refused(store.undo()) }
    #expect(refusal.conflicts.map { Array($0.author.utf8) } == [Array(two.utf8)])
    #expect(try x() == .double(5))
    try store.expectSound()
  }

  // MARK: - Redo

  @Test func undoAndRedoAlternateAcrossRestarts() throws {
    try move(1, .test(1))
    try move(2, .test(2))
    for _ in 0..<4 {
      try store.taken(store.undo())
      #expect(try x() == .double(1))
      try store.reopen()
      try store.taken(store.undo())
      #expect(try x() == .double(0))
      #expect(try store.refused(store.undo()).code == .notFound)
      try store.taken(store.redo())
      #expect(try x() == .double(1))
      try store.reopen()
      try store.taken(store.redo())
      #expect(try x() == .double(2))
      #expect(try store.refused(store.redo()).message == "ann has nothing to redo")
    }
    try store.expectSound()
  }

  @Test func newEditEndsRedo() throws {
    try move(1, .test(1))
    try move(2, .test(2))
    try store.taken(store.undo())
    try move(7, .test(3))
    #expect(try store.refused(store.redo(scope: .test)).code == .notFound)
    // A step undone after the new edit can be redone, earlier ones can't.
    try store.taken(store.undo())
    try store.taken(store.redo())
    #expect(try x() == .double(7))
    #expect(try store.refused(store.redo()).code == .notFound)
    try store.taken(store.undo())
    try store.taken(store.undo())
    #expect(try x() == .double(0))
  }

  @Test func editsOfOthersDoNotEndRedo() throws {
    try move(1)
    try store.taken(store.undo())
    try store.by("bob") { try store.must([store.update(note, "Note.y", .double(9))]) }
    try store.taken(store.redo())
    #expect(try x() == .double(1))
  }

  // MARK: - By revision

  @Test func everyCommitOfStepIdentifiesIt() throws {
    try move(1, .test(1))
    try store.must([store.update(note, "Note.y", .double(1))], undo: .test(1))
    try store.must([store.update(note, "Note.z", .double(1))], undo: .test(2))
    try store.taken(store.undo(3))
    #expect(try x() == .double(0))
    #expect(try store.value(note, "Note.y") == .double(0))
    #expect(try store.value(note, "Note.z") == .double(1))
    #expect(try store.refused(store.undo(4)).message == "revision 4 is undone already")
    try store.taken(store.undo())
    #expect(try store.value(note, "Note.z") == .double(0))
    try store.taken(store.redo(4))
    #expect(try x() == .double(1))
    #expect(try store.refused(store.redo(4)).message == "revision 4 is not undone")
    #expect(try store.refused(store.undo(4_711)).code == .notFound)
  }

  @Test func undoOfUndoIsRedo() throws {
    try move(1)
    try move(2)
    try store.taken(store.undo())
    let undo = try store.store.head.revision
    let record = try #require(try store.undo(undo).record)
    #expect(try x() == .double(2))
    #expect(record.redoes == 4)
    #expect(try store.refused(store.undo(undo)).message == "revision \(undo) is undone already")
    try store.taken(store.undo())
    #expect(try x() == .double(1))
    try store.taken(store.undo())
    #expect(try x() == .double(0))
    #expect(try store.refused(store.undo()).code == .notFound)
    try store.taken(store.redo())
    try store.taken(store.redo())
    #expect(try x() == .double(2))
  }

  @Test func undoOfRedoUndoesTheStep() throws {
    try move(1)
    try store.taken(store.undo())
    try store.taken(store.redo())
    try store.taken(store.undo(try store.store.head.revision))
    #expect(try x() == .double(0))
    #expect(try store.refused(store.undo()).code == .notFound)
    try store.taken(store.redo())
    #expect(try x() == .double(1))
  }

  @Test func resentUndoIsAppliedOnce() throws {
    try move(1)
    try move(2)
    let request = WriteRequest.undo(UndoRequest(store.nextID()), author: "ann")
    let results = try [request, request].map { try store.store.commit([$0], now: 1)[0] }
    #expect(results[0].outcome == results[1].outcome)
    #expect(results[1].record == nil)
    #expect(try x() == .double(1))
  }

  @Test func undosOfOneGroupCommitAreSequential() throws {
    try move(1)
    try move(2)
    let batch = (0..<3).map { _ in WriteRequest.undo(UndoRequest(store.nextID()), author: "ann") }
    let results = try store.store.commit(batch, now: 1)
    #expect(results.map { $0.record?.undoes } == [4, 3, nil])
    #expect(try x() == .double(0))
  }

  // MARK: - Names

  @Test func undoStateNamesNextSteps() throws {
    #expect(try store.state(.test) == UndoState())
    try move(1, .test(1, "Move"))
    try move(2, .test(1, "Move"))
    try store.must([store.update(note, "Note.color", .string("pink"))], undo: .test(2, "Color"))
    let move = UndoStep(group: .test(1, "Move"), oldest: 3, newest: 4, count: 2)
    let color = UndoStep(group: .test(2, "Color"), oldest: 5, newest: 5, count: 1)
    #expect(try store.state(.test) == UndoState(undo: color))
    try store.taken(store.undo())
    #expect(try store.state(.test) == UndoState(undo: move, redo: color))
    try store.taken(store.undo())
    #expect(try store.state(.test) == UndoState(redo: move))
    #expect(try store.state(.test).redo?.name == "Move")
    try store.taken(store.redo())
    #expect(try store.state() == UndoState(undo: move, redo: color))
    #expect(try store.state(.other) == UndoState())
    try self.move(9)
    #expect(try store.state(.test) == UndoState(undo: move, redo: color))
    #expect(try store.state() == UndoState(undo: UndoStep(group: nil, oldest: 9, newest: 9, count: 1)))
  }
}

extension UniqueID {
  static let test = UniqueID(high: 8, low: 1)
  static let other = UniqueID(high: 8, low: 2)
}

extension UndoGroup {
  static func test(_ group: UInt64, _ name: String = "", scope: UniqueID = .test) -> UndoGroup {
    UndoGroup(scope: scope, group: group, name: name)
  }
}

extension TestStore {
  func state(_ scope: UniqueID? = nil) throws -> UndoState { try store.undoState(of: author, scope: scope) }

  /// Requires that the result is a refusal.
  func refused(_ result: WriteResult) throws -> Refusal {
    guard case .refused(let refusal) = result.outcome else { throw UnexpectedCommit() }
    return refusal
  }

  struct UnexpectedCommit: Error {}

  func expectSound(_ location: SourceLocation = #_sourceLocation) throws {
    #expect(try StoreCheckRun(self).findings.isEmpty, sourceLocation: location)
    if let differences = try redoDifferences() { #expect(differences == [], sourceLocation: location) }
  }
}
