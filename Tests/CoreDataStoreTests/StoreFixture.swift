import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

@testable import CoreDataStore

/// A copy of a store of Schema/CoreDataStores in a folder of its own, and its model.
struct StoreFixture {
  let folder: TemporaryDirectory
  let path: String
  let model: Model
  /// The names of the app that are reserved in a model.
  var names = [String: String]()

  /// - Parameters:
  ///   - name: the name of the store's file.
  ///   - model: a model's source; nil for the file beside the store.
  init(_ name: String, model source: String? = nil) throws {
    folder = try TemporaryDirectory()
    path = folder.path + "/" + name
    let stores = Fixtures.root + "/Schema/CoreDataStores/"
    let base = String(name.prefix { $0 != "." })
    let support = ".\(base)_SUPPORT"
    for file in [name, name + "-wal", support] where FileManager.default.fileExists(atPath: stores + file) {
      try FileManager.default.copyItem(atPath: stores + file, toPath: folder.path + "/" + file)
    }
    let bytes = try source.map { Array($0.utf8) } ?? Fixtures.file("Schema/CoreDataStores/\(base).json")
    model = try Model(parsing: bytes)
    if base == "Cars" { names = ["Person.identifier": "id"] }
  }

  /// Changes the store by SQL.
  func execute(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?] = []) throws {
    let queue = try DatabaseQueue(path: path)
    // A statement may break rules that Core Data keeps.
    try queue.writeWithoutTransaction { try $0.execute(sql: sql, arguments: StatementArguments(arguments)) }
    try queue.close()
  }

  /// The number that a query returns.
  func count(_ sql: String) throws -> Int {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try #require(try queue.read { try Int.fetchOne($0, sql: sql) })
  }

  /// Writes a model of notes into the store: names of attributes with those of the version before.
  func writeModel(_ names: [String: String?]) throws {
    let properties = names.sorted { $0.key < $1.key }.map { _, earlier in
      ["NSAttributeType": 700, "NSRenamingIdentifier": earlier ?? ""] as [String: Any]
    }
    let entity: [String: Any] = [
      "NSEntityName": "IDMNote", "NSProperties": ["NS.keys": names.keys.sorted(), "NS.objects": properties],
    ]
    let model: [String: Any] = ["NSEntities": ["NS.keys": ["IDMNote"], "NS.objects": [entity]]]
    let archive: [String: Any] = ["$top": ["root": model], "$objects": [String]()]
    let list = try PropertyListSerialization.data(fromPropertyList: archive, format: .binary, options: 0)
    // A stored block of DEFLATE.
    let size = UInt16(list.count)
    let head = [1, UInt8(size & 255), UInt8(size >> 8), UInt8(~size & 255), UInt8(~size >> 8)]
    try execute("DELETE FROM Z_MODELCACHE; INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [Data(head) + list])
  }

  /// Reads the whole store.
  /// - Parameter earlier: the decisions of an earlier import.
  func read(
    untagged: Set<String> = [], tagged: Set<String> = [], earlier: StoreLayout.Decisions = StoreLayout.Decisions()
  ) throws -> ReadStore {
    try ReadStore(CoreDataFile(path), model, names, untagged, tagged, earlier)
  }

  /// The message of the refusal to read the store.
  func refusal() throws -> Refusal { try #require(throws: Refusal.self) { try CoreDataFile(path) } }
}

/// The content of a store.
struct ReadStore {
  let file: CoreDataFile
  let layout: StoreLayout
  let model: Model
  let reader: SourceReader
  /// The rows by root entity and key, as in `Car 12`.
  private(set) var rows = [String: SourceRow]()
  /// The reasons of rows that can't be taken, by the same names.
  private(set) var unreadable = [String: String]()
  private let members: [PropertyNumber: [StoreLayout.RowKey: [StoreLayout.RowKey]]]

  init(
    _ file: CoreDataFile, _ model: Model, _ names: [String: String], _ untagged: Set<String>, _ tagged: Set<String>,
    _ earlier: StoreLayout.Decisions
  ) throws {
    (self.file, self.model) = (file, model)
    layout = try StoreLayout(file, model, names: names, untagged: untagged, tagged: tagged, earlier: earlier)
    reader = SourceReader(file, layout)
    members = try reader.members()
    for key in try reader.keys() {
      do {
        rows[reader.name(key)] = try reader.row(key)
      } catch let row as SourceReader.UnreadableRow {
        unreadable[reader.name(key)] = row.reason
      }
    }
  }

  /// The number of rows of each entity.
  var counts: [String: Int] { Dictionary(grouping: rows.values) { $0.entity.name }.mapValues(\.count) }

  /// The content of a property of a row; nil if it is missing or could not be taken.
  func content(_ row: String, _ property: String) throws -> SourceRow.Content? {
    try #require(rows[row]).fields.first { $0.property.name == property }?.content
  }

  func value(_ row: String, _ property: String) throws -> Value? {
    guard case .value(let value) = try content(row, property) else { return nil }
    return value
  }

  /// The name of the row at the other end of a to-one; nil for none.
  func reference(_ row: String, _ property: String) throws -> String? {
    guard case .reference(let key) = try content(row, property) else { return nil }
    return key.map(reader.name)
  }

  /// The keys of the members of a list, in order.
  func members(_ row: String, _ property: String) throws -> [Int64] {
    let row = try #require(rows[row])
    let property = try #require(row.entity.property(named: property))
    let lists = try #require(members[property.number], "\(property.name) has no list")
    return lists[row.key, default: []].map(\.key)
  }

  var remarks: [String] { layout.remarks.map { "\($0.subject): \($0.reason) (\($0.count))" } }

  /// The problems of a row, as in `date: the column has a text, …`.
  func problems(_ row: String) throws -> [String] {
    try #require(rows[row]).problems.map { "\($0.property.name): \($0.reason)" }
  }
}
