// Tests: MigrationFailureTests.swift
import Foundation
import GRDB
import GraphModel
import GraphStore

/// A copy of a store's file, page by page, including the WAL.
enum MigrationCopy {
  static let suffixes = ["", "-wal", "-shm", "-journal"]

  /// Makes the copy, which gets its name only when it is complete, on disk and verified.
  static func make(of path: String, at copy: String, verify: (_ draft: String) throws -> Void = { _ in }) throws {
    let draft = copy + ".new"
    for suffix in suffixes { unlink(draft + suffix) }
    do {
      let source = try DatabaseQueue(path: path)
      defer { try? source.close() }
      let target = try DatabaseQueue(path: draft)
      try target.inDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
      try source.backup(to: target)
      try target.close()
      // Without a WAL, the copy is a single file that can be read anywhere; a reader of a file in WAL mode would
      // leave a WAL and its index beside it.
      let whole = try DatabaseQueue(path: draft)
      try whole.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
      try whole.close()
      try verify(draft)
      for suffix in suffixes.dropFirst() { unlink(draft + suffix) }
    } catch {
      for suffix in suffixes { unlink(draft + suffix) }
      throw error
    }
    guard rename(draft, copy) == 0 else { throw StoreFiles.failure("\(copy) can't be created", errno) }
    chmod(copy, 0o600)
    try StoreFiles.synchronize(directory: URL(fileURLWithPath: copy).deletingLastPathComponent().path)
  }
}
