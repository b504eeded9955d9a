import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Edits whose base was pruned: a change that can no longer be compared is a conflict, or is refused with a reason, and
/// never overwrites anything silently.
@Suite struct PrunedBaseTests {
  let store: TestStore
  let note: ObjectID
  let still: ObjectID

  /// A note inserted in revision 2 and changed in 3 by the first replica, another that stays unchanged (4), a tag (5,
  /// 6). Everything up to 5 is pruned; later edits are of the second replica.
  init() throws {
    store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    note = try store.insert("Note", ["board": .object(board), "text": .string("the cat")])
    try store.must([store.update(note, "Note.x", .double(3))])
    still = try store.insert("Note", ["board": .object(board), "text": .string("still")])
    _ = try store.insert("Tag", ["name": .string("a")])
    _ = try store.insert("Tag", ["name": .string("b")])
    try store.prune(through: 5)
    store.replica = UniqueID(high: 2, low: 2)
    store.author = "bob"
  }

  private func splice(_ base: Revision) throws -> Change {
    let text = try store.property("Note.text").number
    return Change(
      .update, note, base: base, edits: [Edit(text, .splice([TextSplice(offset: 0, length: 3, insertion: "a")]))])
  }

  @Test func valueWithPrunedBaseConflictsUnderErrorPolicy() throws {
    let refusal = try #require(try store.refusal([store.update(note, "Note.y", .double(5), base: 2)]))
    #expect(refusal.code == .conflict)
    let conflict = try #require(refusal.conflicts.first)
    #expect(conflict.property == (try store.property("Note.y").number))
    #expect(conflict.mine == .double(5))
    // The author is not kept; the time of the object's last change is.
    #expect(conflict.author.isEmpty && conflict.revision == 3)
  }

  @Test(arguments: [(MergePolicy.storeTrump, false), (.rollback, false), (.objectTrump, true)])
  func valueWithPrunedBaseIsDecidedByPolicy(policy: MergePolicy, wins: Bool) throws {
    let before = try store.value(note, "Note.y")
    let committed = try store.taken(
      store.commit([store.update(note, "Note.y", .double(5), base: 2)], policy: policy))
    #expect(committed.conflicts.map(\.mineWon) == [wins])
    #expect(try store.value(note, "Note.y") == (wins ? .double(5) : before))
    #expect(try store.value(note, "Note.x") == .double(3))
    try store.expectSound()
  }

  @Test func equalValueIsNoConflict() throws {
    let committed = try store.taken(store.commit([store.update(note, "Note.x", .double(3), base: 2)]))
    #expect(committed.conflicts.isEmpty)
  }

  @Test(arguments: MergePolicy.allCases) func textWithPrunedBaseIsRefused(policy: MergePolicy) throws {
    let refusal = try #require(try store.refusal([splice(2)], policy: policy))
    #expect(refusal.code == .pruned)
    #expect(refusal.message.contains("Note.text"))
    #expect(refusal.message.contains("read it again"))
    #expect(try store.value(note, "Note.text") == .string("the cat"))
    // Read again, it is an edit like any other.
    try store.must([splice(3)], policy: policy)
    #expect(try store.value(note, "Note.text") == .string("a cat"))
  }

  @Test func overwriteRequiresItsBase() throws {
    let change = try store.update(note, "Note.y", .double(5), base: 2)
    #expect(try store.refusal([change], policy: .overwrite)?.code == .pruned)
    #expect(try store.value(note, "Note.y") != .double(5))
  }

  @Test func unchangedPropertyIsEditedFromAnyBase() throws {
    try store.must([store.update(still, "Note.y", .double(5), base: 4)])
    // Changed again, all of it kept: the base is older than the floor, and what came since is known.
    store.replica = UniqueID(high: 3, low: 3)
    try store.must([store.update(still, "Note.x", .double(6), base: 4)])
    #expect(try store.refusal([store.update(still, "Note.y", .double(7), base: 4)])?.code == .conflict)
    #expect(try store.value(still, "Note.y") == .double(5))
    #expect(try store.value(still, "Note.x") == .double(6))
    try store.expectSound()
  }

  @Test func deleteOfPossiblyChangedObjectConflicts() throws {
    #expect(try store.refusal([Change(.delete, note, base: 2)])?.code == .conflict)
    let kept = try store.taken(store.commit([Change(.delete, note, base: 2)], policy: .storeTrump))
    #expect(kept.conflicts.map(\.mineWon) == [false])
    #expect(try store.image(note) != nil)
    let deleted = try store.taken(store.commit([Change(.delete, note, base: 2)], policy: .objectTrump))
    #expect(deleted.conflicts.map(\.mineWon) == [true])
    #expect(try store.image(note) == nil)
    try store.expectSound()
  }

  @Test func updateOfDeletedObjectIsDroppedAfterPruning() throws {
    try store.must([Change(.delete, note, base: .max)])
    let deletion = try store.store.head.revision
    _ = try store.insert("Tag", ["name": .string("c")])
    try store.prune(through: deletion)
    let committed = try store.taken(
      store.commit([store.update(note, "Note.y", .double(5), base: 3)], policy: .objectTrump))
    #expect(committed.conflicts.map(\.kind) == [.deleted])
    #expect(committed.conflicts.first?.revision == deletion)
    #expect(committed.conflicts.first?.author.isEmpty == true)
    #expect(try store.image(note) == nil)
    try store.expectSound()
  }

  @Test func takenKeyIsStillReported() throws {
    let refusal = try #require(try store.refusal([store.insertion("Tag", ["name": .string("a")])]))
    #expect(refusal.code == .unique)
    let committed = try store.taken(
      store.commit([store.insertion("Tag", ["name": .string("a")])], policy: .objectTrump))
    #expect(committed.identities.count == 1)
    #expect(try store.all("Tag").count == 2)
  }
}
