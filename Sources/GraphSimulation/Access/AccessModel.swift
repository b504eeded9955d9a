import GraphModel

/// The model of the runs with accounts: scopes over one and two steps, references across scopes, an entity without a
/// scope, unique keys that invisible objects may have, and rules for reading and writing.
///
/// In half of the runs no rule for reading names `$user`, so that users share visibility classes. `NaiveAccess` states
/// the rules a second time.
struct AccessModel {
  let model: Model
  /// Whether items from `hiddenFrom` on are visible to their creators.
  let readsUser: Bool

  /// An item with at least this value of `x` is hidden.
  static let hiddenFrom: Int64 = 8
  /// An item with this value of `x` can't be deleted.
  static let kept: Int64 = 5

  init(seed: UInt64) throws {
    readsUser = seed % 2 == 0
    model = try Model(parsing: Self.source(readsUser: readsUser).utf8)
  }

  private static func source(readsUser: Bool) -> String {
    let read = readsUser ? "x < \(hiddenFrom) OR creator == $user" : "x < \(hiddenFrom)"
    return """
      {"format": 1, "name": "Access", "version": 1, "entities": [
        {"name": "Folder", "scope": "self",
         "attributes": [
          {"name": "title", "type": "string", "default": ""}, {"name": "rank", "type": "integer", "default": 0}],
         "relationships": [
          {"name": "items", "destination": "Item", "inverse": "folder", "toMany": true, "deleteRule": "cascade"}]},
        {"name": "Item", "scope": "folder",
         "attributes": [
          {"name": "text", "type": "string", "default": "", "fullText": true},
          {"name": "x", "type": "integer", "default": 0, "indexed": true},
          {"name": "code", "type": "string", "optional": true},
          {"name": "creator", "type": "string", "assigned": "creator"}],
         "relationships": [
          {"name": "folder", "destination": "Folder", "inverse": "items"},
          {"name": "next", "destination": "Item", "inverse": "previous"},
          {"name": "previous", "destination": "Item", "inverse": "next", "toMany": true},
          {"name": "tags", "destination": "Tag", "inverse": "items", "toMany": true},
          {"name": "remarks", "destination": "Remark", "inverse": "item", "toMany": true, "deleteRule": "cascade"}],
         "unique": [["code"]],
         "access": {
          "read": "\(read)", "delete": "x != \(kept)", "properties": {"code": "creator == $user"}}},
        {"name": "Remark", "scope": "item",
         "attributes": [
          {"name": "body", "type": "string", "default": ""}, {"name": "y", "type": "integer", "default": 0}],
         "relationships": [{"name": "item", "destination": "Item", "inverse": "remarks"}]},
        {"name": "Tag",
         "attributes": [
          {"name": "name", "type": "string"}, {"name": "isOpen", "type": "bool", "default": true}],
         "relationships": [{"name": "items", "destination": "Item", "inverse": "tags", "toMany": true}],
         "unique": [["name"]],
         "access": {"read": "isOpen == true OR $role == 'owner'"}}]}
      """
  }

  // MARK: - Names

  func entity(_ name: String) -> Entity {
    guard let entity = model.entity(named: name) else { preconditionFailure("the model has the entity \(name)") }
    return entity
  }

  func property(_ entity: String, _ name: String) -> Property {
    guard let property = self.entity(entity).property(named: name) else {
      preconditionFailure("\(entity) has the property \(name)")
    }
    return property
  }

  func value(_ image: ObjectImage, _ name: String) -> Value {
    guard let property = model.entity(image.id.entity)?.property(named: name) else {
      preconditionFailure("the object has the property \(name)")
    }
    return image[property]
  }

  func isA(_ id: ObjectID, _ name: String) -> Bool { id.entity == entity(name).number }

  func predicate(_ text: String, of entity: Entity) -> GraphPredicate {
    if text.isEmpty { return .always }
    do {
      return try GraphPredicate(parsing: text, entity: entity, model: model)
    } catch {
      preconditionFailure("\(text) can't be read: \(error)")
    }
  }

  func sort(_ text: String, of entity: Entity) -> [SortKey] {
    if text.isEmpty { return [] }
    do {
      return try [SortKey](parsing: text, entity: entity, model: model)
    } catch {
      preconditionFailure("the order \(text) can't be read: \(error)")
    }
  }

  // MARK: - Queries

  /// Entities and predicates of queries: over values of the object, over references to objects that may be hidden, and
  /// along paths.
  static let queries: [(entity: String, predicate: String)] = [
    ("Item", ""), ("Folder", ""), ("Remark", ""), ("Tag", ""),
    ("Item", "x > 3"), ("Item", "x BETWEEN {2, 9}"), ("Item", "text SEARCH \"sea\""), ("Item", "NOT (x == 4)"),
    ("Item", "text CONTAINS \"a\" AND x < 9"), ("Item", "code == NULL"), ("Remark", "y > 2"), ("Tag", "isOpen == true"),
    ("Item", "next == NULL"), ("Item", "next != NULL"), ("Remark", "item != NULL"), ("Item", "folder != NULL"),
    ("Item", "folder.rank > 2"), ("Item", "next.x > 2"), ("Item", "ANY tags.isOpen == true"),
    ("Item", "remarks.@count > 0"), ("Item", "tags.@count > 1"), ("Folder", "items.@count > 2"),
    ("Folder", "ANY items.x > 6"), ("Folder", "items.@sum.x > 9"), ("Remark", "item.x > 3"),
    ("Remark", "item.folder.rank > 1"), ("Tag", "ANY items.x > 5"), ("Tag", "items.@count > 1"),
    ("Item", "NONE tags.name == \"t1\""), ("Item", "ANY previous.x < 5"), ("Item", "next.next == NULL"),
  ]

  /// Sorts of fetches. Those over the object's own properties are also used for windows.
  static let sorts: [(entity: String, sort: String, isOwn: Bool)] = [
    ("Item", "", true), ("Item", "x", true), ("Item", "-x,text", true), ("Item", "code,-x", true),
    ("Folder", "-rank", true), ("Remark", "y,body", true), ("Tag", "name", true), ("Item", "folder.rank,-x", false),
    ("Item", "-tags.@count", false), ("Item", "next.x,text", false), ("Remark", "item.x", false),
  ]
}
