import GraphModel
import GraphTesting
import Testing

/// The base revision of a change: an impossible one is a mistake, not a conflict.
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

  @Test(arguments: MergePolicy.allCases)
  func baseBeforeInsertIsRefused(policy: MergePolicy) throws {
    for change in [
      try store.update(note, "Note.x", .double(9), base: 1), try store.update(note, "Note.x", .double(9), base: 2),
      Change(.delete, note, base: 2),
    ] {
      let refusal = try store.refusal([change], policy: policy)
      #expect(refusal?.code == .malformed)
      #expect(
        refusal?.message
          == "the Note \(note) was created in revision 3; it did not exist at revision \(change.base)")
      #expect(refusal?.conflicts.isEmpty == true)
    }
    #expect(try store.value(note, "Note.x") == .double(5))
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
    let update = try store.update(note, "Note.x", .double(9), base: base)
    let conflicts: [Conflict]
    switch try store.commit([update], policy: policy).outcome {
    case .refused(let refusal): conflicts = refusal.conflicts
    case .committed(let committed): conflicts = committed.conflicts
    }
    #expect(conflicts.map(\.kind) == [.deleted])
    #expect(conflicts.map(\.author) == ["bob"])
    #expect(try store.value(note, "Note.x") == .double(5))
  }
}
