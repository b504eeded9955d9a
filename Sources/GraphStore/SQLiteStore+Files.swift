import Foundation
import GraphModel
import Logging

#if canImport(Glibc)
  import Glibc
#endif

/// What the store says of its own files while it is open, and how it leaves names that no longer mean them.
extension SQLiteStore {
  /// Connections that the store may have open at once, the writer's included.
  public var maximumConnections: Int { 1 + options.maximumReaders + options.maximumPastReaders }

  /// What a call of the system failed with, and what a person can do about it.
  public static func systemFailure(_ sentence: String, _ code: Int32) -> StoreFailure {
    StoreFiles.failure(sentence, code)
  }

  /// Compares the names of the store's files with the files that it has open, as each commit does. From any thread.
  /// - Returns: why commits are refused; nil when all names lead to the open files.
  public func fileFailure() -> StoreFailure? {
    do {
      try files.verify()
      return nil
    } catch {
      return error as? StoreFailure
    }
  }

  /// Before the last connection closes, which deletes the log by its name. Beside the database, the next start would read
  /// that file as the store's own log.
  func putForeignLogAside() {
    guard files.hasForeignLog else { return }
    let log = path + "-wal"
    guard rename(log, log + ".orphan") == 0 else {
      return self.log.critical(
        "a file that is not the store's lies under the name of its log; move it away before the next start",
        metadata: ["file": "\(log)", "cause": "\(String(cString: strerror(errno)))"])
    }
    self.log.warning(
      "a file that is not the store's lay under the name of its log; it was put aside",
      metadata: ["file": "\(log).orphan"])
  }
}
