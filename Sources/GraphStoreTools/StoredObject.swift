// Tests: StoredObjectTests.swift
import GRDB
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
      (image, revision) = try queue.read { database in
        let layout = try StoreVersions.layout(database, model: model)
        let objects = ObjectReader(Connection(database), layout: layout)
        var found: ObjectImage?
        for table in layout.orderedTables where found == nil {
          found = try objects.readImage(of: ObjectID(key: key, entity: table.root.number))
        }
        return (found, try HistoryReader(objects: objects).head().revision)
      }
    } catch let error as DatabaseError {
      throw SQLiteFailure.of(error, path: path)
    }
  }
}
