import GraphModel

/// The model of the runs with offline replicas, in two versions: scopes, a rule for reading, a merged text, unique
/// keys, assigned numbers, cascades, and an attribute that is renamed and one that is removed.
struct OfflineModel {
  /// Oldest first.
  let versions: [Model]

  /// From this value of `x` on an item is hidden.
  static let hiddenFrom: Int64 = 1_000

  /// In half of the runs a rule hides items from everybody but the machine's owner. In the others an owner sees all.
  init(seed: UInt64) throws {
    versions = try [1, 2].map { try Model(parsing: Self.source(version: $0, hides: seed % 2 == 0).utf8) }
  }

  private static func source(version: Int, hides: Bool) -> String {
    let rule = #", "access": {"read": "\#(version == 1 ? "x" : "size") < \#(hiddenFrom)"}"#
    let own =
      version == 1
      ? """
      {"name": "x", "type": "integer", "default": 0, "indexed": true},
      {"name": "remark", "type": "string", "optional": true}
      """
      : """
      {"name": "size", "renamed": "x", "type": "integer", "default": 0, "indexed": true},
      {"name": "extra", "type": "string", "optional": true}
      """
    return """
      {"format": 1, "name": "Offline", "version": \(version), "entities": [
        {"name": "Folder", "scope": "self",
         "attributes": [
          {"name": "title", "type": "string", "default": ""},
          {"name": "rank", "type": "integer", "default": 0}],
         "relationships": [
          {"name": "items", "destination": "Item", "inverse": "folder", "toMany": true, "deleteRule": "cascade"}]},
        {"name": "Item", "scope": "folder",
         "attributes": [
          {"name": "text", "type": "text", "default": "", "fullText": true},
          {"name": "number", "type": "integer", "assigned": "sequence"},
          {"name": "code", "type": "string", "optional": true},
          \(own)],
         "relationships": [
          {"name": "folder", "destination": "Folder", "inverse": "items"},
          {"name": "next", "destination": "Item", "inverse": "previous"},
          {"name": "previous", "destination": "Item", "inverse": "next", "toMany": true},
          {"name": "tags", "destination": "Tag", "inverse": "items", "toMany": true}],
         "unique": [["code"]]\(hides ? rule : "")},
        {"name": "Tag",
         "attributes": [{"name": "name", "type": "string"}],
         "relationships": [{"name": "items", "destination": "Item", "inverse": "tags", "toMany": true}],
         "unique": [["name"]]}]}
      """
  }
}

/// Names of the older version, in a model of either version.
extension Model {
  func named(_ entity: String) -> Entity {
    guard let entity = self.entity(named: entity) else { preconditionFailure("the model has the entity \(entity)") }
    return entity
  }

  /// A property by its name in the older version; nil if this version has removed it.
  func known(_ entity: String, _ name: String) -> Property? {
    let entity = named(entity)
    return entity.property(named: name) ?? entity.allProperties.first { $0.renamed == name }
  }

  /// A property that both versions have, by its name in the older one.
  func named(_ entity: String, _ name: String) -> Property {
    guard let property = known(entity, name) else { preconditionFailure("\(entity) has the property \(name)") }
    return property
  }

  func isA(_ id: ObjectID, _ entity: String) -> Bool { id.entity == named(entity).number }

  func value(_ image: ObjectImage, _ entity: String, _ name: String) -> Value { image[named(entity, name)] }
}
