import GraphModel
import GraphTesting
import Testing

/// The base revision of a change. One at which the object can't have been read is of a past that the store has lost.
@Suite struct BaseRevisionTests {
  private let store: TestStore
  private let board: ObjectID
  /// Ann's object, inserted in revision 3; Bob changes it in revision 4.
  private let note: ObjectID

  init() throws {
    store = try TestStore(try Fixtures.stickies())
    store.author = "ann"
    board = try store.insert("Board", ["name": .string("B")])
    _ = try store.insert("Tag", ["name": .string("t")])
    note = try store.insert("Note", ["board": .object(board)])
    store.author = "bob"
    store.replica = UniqueID(high: 2, low: 2)
    try store.must([store.update(note, "Note.x", .double(5))])
  }

  /// The conflicts of a change, whether they refuse it or the policy decides them.
  private func conflicts(with change: Change, _ policy: MergePolicy) throws -> [Conflict] {
    switch try store.commit([change], policy: policy).outcome {
    case .refused(let refusal):
      #expect(refusal.code == .conflict)
      return refusal.conflicts
    case .committed(let committed): return committed.conflicts
    }
  }

  /// After a restore, a client compares with all that the present past has, and so states the first revision.
  @Test(arguments: MergePolicy.allCases, [1, 2] as [Revision])
  func baseBeforeInsertIsComparedWithAllLaterChanges(policy: MergePolicy, base: Revision) throws {
    (store.author, store.replica) = ("cid", UniqueID(high: 3, low: 3))
    let wins = policy == .objectTrump || policy == .overwrite
    #expect(
      try conflicts(with: store.update(note, "Note.x", .double(9), base: base), policy) == [
        Conflict(
          kind: .changed, id: note, property: try store.property("Note.x").number, mine: .double(9),
          theirs: .double(5), author: "bob", revision: 4, mineWon: wins)
      ])
    #expect(try store.value(note, "Note.x") == .double(wins ? 9 : 5))
  }

  /// Every reader of the object has seen the values of its insert, or later ones.
  @Test(arguments: MergePolicy.allCases, [1, 2] as [Revision])
  func valueOfTheInsertIsNoConflict(policy: MergePolicy, base: Revision) throws {
    (store.author, store.replica) = ("cid", UniqueID(high: 3, low: 3))
    guard
      case .committed(let committed) = try store.commit(
        [store.update(note, "Note.y", .double(9), base: base)], policy: policy
      ).outcome
    else {
      Issue.record("the edit is refused")
      return
    }
    #expect(committed.conflicts.isEmpty)
    #expect(try store.value(note, "Note.y") == .double(9) && store.value(note, "Note.x") == .double(5))
  }

  /// The offsets refer to a text of the lost past.
  @Test(arguments: MergePolicy.allCases)
  func splicesWithBaseBeforeInsertAreRefused(policy: MergePolicy) throws {
    (store.author, store.replica) = ("cid", UniqueID(high: 3, low: 3))
    let text = try store.property("Note.text").number
    let splice = Edit(text, .splice([TextSplice(offset: 0, length: 0, insertion: "x")]))
    let change = Change(.update, note, base: 1, edits: [splice])
    #expect(try store.refusal([change], policy: policy)?.code == .pruned)
    #expect(try store.refusal([Change(.update, note, base: 4, edits: [splice])], policy: policy) == nil)
  }

  /// The author has seen no state of this past that could be restored.
  @Test func overwriteWithBaseBeforeInsertKeepsOtherProperties() throws {
    try store.must([store.update(note, "Note.y", .double(2))])
    (store.author, store.replica) = ("cid", UniqueID(high: 3, low: 3))
    let conflicts = try conflicts(with: store.update(note, "Note.x", .double(9), base: 1), .overwrite)
    #expect(conflicts.map(\.property) == [try store.property("Note.x").number])
    #expect(try store.value(note, "Note.x") == .double(9) && store.value(note, "Note.y") == .double(2))
  }

  @Test(arguments: MergePolicy.allCases)
  func deleteWithBaseBeforeInsertConflicts(policy: MergePolicy) throws {
    let board = try store.insert("Board", ["name": .string("C")])
    let created = try store.store.head.revision
    (store.author, store.replica) = ("cid", UniqueID(high: 3, low: 3))
    let conflicts = try conflicts(with: Change(.delete, board, base: 1), policy)
    #expect(conflicts.map(\.kind) == [.changed] && conflicts.map(\.revision) == [created])
    let isDeleted = try store.image(board) == nil
    #expect(isDeleted == (policy == .objectTrump || policy == .overwrite))
  }

  @Test func ownReplicaMayUseBaseBeforeInsert() throws {
    let tag = try store.insert("Tag", ["name": .string("mine")])
    try store.must([store.update(tag, "Tag.name", .string("still mine"), base: 1)])
    #expect(try store.value(tag, "Tag.name") == .string("still mine"))
  }

  /// A client that has read a revision which its restored store no longer has.
  @Test(arguments: MergePolicy.allCases)
  func futureBaseMeansPresentState(policy: MergePolicy) throws {
    let head = try store.store.head.revision
    for (offset, base) in [head + 1, 9_999, .max].enumerated() {
      let value = Value.double(Double(10 + offset))
      #expect(try store.refusal([store.update(note, "Note.x", value, base: base)], policy: policy) == nil)
      #expect(try store.value(note, "Note.x") == value)
    }
  }

  @Test(arguments: MergePolicy.allCases)
  func revivedObjectStillConflictsWithEarlierRead(policy: MergePolicy) throws {
    let base = try store.store.head.revision
    try store.must([Change(.delete, note)])
    guard case .committed = try store.undo().outcome else {
      Issue.record("the undo is refused")
      return
    }
    store.author = "ann"
    store.replica = UniqueID(high: 3, low: 3)
    let conflicts = try conflicts(with: store.update(note, "Note.x", .double(9), base: base), policy)
    #expect(conflicts.map(\.kind) == [.deleted])
    #expect(conflicts.map(\.author) == ["bob"])
    #expect(try store.value(note, "Note.x") == .double(5))
  }
}
