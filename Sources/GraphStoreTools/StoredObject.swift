// Tests: StoredObjectTests.swift
import GRDB
import GRDBSQLite
import GraphModel
import GraphStore

/// One object of a store, read beside a running daemon.
public struct StoredObject: Sendable {
  /// The object; nil if the store has none with this key.
  public let image: ObjectImage?
  /// The newest revision in the database file. A running daemon may have a few commits more, in its commit log.
  public let revision: Revision

  /// Reads an object by its key.
  /// - Throws: `StoreFailure` if the store can't be read, or has another model.
  public init(_ key: UniqueID, directory: String, model: Model) throws {
    (image, revision) = try Self.read(directory, model) { objects, _ -> ObjectImage? in
      var found: ObjectImage?
      for table in objects.layout.orderedTables where found == nil {
        found = try objects.readImage(of: ObjectID(key: key, entity: table.root.number))
      }
      return found
    }
  }

  /// Reads the object that has a value as a unique key.
  /// - Parameter property: the only property of a uniqueness constraint of its entity.
  /// - Throws: `StoreFailure` if the store can't be read, or has another model.
  public init(with text: String, for property: Property, directory: String, model: Model) throws {
    (image, revision) = try Self.read(directory, model) { objects, connection -> ObjectImage? in
      guard let table = objects.layout.table(of: property.owner), let column = table.column(of: property.number) else {
        return nil
      }
      let row = try connection.statement("SELECT _id FROM \(quoted(table.name)) WHERE \(quoted(column.name)) = ?")
      row.bind(1, text)
      var key: UniqueID?
      if try connection.step(row) { key = row.id(0) }
      sqlite3_reset(row.statement)
      return try key.flatMap { try objects.readImage(of: ObjectID(key: $0, entity: property.owner)) }
    }
  }

  /// Reads the containers with these keys, in no order; unknown keys are left out.
  /// - Throws: `StoreFailure` if the store can't be read, or has another model.
  public static func containers(
    _ keys: some Collection<UniqueID>, directory: String, model: Model
  ) throws -> [ObjectImage] {
    let roots = Set(model.entities.filter { $0.scope == .container }.map(\.root)).sorted()
    return try read(directory, model) { objects, _ in
      try keys.flatMap { key in
        try roots.compactMap { try objects.readImage(of: ObjectID(key: key, entity: $0)) }
      }
    }.0
  }

  private static func read<Result>(
    _ directory: String, _ model: Model, _ body: (ObjectReader, Connection) throws -> Result
  ) throws -> (Result, Revision) {
    let path = directory + "/" + StoreFiles.name
    guard try StoreFiles.kind(of: path) != .absent else {
      throw StoreFailure(
        .notAStore, "there is no store in \(directory)", advice: "Name the data directory of the daemon with --data.")
    }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    do {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      return try queue.read { database in
        let connection = Connection(database)
        let objects = ObjectReader(connection, layout: try StoreVersions.layout(database, model: model))
        return (try body(objects, connection), try HistoryReader(objects: objects).head().revision)
      }
    } catch let error as DatabaseError {
      throw SQLiteFailure.of(error, path: path)
    }
  }
}
