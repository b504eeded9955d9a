import Foundation
import GRDB
import GraphModel

/// A copy of a store's file as it is, the log included: pages, not statements.
enum MigrationCopy {
  static let suffixes = ["", "-wal", "-shm", "-journal"]

  /// The copy has its name only when it is whole and on disk.
  static func make(of path: String, at copy: String) throws {
    let draft = copy + ".new"
    for suffix in suffixes { unlink(draft + suffix) }
    do {
      let source = try DatabaseQueue(path: path)
      defer { try? source.close() }
      let target = try DatabaseQueue(path: draft)
      try target.inDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
      try source.backup(to: target)
      try target.close()
    } catch {
      for suffix in suffixes { unlink(draft + suffix) }
      throw error
    }
    guard rename(draft, copy) == 0 else { throw StoreFiles.failure("\(copy) can't be made", errno) }
    chmod(copy, 0o600)
    try StoreFiles.synchronize(directory: URL(fileURLWithPath: copy).deletingLastPathComponent().path)
  }
}
