import GraphModel

/// The model that simulations run on: small, with one of each thing that can go wrong.
enum SimulationModel {
  static func load() throws -> Model { try Model(parsing: source.utf8) }

  static let source = """
    {"format": 1, "name": "Simulation", "version": 1,
     "enumerations": [{"name": "Kind", "cases": ["red", "green", "blue"]}],
     "entities": [
       {"name": "Folder",
        "attributes": [{"name": "name", "type": "string"}],
        "relationships": [
          {"name": "items", "destination": "Item", "inverse": "folder", "toMany": true, "deleteRule": "cascade"}],
        "unique": [["name"]]},
       {"name": "Item",
        "attributes": [
          {"name": "text", "type": "text", "default": "", "fullText": true},
          {"name": "kind", "type": "enumeration", "enumeration": "Kind", "default": "red"},
          {"name": "size", "type": "integer", "default": 0, "minimum": -5, "maximum": 90},
          {"name": "number", "type": "integer", "assigned": "sequence"},
          {"name": "updated", "type": "date", "assigned": "updated"}],
        "relationships": [
          {"name": "folder", "destination": "Folder", "inverse": "items", "optional": false},
          {"name": "labels", "destination": "Label", "inverse": "items", "toMany": true}],
        "unique": [["number"]]},
       {"name": "Label",
        "attributes": [{"name": "name", "type": "string"}],
        "relationships": [{"name": "items", "destination": "Item", "inverse": "labels", "toMany": true}],
        "unique": [["name"]]}]}
    """

  /// What clients follow.
  static let queries: [(entity: String, predicate: String)] = [
    ("Item", ""), ("Item", "kind == \"red\""), ("Item", "size > 4"), ("Item", "size BETWEEN {2, 6}"),
    ("Item", "kind IN {\"green\", \"blue\"} AND size < 8"), ("Item", "NOT (kind == \"red\")"),
    ("Item", "text CONTAINS \"a\""), ("Folder", ""), ("Label", "name BEGINSWITH \"l1\""), ("Item", "text SEARCH \"b\""),
  ]
}
