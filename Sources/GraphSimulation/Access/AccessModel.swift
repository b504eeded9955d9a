import GraphModel

/// The model of the runs with accounts: scopes over one and two steps, references across scopes, an entity without a
/// scope, unique keys that invisible objects may have, and rules for reading and writing.
///
/// In half of the runs no rule for reading names `$user`, so that users share visibility classes. `NaiveAccess` states
/// the rules a second time.
struct AccessModel {
  let model: Model
  /// Whether notes from `hiddenFrom` on are visible to their creators.
  let readsUser: Bool

  /// From this value of `x` on a note is hidden.
  static let hiddenFrom: Int64 = 8
  /// With this value of `x` a note can't be deleted.
  static let kept: Int64 = 5

  init(seed: UInt64) throws {
    readsUser = seed % 2 == 0
    model = try Model(parsing: Self.source(readsUser: readsUser).utf8)
  }

  private static func source(readsUser: Bool) -> String {
    let read = readsUser ? "x < \(hiddenFrom) OR creator == $user" : "x < \(hiddenFrom)"
    return """
      {"format": 1, "name": "Access", "version": 1, "entities": [
        {"name": "Board", "scope": "self",
         "attributes": [
          {"name": "title", "type": "string", "default": ""}, {"name": "rank", "type": "integer", "default": 0}],
         "relationships": [
          {"name": "notes", "destination": "Note", "inverse": "board", "toMany": true, "deleteRule": "cascade"}]},
        {"name": "Note", "scope": "board",
         "attributes": [
          {"name": "text", "type": "string", "default": "", "fullText": true},
          {"name": "x", "type": "integer", "default": 0, "indexed": true},
          {"name": "code", "type": "string", "optional": true},
          {"name": "creator", "type": "string", "assigned": "creator"}],
         "relationships": [
          {"name": "board", "destination": "Board", "inverse": "notes"},
          {"name": "next", "destination": "Note", "inverse": "previous"},
          {"name": "previous", "destination": "Note", "inverse": "next", "toMany": true},
          {"name": "tags", "destination": "Tag", "inverse": "notes", "toMany": true},
          {"name": "remarks", "destination": "Remark", "inverse": "note", "toMany": true, "deleteRule": "cascade"}],
         "unique": [["code"]],
         "access": {
          "read": "\(read)", "delete": "x != \(kept)", "properties": {"code": "creator == $user"}}},
        {"name": "Remark", "scope": "note",
         "attributes": [
          {"name": "body", "type": "string", "default": ""}, {"name": "y", "type": "integer", "default": 0}],
         "relationships": [{"name": "note", "destination": "Note", "inverse": "remarks"}]},
        {"name": "Tag",
         "attributes": [
          {"name": "name", "type": "string"}, {"name": "isOpen", "type": "bool", "default": true}],
         "relationships": [{"name": "notes", "destination": "Note", "inverse": "tags", "toMany": true}],
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

  /// Predicates over an object's own values, over references that may be hidden, and along paths.
  static let queries: [(entity: String, predicate: String)] = [
    ("Note", ""), ("Board", ""), ("Remark", ""), ("Tag", ""),
    ("Note", "x > 3"), ("Note", "x BETWEEN {2, 9}"), ("Note", "text SEARCH \"sea\""), ("Note", "NOT (x == 4)"),
    ("Note", "text CONTAINS \"a\" AND x < 9"), ("Note", "code == NULL"), ("Remark", "y > 2"), ("Tag", "isOpen == true"),
    ("Note", "next == NULL"), ("Note", "next != NULL"), ("Remark", "note != NULL"), ("Note", "board != NULL"),
    ("Note", "board.rank > 2"), ("Note", "next.x > 2"), ("Note", "ANY tags.isOpen == true"),
    ("Note", "remarks.@count > 0"), ("Note", "tags.@count > 1"), ("Board", "notes.@count > 2"),
    ("Board", "ANY notes.x > 6"), ("Board", "notes.@sum.x > 9"), ("Remark", "note.x > 3"),
    ("Remark", "note.board.rank > 1"), ("Tag", "ANY notes.x > 5"), ("Tag", "notes.@count > 1"),
    ("Note", "NONE tags.name == \"t1\""), ("Note", "ANY previous.x < 5"), ("Note", "next.next == NULL"),
  ]

  /// Sorts of fetches; those over own properties are also sorts of windows.
  static let sorts: [(entity: String, sort: String, isOwn: Bool)] = [
    ("Note", "", true), ("Note", "x", true), ("Note", "-x,text", true), ("Note", "code,-x", true),
    ("Board", "-rank", true), ("Remark", "y,body", true), ("Tag", "name", true), ("Note", "board.rank,-x", false),
    ("Note", "-tags.@count", false), ("Note", "next.x,text", false), ("Remark", "note.x", false),
  ]
}
