import Foundation
import GRDBSQLite
import GraphModel

#if canImport(Glibc)
  import Glibc
#endif

/// A store on a file system that is mounted for reading only: a snapshot, a disc, a backup's mount. SQLite makes a log
/// and its index before it reads a store, which it can't do there; and a lock can't be taken there. Neither is needed: no
/// program of this machine writes such a file, and SQLite reads it as it is when it is said to be immutable.
enum ReadOnlyMedium {
  /// ST_RDONLY, a case of an enumeration of C's.
  private static let readOnlyFlag: UInt = 1

  /// Whether a file lies on one.
  static func holds(_ path: String) -> Bool {
    var status = statvfs()
    return statvfs(StoreFiles.folder(of: path), &status) == 0 && UInt(status.f_flag) & readOnlyFlag != 0
  }

  /// The name under which SQLite opens a database for reading, wherever it lies.
  /// - Throws: `StoreFailure(.readOnly)` when commits are in the log alone: SQLite would leave them out.
  static func name(forReading path: String) throws -> String {
    guard holds(path) else { return path }
    guard !StoreFiles.hasContent(path + "-wal") else {
      throw refusal(
        path, cause: "its newest commits are in \(path)-wal, which can be read only where files can be made")
    }
    guard sqlite3_compileoption_used("USE_URI") != 0 else {
      throw refusal(path, cause: "this SQLite knows no immutable files")
    }
    var allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{7F}"))
    allowed.insert(charactersIn: "/-._~")
    guard let encoded = path.addingPercentEncoding(withAllowedCharacters: allowed) else {
      throw refusal(path, cause: "its path is no text")
    }
    return "file:" + encoded + "?immutable=1"
  }

  static func refusal(_ path: String, cause: String) -> StoreFailure {
    StoreFailure(
      .readOnly, "the store \(path) is on a file system that is mounted for reading only", cause: cause,
      advice: "Copy all files of \(StoreFiles.folder(of: path)) to a folder that can be written, and give that as "
        + "--data.")
  }
}
