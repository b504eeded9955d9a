// Tests: StoredModelTests.swift
import Foundation
import GRDB
import GraphModel
import GraphStore

/// The model of a store's files, read before a program decides how to open them.
public enum StoredModel {
  /// The hash of the newest model of a store; nil if the file can't be read as a store. The caller opens the file
  /// anyway, and reports why it can't.
  /// - Parameter path: the path of the database file, of a store or a backup.
  public static func hash(inStoreAt path: String) -> ModelHash? {
    do {
      guard try StoreFiles.kind(of: path, isOnlyRead: true) != .absent else { return nil }
      let bytes = try IdleStore.read(path) { database in
        try Data.fetchOne(database, sql: "SELECT hash FROM _model ORDER BY number DESC LIMIT 1")
      }
      return bytes.flatMap { ModelHash(bytes: Array($0)) }
    } catch {
      return nil
    }
  }
}
