import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Who gave a property its value, when that was a migration.
@Suite struct MigrationWhyTests {
  /// Nobody but the migration gave these their values; what kept its column keeps its story.
  @Test func whyNamesTheMigrationForWhatItMade() throws {
    let old = try MigrationTests.filled()
    try old.store.close()
    let model = try MigrationTests.model(MigrationTests.second)
    let report = try MigrationTests.migrate(old.directory, to: [model])
    let store = try MigrationTests.opened(model, old.directory)
    let item = try #require(try store.all("Article", sort: "number").dropFirst().first?.id)
    for name in ["active", "label", "price"] {
      let origin = try store.store.origin(of: try store.property("Article.\(name)").number, of: item)
      #expect(origin.kind == .updated && origin.revision == report.revision, "\(name)")
      #expect(origin.author == "migration" && origin.replaced == .null, "\(name)")
    }
    let title = try store.store.origin(of: try store.property("Article.title").number, of: item)
    #expect(title.revision == 9 && title.replaced == .string("item 1"))
    let size = try store.store.origin(of: try store.property("Article.size").number, of: item)
    #expect(size.kind == .inserted && size.revision < 9)
    // One that was gone by then did not get anything of it.
    let price = try store.property("Article.price")
    let gone = try #require(
      try store.store.commits(after: 9, through: 10, maximumChanges: 10).first?.changes.first?.before?.id)
    let deleted = try store.store.origin(of: price.number, of: gone)
    #expect(deleted.kind == .inserted && deleted.deletion == 10)
    // Another change is told as always, and what it replaced.
    try store.must([try store.update(item, "Article.price", .decimal(7))])
    let changed = try store.store.origin(of: price.number, of: item)
    #expect(changed.revision == report.revision + 1 && changed.replaced == .decimal(1))
  }
}
