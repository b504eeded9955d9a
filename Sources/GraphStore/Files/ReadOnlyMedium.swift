import Foundation
import GRDBSQLite
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Access to a store on a read-only file system: a snapshot, a disc, or a backup's mount.
///
/// SQLite creates a WAL and its index before it reads a store, and it takes locks. Neither works there, and neither
/// is needed: no program of this machine writes such a file, and SQLite reads it without both if it is opened as
/// immutable.
package enum ReadOnlyMedium {
  /// ST_RDONLY, which is a C enumeration case.
  private static let readOnlyFlag: UInt = 1

  /// Whether a file lies on a read-only file system.
  package static func holds(_ path: String) -> Bool {
    var status = statvfs()
    return statvfs(StoreFiles.folder(of: path), &status) == 0 && UInt(status.f_flag) & readOnlyFlag != 0
  }

  /// The name under which SQLite opens a database for reading, on any file system.
  /// - Throws: `StoreFailure(.readOnly)` if the WAL has commits that are not checkpointed, which SQLite would ignore.
  package static func name(forReading path: String) throws -> String {
    guard holds(path) else { return path }
    guard !StoreFiles.hasContent(path + "-wal") else {
      throw refusal(
        path, cause: "its newest commits are in \(path)-wal, which can only be read on a writable file system")
    }
    guard let name = immutableName(of: path) else {
      throw refusal(path, cause: "this SQLite does not support immutable files, or its path is not valid text")
    }
    return name
  }

  /// The name under which SQLite opens a database that no program changes, without a lock, a WAL or its index; nil if
  /// it can't.
  package static func immutableName(of path: String) -> String? {
    guard sqlite3_compileoption_used("USE_URI") != 0 else { return nil }
    var allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{7F}"))
    allowed.insert(charactersIn: "/-._~")
    return path.addingPercentEncoding(withAllowedCharacters: allowed).map { "file:" + $0 + "?immutable=1" }
  }

  package static func refusal(_ path: String, cause: String) -> StoreFailure {
    StoreFailure(
      .readOnly, "the store \(path) is on a read-only file system", cause: cause,
      advice: "Copy all files of \(StoreFiles.folder(of: path)) to a writable folder, and give that folder as "
        + "--data.")
  }
}
