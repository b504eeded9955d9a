// Tests: UnappliedLogTests.swift
import GRDB
import GraphModel
import GraphStore

/// Brings a store up to date whose newest commits may be in its commit log only, before a tool works on its file.
///
/// The store does this itself when it is opened, so it is opened and closed.
enum LogRecovery {
  /// The number of recoveries before the tool ends: each one means that a program used the store and was killed between
  /// the recovery before it and the tool's lock.
  private static let maximumRecoveries = 3

  /// Locks the directory of a store that needs no log. Completes a pending restore first.
  ///
  /// The store takes the same lock, so it is released for the recovery, and the mark is read again under the next lock.
  /// - Throws: `StoreFailure`, also if the log can't be applied; `SQLiteStore` describes why.
  static func lock(_ directory: String) throws -> StoreLock {
    let path = directory + "/" + StoreFiles.name
    var recoveries = 0
    while true {
      let lock = try StoreLock(directory: directory)
      if try PendingRestore.finish(in: directory) { _ = try StoreFiles.kind(of: path) }
      guard try LogMark.isSet(inStoreAt: path) else { return lock }
      guard recoveries < maximumRecoveries else {
        throw StoreFailure(
          .inUse, "the data directory \(directory) is used by another program again and again",
          advice: "End that program, and run the command again.")
      }
      recoveries += 1
      let model = try newestModel(ofStoreAt: path)
      lock.release()
      try SQLiteStore(directory: directory, model: model).close()
    }
  }

  /// The newest model that a store has had.
  static func newestModel(ofStoreAt path: String) throws -> Model {
    try IdleStore.read(path) { database in
      let source = try String.fetchOne(database, sql: "SELECT source FROM _model ORDER BY number DESC LIMIT 1")
      guard let model = source.flatMap({ try? Model(parsing: $0.utf8) }) else {
        throw StoreFailure(
          .corrupt, "the store in \(StoreFiles.folder(of: path)) holds no readable model",
          advice: "Run stickiesd check.")
      }
      return model
    }
  }
}
