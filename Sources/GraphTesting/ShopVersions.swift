import GraphModel
import GraphStoreTools

/// Two versions of a model, a store of the first one, and its migration.
public enum ShopVersions {
  /// The first version.
  public static let first = """
    {"format": 1, "name": "Shop", "version": 1, "enumerations": [{"name": "Size", "cases": ["small", "large"]}],
     "entities": [
      {"name": "Item", "attributes": [
        {"name": "name", "type": "string"}, {"name": "price", "type": "integer", "default": 1, "indexed": true},
        {"name": "size", "type": "enumeration", "enumeration": "Size", "default": "small"},
        {"name": "text", "type": "text", "default": "", "fullText": true},
        {"name": "number", "type": "integer", "assigned": "sequence"},
        {"name": "origin", "type": "string", "optional": true}],
       "relationships": [
        {"name": "shop", "destination": "Shop", "inverse": "items"},
        {"name": "tags", "destination": "Tag", "inverse": "items", "toMany": true}],
       "unique": [["number"]]},
      {"name": "Shop", "attributes": [{"name": "title", "type": "string"}],
       "relationships": [{"name": "items", "destination": "Item", "inverse": "shop", "toMany": true}]},
      {"name": "Tag", "attributes": [{"name": "label", "type": "string"}],
       "relationships": [{"name": "items", "destination": "Item", "inverse": "tags", "toMany": true}]},
      {"name": "Waste", "attributes": [{"name": "weight", "type": "integer", "default": 0}]}]}
    """

  /// Something of everything: names that come before all others, renamings, other types, an order, a count, a key.
  public static let second = """
    {"format": 1, "name": "Shop", "version": 2,
     "enumerations": [{"name": "Size", "cases": ["large", "medium", "small"]}],
     "mapping": {"Article.label": "concat(name, '-', ifNull(origin, '?'))"},
     "entities": [
      {"name": "Account", "attributes": [{"name": "balance", "type": "integer", "default": 0}]},
      {"name": "Article", "renamed": "Item", "attributes": [
        {"name": "active", "type": "bool", "default": true}, {"name": "label", "type": "string"},
        {"name": "title", "renamed": "name", "type": "string"},
        {"name": "price", "type": "decimal", "default": 1, "indexed": true},
        {"name": "size", "type": "enumeration", "enumeration": "Size", "default": "small"},
        {"name": "text", "type": "text", "default": "", "fullText": true},
        {"name": "number", "type": "integer", "assigned": "sequence"}],
       "relationships": [
        {"name": "shop", "destination": "Shop", "inverse": "articles"},
        {"name": "labels", "renamed": "tags", "destination": "Tag", "inverse": "items", "toMany": true}],
       "unique": [["number"], ["title"]]},
      {"name": "Shop", "attributes": [
        {"name": "title", "type": "string", "fullText": true},
        {"name": "count", "type": "integer", "derived": "articles.@count"}],
       "relationships": [
        {"name": "articles", "renamed": "items", "destination": "Article", "inverse": "shop", "toMany": true,
         "ordered": true}]},
      {"name": "Tag", "attributes": [{"name": "label", "type": "string"}],
       "relationships": [{"name": "items", "destination": "Article", "inverse": "labels", "toMany": true}]}]}
    """

  /// Loads one of the versions.
  public static func model(_ source: String) throws -> Model { try Model(parsing: source.utf8) }

  /// Creates a shop with five items, one of them deleted, one changed, one with a tag; twelve commits.
  public static func filled(in directory: TemporaryDirectory? = nil) throws -> TestStore {
    let store = try TestStore(try model(first), directory: directory)
    let shop = try store.insert("Shop", ["title": .string("corner shop")])
    let tag = try store.insert("Tag", ["label": .string("fresh")])
    var items = [ObjectID]()
    for number in 0..<5 {
      items.append(
        try store.insert(
          "Item",
          [
            "name": .string("item \(number)"), "price": .integer(Int64(number)),
            "text": .string("some words \(number)"),
            "origin": number == 2 ? .null : .string("farm \(number)"), "shop": .object(shop),
          ]))
    }
    let tags = try store.property("Item.tags").number
    try store.must([
      Change(.update, items[0], base: .max, edits: [Edit(tags, .members(added: [tag], removed: []))])
    ])
    try store.must([try store.update(items[1], "Item.name", .string("renamed"))])
    try store.must([Change(.delete, items[4], base: .max)])
    _ = try store.insert("Waste")
    return store
  }

  /// Migrates a closed store.
  @discardableResult
  public static func migrate(
    _ directory: TemporaryDirectory, to models: [Model],
    progress: @escaping @Sendable (String, Double) throws -> Void = { _, _ in }
  ) throws -> MigrationReport {
    var options = StoreMigration.Options()
    options.progress = progress
    return try StoreMigration(
      directory: directory.path, models: models, now: 1_800_000_000_000_000, options: options
    ).run()
  }

  /// Opens a migrated store.
  public static func opened(_ model: Model, _ directory: TemporaryDirectory) throws -> TestStore {
    let store = try TestStore(model, directory: directory)
    // Its transactions are new ones.
    store.replica = UniqueID(high: 7, low: UInt64(model.version))
    store.now = 1_900_000_000_000_000
    return store
  }
}
