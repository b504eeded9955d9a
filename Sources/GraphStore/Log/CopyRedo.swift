// Tests: UnappliedLogTests.swift
import GRDB
import GraphLog
import GraphModel
import Logging

/// Applies records of a commit log to a copy of the store, which no other program uses.
package enum CopyRedo {
  /// Applies the records in one transaction and clears the mark of the log.
  ///
  /// The copy is not synced.
  /// - Parameters:
  ///   - records: complete entries, in order; entries that the copy already has are compared with its commits.
  ///   - path: the path of the copy.
  ///   - model: the newest model of the store.
  /// - Returns: the copy's newest state.
  /// - Throws: `StoreFailure` for an entry that does not follow the copy's state, and `DatabaseError`; the caller then
  ///   discards the copy.
  package static func apply(_ records: [LogRecord], to path: String, model: Model) throws -> LogPosition {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = true
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA synchronous = OFF")
      try database.execute(sql: "PRAGMA temp_store = MEMORY")
      SQLFunctions.register(on: database)
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let state: LogPosition
    do {
      state = try queue.inDatabase { try apply(records, $0, model) }
    } catch let damage as MalformedMessage {
      throw damaged(damage.reason)
    } catch let damage as Refusal {
      throw damaged(damage.message)
    }
    try queue.close()
    return state
  }

  private static func apply(_ records: [LogRecord], _ database: Database, _ model: Model) throws -> LogPosition {
    let writer = try writer(Connection(database), model)
    let redo = RedoWriter(writer)
    try database.inTransaction(.immediate) {
      for record in records { try redo.apply(LogEntry(binary: record.body)) }
      try invariant(!redo.isInBatch, "the records of a log end with a complete entry")
      try writer.fullText.updateIfDue(head: writer.revision)
      try LogMark.clear(database)
      return .commit
    }
    return LogPosition(revision: writer.revision, fingerprint: writer.fingerprint)
  }

  private static func damaged(_ cause: String) -> StoreFailure {
    StoreFailure(
      .corrupt, "the commits of the log can't be applied to a copy of the store", cause: cause,
      advice: "Stop stickiesd, keep a copy of all files, and run stickiesd check.")
  }

  /// The writer of the copy. It plans nothing, so the limits of plans do not matter, and no id is drawn.
  private static func writer(_ connection: Connection, _ model: Model) throws -> StoreWriter {
    let options = SQLiteStore.Options()
    let log = Logger(label: "copy") { _ in SwiftLogNoOpLogHandler() }
    return try StoreWriter(
      connection, layout: StoreVersions.layout(connection.database, model: model), wordLimit: options.wordLimit,
      sliceObjects: options.sliceObjects, keyframeInterval: options.keyframeInterval, undoLimits: options.undoLimits,
      reporter: StoreReporter(model: model, log: log, options: options), names: ShownNames(), random: options.random)
  }
}
