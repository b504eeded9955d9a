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
    ("Item", "folder.name == \"f1\""), ("Item", "folder.name BEGINSWITH \"f\" AND size > 3"),
    ("Item", "labels.@count > 0"),
    ("Item", "ANY labels.name IN {\"l1\", \"l2\", \"l3\"}"), ("Item", "NONE labels.name == \"l4\""),
    ("Folder", "items.@count > 2"), ("Folder", "ANY items.kind == \"red\""), ("Folder", "items.@sum.size > 10"),
    ("Folder", "ALL items.size < 50"),
    ("Folder", "SUBQUERY(items, $i, $i.size > 3 AND ANY $i.labels.name != NULL).@count > 0"),
    ("Label", "ANY items.folder.name == \"f2\""), ("Label", "items.@max.size > 20"),
    ("Item", "folder.items.@count < 4"),
  ]
}
