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
      guard try isNeeded(byStoreAt: path) else { return lock }
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

  /// Whether commits of a store may be in its commit log only; false if there is no store. Changes nothing.
  static func isNeeded(byStoreAt path: String) throws -> Bool {
    guard try StoreFiles.kind(of: path, isOnlyRead: true) != .absent else { return false }
    return try read(path) { try LogMark.isSet($0) }
  }

  /// Refuses a store whose write-ahead log has lost commits from its middle. The commit log of a store that needs it has
  /// them: a power failure may leave such a gap.
  static func refuseLoss(ofStoreAt path: String) throws {
    guard try WriteAheadLogFile.loss(beside: path) != nil, try !isNeeded(byStoreAt: path) else { return }
    try WriteAheadLogFile.refuseLoss(beside: path)
  }

  /// The newest model that a store has had.
  static func newestModel(ofStoreAt path: String) throws -> Model {
    try read(path) { database in
      let source = try String.fetchOne(database, sql: "SELECT source FROM _model ORDER BY number DESC LIMIT 1")
      guard let model = source.flatMap({ try? Model(parsing: $0.utf8) }) else {
        throw StoreFailure(
          .corrupt, "the store in \(StoreFiles.folder(of: path)) holds no readable model",
          advice: "Run stickiesd check.")
      }
      return model
    }
  }

  /// A connection that reads leaves an empty WAL and its index behind; one to an immutable file does not. No program
  /// changes the file: the tool has the lock, or the file is a copy.
  private static func name(forReading path: String) throws -> String {
    let hasLogs = ["-wal", "-journal"].contains { StoreFiles.hasContent(path + $0) }
    if !hasLogs, let name = ReadOnlyMedium.immutableName(of: path) { return name }
    return try ReadOnlyMedium.name(forReading: path)
  }

  private static func read<Result>(_ path: String, _ body: (Database) throws -> Result) throws -> Result {
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
}
