// Tests: UnappliedLogTests.swift
import GRDB

/// A store that no program is changing.
package enum IdleStore {
  /// Reads the store, and changes no file.
  ///
  /// A connection that reads would leave an empty WAL and its index behind; one to an immutable file does not. An index
  /// remains if the WAL has content.
  /// - Throws: `StoreFailure` for errors of SQLite, and any error of `body`.
  package static func read<Result>(_ path: String, _ body: (Database) throws -> Result) throws -> Result {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    do {
      let queue = try DatabaseQueue(path: name(forReading: path), configuration: configuration)
      let result = try queue.read(body)
      try queue.close()
      return result
    } catch let error as DatabaseError {
      throw SQLiteFailure.of(error, path: path)
    }
  }

  private static func name(forReading path: String) throws -> String {
    let hasLogs = ["-wal", "-journal"].contains { StoreFiles.hasContent(path + $0) }
    if !hasLogs, let name = ReadOnlyMedium.immutableName(of: path) { return name }
    return try ReadOnlyMedium.name(forReading: path)
  }
}
