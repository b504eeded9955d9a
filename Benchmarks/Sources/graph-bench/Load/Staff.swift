import Foundation
import GraphModel

/// The model of the sections that need more than notes: paths, all kinds of references, cycles, and an index that
/// finds twenty objects. The daemon gets the same source through `--schema`.
enum Staff {
  static let source = """
    {"format": 1, "name": "Staff", "version": 1, "entities": [
      {"name": "Department", "attributes": [{"name": "name", "type": "string", "default": ""}], "relationships": [
        {"name": "people", "destination": "Person", "inverse": "department", "toMany": true}]},
      {"name": "Person",
       "attributes": [
         {"name": "name", "type": "string"}, {"name": "city", "type": "string", "default": "Hamburg"},
         {"name": "team", "type": "integer", "default": 0, "indexed": true},
         {"name": "age", "type": "integer", "default": 30}, {"name": "score", "type": "double", "default": 0.5},
         {"name": "active", "type": "bool", "default": true},
         {"name": "hired", "type": "date", "default": "2020-01-01"}],
       "relationships": [
         {"name": "department", "destination": "Department", "inverse": "people"},
         {"name": "manager", "destination": "Person", "inverse": "reports"},
         {"name": "reports", "destination": "Person", "inverse": "manager", "toMany": true},
         {"name": "skills", "destination": "Skill", "inverse": "people", "toMany": true},
         {"name": "tasks", "destination": "Task", "inverse": "person", "toMany": true, "ordered": true}]},
      {"name": "Skill", "attributes": [{"name": "name", "type": "string"}], "relationships": [
        {"name": "people", "destination": "Person", "inverse": "skills", "toMany": true}]},
      {"name": "Task", "attributes": [{"name": "title", "type": "string", "default": ""}], "relationships": [
        {"name": "person", "destination": "Person", "inverse": "tasks"}]},
      {"name": "Node", "relationships": [
        {"name": "next", "destination": "Node", "inverse": "previous", "deleteRule": "cascade"},
        {"name": "previous", "destination": "Node", "inverse": "next", "toMany": true, "deleteRule": "cascade"}]}]}
    """

  /// Creates a folder for the daemon's `--schema`.
  static func folder(in bench: Bench) throws -> String {
    let folder = bench.place("schema")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(source.utf8).write(to: URL(fileURLWithPath: folder + "/1.json"))
    return folder
  }

  /// Returns the values of the person with a number; in a store of a million, each team has twenty people.
  static func values(ofPerson number: Int, teams: Int) -> [(name: String, value: Value)] {
    [
      ("name", .string("Somebody with the number \(number)")),
      ("city", .string(["Berlin", "Bremen", "Hamburg", "Munich on the Isar"][number % 4])),
      ("team", .integer(Int64(number % teams))), ("age", .integer(Int64(number % 60 + 18))),
      ("score", .double(Double(number % 1_000) / 10)), ("active", .bool(number % 3 == 0)),
    ]
  }
}
