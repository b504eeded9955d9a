// Tests: MovedFilesTests.swift
import Foundation
import GraphModel
import Logging

#if canImport(Glibc)
  import Glibc
#endif

/// Checks of the store's own files while it is open, and the handling of names that refer to other files.
extension SQLiteStore {
  /// The maximum number of connections that the store opens, including the writer's.
  public var maximumConnections: Int { 1 + options.maximumReaders + options.maximumPastReaders }

  /// The failure for an error of a system call, with advice.
  public static func systemFailure(_ sentence: String, _ code: Int32) -> StoreFailure {
    StoreFiles.failure(sentence, code)
  }

  /// Checks that the names of the store's files still refer to the open files, as each commit does. May be called
  /// from any thread.
  /// - Returns: the reason why commits are refused; nil if all names refer to the open files.
  public func fileFailure() -> StoreFailure? {
    do {
      try files.verify()
      return nil
    } catch {
      return error as? StoreFailure
    }
  }

  /// Renames a foreign file under the WAL's name, before the last connection closes and deletes it by name.
  ///
  /// Otherwise the next start would read that file as the store's own WAL.
  func renameForeignLog() {
    guard files.hasForeignLog else { return }
    let log = path + "-wal"
    guard rename(log, log + ".orphan") == 0 else {
      return self.log.critical(
        "a foreign file has the name of the store's log; move it away before the next start",
        metadata: ["file": "\(log)", "cause": "\(String(cString: strerror(errno)))"])
    }
    self.log.warning(
      "a foreign file had the name of the store's log; it was renamed",
      metadata: ["file": "\(log).orphan"])
  }
}
