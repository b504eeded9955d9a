import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Restored values from before an enumeration lost a case.
@Suite struct NarrowedRestoreTests {
  /// Five items of which one is deleted; the others have gone from small to large, so that small can go.
  private func narrowed() throws -> (store: TestStore, deleted: ObjectID, changed: ObjectID, before: Revision) {
    let old = try ShopVersions.filled()
    let deleted = try #require(
      try old.store.commits(after: 9, through: 10, maximumChanges: 10).first?.changes.first?.id)
    #expect(try old.image(deleted) == nil)
    let before = try old.store.head.revision
    let items = try old.all("Item", sort: "number").map(\.id)
    for id in items { try old.must([try old.update(id, "Item.size", .string("large"))]) }
    try old.store.close()
    let model = try ShopVersions.model(
      ShopVersions.first.replacing(#""version": 1"#, with: #""version": 2"#)
        .replacing(#""cases": ["small", "large"]"#, with: #""cases": ["large", "huge"]"#)
        .replacing(#""default": "small""#, with: #""default": "huge""#))
    try ShopVersions.migrate(old.directory, to: [model])
    return (try ShopVersions.opened(model, old.directory), deleted, items[0], before)
  }

  @Test func objectWithRemovedCaseIsRestoredWithDefault() throws {
    let (store, deleted, _, _) = try narrowed()
    let committed = try store.taken(store.restore(.object(deleted)))
    let size = try store.property("Item.size").number
    #expect(
      committed.conflicts == [
        Conflict(
          kind: .changed, id: deleted, property: size, mine: .string("small"), theirs: .string("huge"))
      ])
    #expect(try store.value(deleted, "Item.size") == .string("huge"))
    #expect(try store.value(deleted, "Item.name") == .string("item 4"))
    try store.expectSound()
  }

  @Test func propertyWithRemovedCaseIsRestoredToDefault() throws {
    let (store, _, changed, before) = try narrowed()
    let committed = try store.taken(store.restore(.object(changed), at: before))
    #expect(committed.conflicts.map(\.mine) == [.string("small")])
    #expect(try store.value(changed, "Item.size") == .string("huge"))
    try store.expectSound()
  }
}
