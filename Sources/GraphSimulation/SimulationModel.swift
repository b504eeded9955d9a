import GraphModel

/// The model of simulations: small, with one of each feature of a model.
///
/// A folder's items are ordered, and so are an item's labels. Items and tasks have an abstract parent entity, whose
/// objects form a graph of parents and children that may have cycles. A crew has unordered items, at least one.
/// Labels are related to labels. Each of the four delete rules occurs. There are attributes of every type, so that
/// each occurs in every message, file and comparison.
enum SimulationModel {
  static func load(_ acts: Set<OptionalAction> = []) throws -> Model { try Model(parsing: json(acts).text.utf8) }

  /// The model of runs with these acts.
  static func json(_ acts: Set<OptionalAction>) throws -> JSON {
    let model = try JSON(parsing: source)
    return acts.contains(.counters) ? model.adding(try JSON(parsing: counter), to: "entities") : model
  }

  private static let counter = """
    {"name": "\(CounterCheck.entity)",
     "attributes": [{"name": "\(CounterCheck.property)", "type": "integer", "default": 0}]}
    """

  static let source = """
    {"format": 1, "name": "Simulation", "version": 1,
     "enumerations": [{"name": "Kind", "cases": ["red", "green", "blue"]}],
     "composites": [
       {"name": "Place", "attributes": [
         {"name": "row", "type": "integer", "minimum": -9},
         {"name": "column", "type": "string", "maximumLength": 3}]}],
     "fetchRequests": [
       {"name": "largeItems", "entity": "Item", "predicate": "size > $least AND folder.name == $folder",
         "sort": "-size,number", "limit": 4},
       {"name": "openTasks", "entity": "Task", "predicate": "due >= $from AND (about == NULL OR about.size < $most)",
         "sort": "due,-number"},
       {"name": "firstLabels", "entity": "Label", "sort": "name", "limit": 3}],
     "entities": [
       {"name": "Crew",
        "attributes": [
          {"name": "title", "type": "string", "minimumLength": 2, "maximumLength": 8},
          {"name": "shift", "type": "integer", "default": 0}],
        "relationships": [
          {"name": "members", "destination": "Item", "inverse": "crews", "toMany": true, "minimumCount": 1}],
        "unique": [["title", "shift"]]},
       {"name": "Folder",
        "attributes": [
          {"name": "name", "type": "string"},
          {"name": "caption", "type": "string", "derived": "uppercase(name)"},
          {"name": "itemCount", "type": "integer", "derived": "items.@count", "indexed": true}],
        "relationships": [
          {"name": "items", "destination": "Item", "inverse": "folder", "toMany": true, "deleteRule": "cascade",
            "ordered": true}],
        "unique": [["name"]]},
       {"name": "Thing", "abstract": true,
        "attributes": [
          {"name": "number", "type": "integer", "assigned": "sequence"},
          {"name": "created", "type": "date", "assigned": "created"},
          {"name": "updated", "type": "date", "assigned": "updated"},
          {"name": "chosen", "type": "bool", "default": false, "transient": true},
          {"name": "memo", "type": "string", "optional": true, "fullText": true},
          {"name": "remark", "type": "text", "optional": true},
          {"name": "place", "type": "composite", "composite": "Place", "optional": true},
          {"name": "at", "type": "date", "optional": true, "indexed": true},
          {"name": "price", "type": "decimal", "optional": true},
          {"name": "share", "type": "double", "optional": true, "minimum": -4, "maximum": 4},
          {"name": "token", "type": "uuid", "optional": true},
          {"name": "photo", "type": "data", "optional": true, "maximumLength": 3},
          {"name": "link", "type": "uri", "optional": true},
          {"name": "extra", "type": "json", "optional": true},
          {"name": "done", "type": "bool", "default": false},
          {"name": "day", "type": "date", "derived": "startOfDay(at)", "optional": true},
          {"name": "cost", "type": "decimal", "derived": "price * 2", "optional": true, "indexed": true},
          {"name": "childCount", "type": "integer", "derived": "children.@count"}],
        "relationships": [
          {"name": "parent", "destination": "Thing", "inverse": "children"},
          {"name": "children", "destination": "Thing", "inverse": "parent", "toMany": true, "deleteRule": "deny"}],
        "unique": [["number"]],
        "rules": [
          {"name": "rowsHaveColumns", "predicate": "place.row == NULL OR place.column != NULL",
            "message": "a row goes with a column"}]},
       {"name": "Item", "parent": "Thing",
        "attributes": [
          {"name": "text", "type": "text", "default": "", "fullText": true},
          {"name": "kind", "type": "enumeration", "enumeration": "Kind", "default": "red"},
          {"name": "size", "type": "integer", "default": 0, "minimum": -5, "maximum": 90},
          {"name": "weight", "type": "integer", "derived": "size * 3 + 1"},
          {"name": "heading", "type": "string", "derived": "lowercase(memo)", "optional": true, "indexed": true},
          {"name": "labelCount", "type": "integer", "derived": "labels.@count"}],
        "relationships": [
          {"name": "folder", "destination": "Folder", "inverse": "items", "optional": false},
          {"name": "labels", "destination": "Label", "inverse": "items", "toMany": true, "ordered": true,
            "maximumCount": 6},
          {"name": "crews", "destination": "Crew", "inverse": "members", "toMany": true},
          {"name": "cover", "destination": "Label", "inverse": "coverOf"},
          {"name": "tasks", "destination": "Task", "inverse": "about", "toMany": true, "deleteRule": "noAction"}]},
       {"name": "Task", "parent": "Thing",
        "attributes": [
          {"name": "code", "type": "string", "optional": true, "pattern": "[A-C]{1,2}-[0-9]+"},
          {"name": "starts", "type": "integer", "optional": true},
          {"name": "due", "type": "integer", "optional": true}],
        "relationships": [{"name": "about", "destination": "Item", "inverse": "tasks"}],
        "unique": [["about", "code"]],
        "rules": [{"name": "endsAfterItStarts", "predicate": "starts == NULL OR due == NULL OR starts <= due"}]},
       {"name": "Label",
        "attributes": [
          {"name": "name", "type": "string"},
          {"name": "use", "type": "integer", "derived": "items.@count"}],
        "relationships": [
          {"name": "items", "destination": "Item", "inverse": "labels", "toMany": true},
          {"name": "near", "destination": "Label", "inverse": "nearOf", "toMany": true},
          {"name": "nearOf", "destination": "Label", "inverse": "near", "toMany": true},
          {"name": "coverOf", "destination": "Item", "inverse": "cover"}],
        "unique": [["name"]]}]}
    """

