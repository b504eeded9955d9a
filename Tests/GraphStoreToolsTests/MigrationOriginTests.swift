import GraphModel
import GraphStore
import GraphTesting
import Testing

/// The origin of a value that a migration set.
@Suite struct MigrationOriginTests {
  /// The migration alone set these values; values that were kept, in any form, keep their origin.
  @Test func originOfMappedValueIsMigration() throws {
    let old = try ShopVersions.filled()
    try old.store.close()
    let model = try ShopVersions.model(ShopVersions.second)
    let report = try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    let item = try #require(try store.all("Article", sort: "number").dropFirst().first?.id)
    for name in ["active", "label"] {
      let origin = try store.store.origin(of: try store.property("Article.\(name)").number, of: item)
      #expect(origin.kind == .updated && origin.revision == report.revision, "\(name)")
      #expect(origin.author == "migration" && !origin.isReplacedKnown, "\(name)")
    }
    let title = try store.store.origin(of: try store.property("Article.title").number, of: item)
    #expect(title.revision == 9 && title.replaced == .string("item 1") && title.isReplacedKnown)
    // A number that was converted to a decimal keeps the author who wrote it.
    let number = try store.property("Article.price").number
    let written = try store.store.origin(of: number, of: item)
    #expect(written.kind == .inserted && written.author == "ann" && written.value == .decimal(1))
    let size = try store.store.origin(of: try store.property("Article.size").number, of: item)
    #expect(size.kind == .inserted && size.revision < 9)
    // An object that was deleted before the migration did not get the value.
    let price = try store.property("Article.price")
    let gone = try #require(
      try store.store.commits(after: 9, through: 10, maximumChanges: 10).first?.changes.first?.before?.id)
    let deleted = try store.store.origin(of: price.number, of: gone)
    #expect(deleted.kind == .inserted && deleted.deletion == 10)
    #expect(deleted.value == .decimal(4))
    // Another change is reported as usual, with the value that it replaced.
    try store.must([try store.update(item, "Article.price", .decimal(7))])
    let changed = try store.store.origin(of: price.number, of: item)
    #expect(changed.revision == report.revision + 1 && changed.replaced == .decimal(1))
  }

  /// A change before the migration is reported in the present form, with the value that it replaced.
  @Test func originOfConvertedValuePrecedesMigration() throws {
    let old = try ShopVersions.filled()
    let item = try #require(try old.all("Item", sort: "number").first?.id)
    old.author = "bob"
    // More changes than one mark covers, so that the walk uses the marks.
    try old.must([try old.update(item, "Item.price", .integer(41))])
    try old.must([try old.update(item, "Item.price", .integer(42))])
    let revision = try old.store.head.revision
    old.author = "ann"
    for number in 0..<150 { try old.must([try old.update(item, "Item.origin", .string("farm \(number)"))]) }
    try old.store.close()
    let model = try ShopVersions.model(ShopVersions.second)
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    let present = ObjectID(key: item.key, entity: try store.entity("Article").number)
    let origin = try store.store.origin(of: try store.property("Article.price").number, of: present)
    #expect(origin.revision == revision && origin.author == "bob" && origin.kind == .updated)
    #expect(origin.value == .decimal(42) && origin.replaced == .decimal(41))
  }
}
