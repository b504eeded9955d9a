// Tests: PrincipalTests.swift
import GRDB
import GraphModel

/// The erasure of shown names.
extension SQLiteStore {
  /// Forgets the shown names of principals: history shows their ids instead, and its chain stays as it is. Only the
  /// caller of `commit` may call it, between commits. Behind a commit log, a power failure may bring a name back, so a
  /// server repeats it at its start.
  /// - Parameter principals: their ids; those without a name have no effect.
  public func forgetNames(of principals: [String]) throws {
    try turn.withLock { _ in
      guard !health.isOutcomeUnknown else {
        throw StoreFailure(.inputOutput, "names can't be erased while the store is in doubt", advice: "Try again.")
      }
      try files.verify()
      do {
        try pool.writeWithoutTransaction { database in
          let writer = try self.writer ?? makeWriter(database)
          self.writer = writer
          try commitGathered(writer)
          guard try writer.connection.hasTable("_name") else { return }
          // The file must not keep the bytes.
          try database.execute(sql: "PRAGMA secure_delete = ON")
          defer { try? database.execute(sql: "PRAGMA secure_delete = OFF") }
          try inTransaction(writer) { try names.forget(principals, writer.connection) }
        }
      } catch let error as DatabaseError {
        throw SQLiteFailure.of(error, path: path)
      }
    }
  }
}