  /// The predicates of live queries, apart from `values`.
  static let queries: [(entity: String, predicate: String)] = ownProperties + paths + derived + words

  private static let ownProperties = [
    ("Item", ""), ("Item", "kind == \"red\""), ("Item", "size > 4"), ("Item", "size BETWEEN {2, 6}"),
    ("Item", "kind IN {\"green\", \"blue\"} AND size < 8"), ("Item", "NOT (kind == \"red\")"),
    ("Item", "text CONTAINS \"a\""), ("Folder", ""), ("Label", "name BEGINSWITH \"l1\""), ("Item", "text SEARCH \"b\""),
    ("Thing", ""), ("Task", ""), ("Label", ""), ("Thing", "place.row < 3"), ("Thing", "place.column == \"b\""),
    ("Thing", "remark CONTAINS \"a\""), ("Thing", "remark == NULL"), ("Task", "code MATCHES \"A+-[0-9]\""),
    ("Task", "starts <= 4 AND due > 2"), ("Thing", "length(memo) > 2"),
    ("Crew", ""), ("Crew", "title == \"aa\" AND shift > 1"), ("Thing", "created < updated"),
  ]

  private static let paths = [
    ("Item", "folder.name == \"f1\""), ("Item", "folder.name BEGINSWITH \"f\" AND size > 3"),
    ("Item", "labels.@count > 0"),
    ("Item", "ANY labels.name IN {\"l1\", \"l2\", \"l3\"}"), ("Item", "NONE labels.name == \"l4\""),
    ("Folder", "items.@count > 2"), ("Folder", "ANY items.kind == \"red\""), ("Folder", "items.@sum.size > 10"),
    ("Folder", "ALL items.size < 50"),
    ("Folder", "SUBQUERY(items, $i, $i.size > 3 AND ANY $i.labels.name != NULL).@count > 0"),
    ("Label", "ANY items.folder.name == \"f2\""), ("Label", "items.@max.size > 20"),
    ("Item", "folder.items.@count < 4"),
    ("Thing", "parent.place.column == \"b\""), ("Thing", "parent.parent != NULL"),
    ("Thing", "parent.parent.memo == NULL"),
    ("Thing", "SUBQUERY(children, $c, $c.place.row > 1).@count > 0"), ("Item", "ALL tasks.due > 2"),
    ("Label", "coverOf.size > 2"), ("Task", "about.folder.name == \"f1\""),
    ("Crew", "members.@count > 1"), ("Crew", "ANY members.folder.name == \"f1\""), ("Crew", "members.@sum.size > 9"),
    ("Item", "crews.@count > 0"), ("Item", "ANY crews.title == \"bb\""), ("Label", "near.@count > 0"),
    ("Label", "ANY near.name == \"l1\""), ("Label", "NONE nearOf.coverOf.size > 4"), ("Label", "nearOf.@max.use > 0"),
  ]

  /// Full-text search, on the object itself and at the end of a path.
  private static let words = [
    ("Item", "text SEARCH \"a b\" OR size > 40"), ("Item", "NOT (text SEARCH \"a\")"),
    ("Task", "about.text SEARCH \"b\""),
    ("Folder", "ANY items.text SEARCH \"b\""), ("Folder", "NONE items.text SEARCH \"c\""),
    ("Label", "ANY items.text SEARCH \"a\""), ("Label", "coverOf.text SEARCH \"a b\""),
    ("Crew", "ALL members.text SEARCH \"a\""), ("Item", "folder.name == \"f1\" AND text SEARCH \"b\""),
    ("Folder", "SUBQUERY(items, $i, $i.text SEARCH \"a\" AND $i.size > 2).@count > 1"),
    ("Thing", "ANY children.memo SEARCH \"x\""), ("Thing", "parent.memo SEARCH \"a\""),
  ]

  /// Predicates on derived attributes, which a commit changes without naming them.
  private static let derived = [
    ("Folder", "itemCount > 3"), ("Folder", "caption BEGINSWITH \"F1\""), ("Item", "weight BETWEEN {4, 13}"),
    ("Item", "heading == NULL"), ("Item", "labelCount > 1"), ("Thing", "childCount > 0"), ("Label", "use > 1"),
    ("Item", "folder.order > 0"), ("Item", "folder.itemCount > 4"), ("Item", "cover.use > 0"),
    ("Item", "labels.@max.use > 1"), ("Task", "about.weight > 10"), ("Folder", "items.@min.folder.order < 0"),
    ("Thing", "ANY children.childCount > 0"),
  ]
}
