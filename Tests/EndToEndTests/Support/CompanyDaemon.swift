import Foundation
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// A daemon with the model at the end of docs/model-format.md, and the operations of the tests.
struct CompanyDaemon {
  let daemon: Daemon

  init() throws {
    daemon = try Daemon()
    try FileManager.default.createDirectory(atPath: schema, withIntermediateDirectories: true)
    try Self.source().write(toFile: schema + "/1.json", atomically: true, encoding: .utf8)
    try daemon.start(["--schema", schema])
  }

  /// The folder with its model.
  var schema: String { daemon.home.path + "/Company" }

  /// The example of the page.
  static func source() throws -> String {
    let page = String(decoding: try Fixtures.file("docs/model-format.md"), as: UTF8.self)
    let heading = try #require(page.range(of: "\n## An example\n"))
    let start = try #require(page.range(of: "```json\n", range: heading.upperBound..<page.endIndex))
    let end = try #require(page.range(of: "\n```", range: start.upperBound..<page.endIndex))
    return String(page[start.upperBound..<end.lowerBound])
  }

  @discardableResult
  func run(_ arguments: String..., author: String = "ann@test", input: String? = nil) throws -> Daemon.Result {
    try Daemon.run(["graph"] + arguments, server: daemon.socket.description, author: author, input: input)
  }

  /// Inserts one object and returns its id.
  func insert(_ entity: String, _ values: String..., place: SourceLocation = #_sourceLocation) throws -> String {
    let result = try Daemon.run(
      ["graph", "insert", entity, "--json"] + values, server: daemon.socket.description, author: "ann@test", input: nil)
    #expect(result.status == 0, "\(result.errors)", sourceLocation: place)
    return try #require(try result.json()["id"]?.stringValue, sourceLocation: place)
  }

  func department(_ code: String = "ENG") throws -> String { try insert("Department", "code=\(code)") }

  func person(_ name: String, in department: String, _ more: String = "vacationDays=25") throws -> String {
    try insert("Person", "name=\(name)", "hired=2020-01-01", "department=\(department)", more)
  }

  /// How many objects of an entity match.
  func count(_ entity: String, where predicate: String = "TRUEPREDICATE") throws -> Int64? {
    try run("fetch", entity, "--where", predicate, "--count", "--json").json()["count"]?.integerValue
  }
}

extension Daemon.Result {
  /// Standard error, as JSON.
  func refusal() throws -> JSON {
    try #require(try JSON(parsing: errors.trimmingCharacters(in: .newlines))["error"])
  }
}

extension JSON {
  var count: Int? { arrayValue?.count }
}
