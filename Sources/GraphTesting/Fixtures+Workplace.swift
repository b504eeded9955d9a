import GraphModel

extension Fixtures {
  /// A model whose objects have more than client-set values: patterns, rules, composites, counts and expressions.
  public static func workplace() throws -> Model { try Model(parsing: workplaceSource.utf8) }

  /// The source of `workplace()`.
  public static let workplaceSource = """
    {"format": 1, "name": "Workplace", "version": 1,
     "composites": [
       {"name": "Address", "documentation": "Where a letter arrives.", "attributes": [
         {"name": "street", "type": "string", "maximumLength": 20},
         {"name": "zip", "type": "string", "pattern": "[0-9]{5}", "indexed": true},
         {"name": "hint", "type": "text", "optional": true, "fullText": true}]}],
     "entities": [
       {"name": "Party", "abstract": true,
        "attributes": [
          {"name": "name", "type": "string", "pattern": "[A-Z][a-z0-9]*"},
          {"name": "key", "type": "string", "derived": "lowercase(name)"},
          {"name": "home", "type": "composite", "composite": "Address", "optional": true},
          {"name": "updated", "type": "date", "assigned": "updated"}],
        "unique": [["key"], ["home.zip", "home.street"]],
        "rules": [{"name": "livesElsewhere", "predicate": "home.street == NULL OR home.street != name"}]},
       {"name": "Person", "parent": "Party",
        "attributes": [
          {"name": "work", "type": "composite", "composite": "Address", "optional": true},
          {"name": "rate", "type": "integer", "default": 2, "maximum": 1000000},
          {"name": "hours", "type": "integer", "optional": true, "default": 3, "maximum": 1000000},
          {"name": "pay", "type": "integer", "optional": true, "derived": "rate * hours", "indexed": true},
          {"name": "busy", "type": "integer", "derived": "projects.@count"},
          {"name": "span", "type": "integer", "derived": "reports.@count"},
          {"name": "isSelected", "type": "bool", "default": false, "transient": true},
          {"name": "draft", "type": "string", "optional": true, "transient": true}],
        "relationships": [
          {"name": "unit", "destination": "Unit", "inverse": "staff"},
          {"name": "boss", "destination": "Person", "inverse": "reports"},
          {"name": "reports", "destination": "Person", "inverse": "boss", "toMany": true},
          {"name": "projects", "destination": "Project", "inverse": "members", "toMany": true}],
        "rules": [{"name": "paidForHours", "predicate": "pay == NULL OR pay >= 0", "message": "pay can't be negative"}]},
       {"name": "Unit", "abstract": true,
        "attributes": [{"name": "headcount", "type": "integer", "derived": "staff.@count", "indexed": true}],
        "relationships": [{"name": "staff", "destination": "Person", "inverse": "unit", "toMany": true}],
        "rules": [{"name": "small", "predicate": "headcount <= 5"}]},
       {"name": "Department", "parent": "Unit",
        "attributes": [
          {"name": "code", "type": "string", "default": "d"},
          {"name": "load", "type": "integer", "derived": "projects.@count"}],
        "relationships": [
          {"name": "projects", "destination": "Project", "inverse": "department", "toMany": true,
           "deleteRule": "cascade"}]},
       {"name": "Team", "parent": "Unit"},
       {"name": "Project",
        "attributes": [
          {"name": "starts", "type": "date", "optional": true}, {"name": "due", "type": "date", "optional": true},
          {"name": "size", "type": "integer", "derived": "members.@count"}],
        "relationships": [
          {"name": "department", "destination": "Department", "inverse": "projects", "optional": false},
          {"name": "members", "destination": "Person", "inverse": "projects", "toMany": true}],
        "rules": [
          {"name": "endsAfterItStarts", "predicate": "starts == NULL OR due == NULL OR starts <= due",
           "message": "a project ends after it starts"}]}]}
    """
}
