import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

/// A daemon with the model of a store, and a copy of the store.
final class CoreDataApp {
  let daemon: Daemon
  let path: String
  var mapping: String { path + ".import.jsonl" }

  private let schema: String
  /// The version of the model that the daemon serves.
  private var version = 1

  /// - Parameters:
  ///   - name: the name of the store's file.
  ///   - model: the model of the daemon; nil for the one beside the store.
  init(_ name: String, model: String? = nil) throws {
    daemon = try Daemon()
    let stores = Fixtures.root + "/Schema/CoreDataStores/"
    let base = String(name.prefix { $0 != "." })
    let folder = daemon.home.path + "/app"
    schema = daemon.home.path + "/schema"
    for path in [folder, schema] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    let source = try model ?? String(contentsOfFile: stores + base + ".json", encoding: .utf8)
    try source.write(toFile: schema + "/1.json", atomically: true, encoding: .utf8)
    for file in [name, name + "-wal", ".\(base)_SUPPORT"]
    where FileManager.default.fileExists(atPath: stores + file) {
      try FileManager.default.copyItem(atPath: stores + file, toPath: folder + "/" + file)
    }
    path = folder + "/" + name
    try daemon.start(["--schema", schema])
  }

  /// Migrates the graph to the next version, which is the present one with changes.
  func migrate(_ changes: [(String, String)]) throws {
    #expect(daemon.stop() == 0)
    var text = try String(contentsOfFile: schema + "/\(version).json", encoding: .utf8)
    for (from, to) in [("\"version\": \(version)", "\"version\": \(version + 1)")] + changes {
      #expect(text.contains(from), "version \(version) has \(from)")
      text = text.replacingOccurrences(of: from, with: to)
    }
    version += 1
    try text.write(toFile: schema + "/\(version).json", atomically: true, encoding: .utf8)
    try daemon.start(["--schema", schema, "--migrate"])
  }

  func change(_ sql: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
  }

  func run(_ arguments: String...) throws -> Daemon.Result {
    try Daemon.run(
      ["graph", "import", "--core-data", path] + arguments, server: daemon.socket.description, author: "ann@test",
      input: nil)
  }

  /// Runs an import that succeeds, and returns its counts.
  func counts(_ arguments: String..., place: SourceLocation = #_sourceLocation) throws -> [String: Int64] {
    let result = try Daemon.run(
      ["graph", "import", "--core-data", path, "--json"] + arguments, server: daemon.socket.description,
      author: "ann@test", input: nil)
    #expect(result.status == 0, "\(result.errors)", sourceLocation: place)
    let members = try #require(try result.json().members, sourceLocation: place)
    return Dictionary(
      uniqueKeysWithValues: members.compactMap { member in
        // The number of problems follows from their rows.
        if member.name == "problemCount" { return nil }
        return member.value.integerValue.flatMap { $0 == 0 ? nil : (member.name, $0) }
      })
  }

  /// The only object that matches.
  func object(_ entity: String, _ predicate: String, place: SourceLocation = #_sourceLocation) throws -> JSON {
    let found = try daemon.run("graph", "fetch", entity, "--where", predicate, "--json").json()
    #expect(found.arrayValue?.count == 1, sourceLocation: place)
    let id = try #require(found[0]?["id"]?.stringValue, sourceLocation: place)
    return try daemon.run("graph", "show", id, "--json").json()
  }

  func count(_ entity: String) throws -> String { try daemon.run("graph", "fetch", entity, "--count").output }

  /// The values of a property of an object's members, in order.
  func members(_ object: JSON, _ list: String, _ property: String) throws -> [String?] {
    try #require(object[list]?.arrayValue).map { id in
      try daemon.run("graph", "show", try #require(id.stringValue), "--json").json()[property]?.stringValue
    }
  }

  var mappingSize: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: mapping)
    return attributes?[.size] as? Int ?? 0
  }

  func revision() throws -> Int64? { try daemon.run("status", "--json").json()["revision"]?.integerValue }
}

extension CoreDataApp {
  /// The app with the notes, and a model with changes.
  static func notes(_ changes: (String, String)...) throws -> CoreDataApp {
    var model = try String(contentsOfFile: Fixtures.root + "/Schema/CoreDataStores/Notes.json", encoding: .utf8)
    for (from, to) in changes {
      #expect(model.contains(from))
      model = model.replacingOccurrences(of: from, with: to)
    }
    return try CoreDataApp("Notes.sqlite", model: model)
  }
}
