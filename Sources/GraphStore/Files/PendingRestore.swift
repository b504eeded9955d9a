// Tests: OpeningTests.swift, LowDiskSpaceTests.swift, RestoredLogTests.swift
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A restore that was decided but not completed: a checked copy in the directory, under a name that contains a stamp.
///
/// Each program that opens a store completes it first, the daemon at its start included, so that a restore survives any
/// interruption.
package enum PendingRestore {
  private static let mark = ".restoring-"

  /// The name that decides a restore: the next program that opens the directory completes it.
  package static func intent(_ path: String, _ stamp: String) -> String { path + mark + stamp }

  /// The name of the previous store. Its WAL and its commit log have names that begin with it.
  package static func previous(_ path: String, _ stamp: String) -> String { path + ".before-" + stamp }

  /// The stamp of a restore that was decided but not completed.
  private static func unfinished(in directory: String) -> String? {
    let names = StoreFiles.names(in: directory)
    let prefix = StoreFiles.name + mark
    return names.filter { $0.hasPrefix(prefix) }.min().map { String($0.dropFirst(prefix.count)) }
  }

  package static func exists(in directory: String) -> Bool { unfinished(in: directory) != nil }

  /// Completes a restore that was decided. The caller holds the directory's lock.
  /// - Returns: whether there was one.
  @discardableResult
  package static func finish(in directory: String) throws -> Bool {
    guard let stamp = unfinished(in: directory) else { return false }
    let path = directory + "/" + StoreFiles.name
    let old = previous(path, stamp)
    // SQLite recreates the index from the WAL. A reader leaves an empty WAL behind.
    unlink(path + "-shm")
    if access(path + "-wal", F_OK) == 0, !StoreFiles.hasContent(path + "-wal") { unlink(path + "-wal") }
    // The logs before the database: without it, a program would create a new store, which begins a log in the same
    // folder. A database without its logs is refused, or the next run of this function finds it.
    let logs = (StoreFiles.logFolder(ofStoreAt: path), StoreFiles.logFolder(ofStoreAt: old))
    for (name, newName) in [logs] + ["-wal", "-journal", ""].map({ (path + $0, old + $0) })
    where access(name, F_OK) == 0 {
      guard rename(name, newName) == 0 else { throw StoreFiles.failure("\(name) can't be renamed", errno) }
    }
    // Synced before the second rename, because a power failure might preserve only that one.
    try StoreFiles.synchronize(directory: directory)
    removeUnneededLog(ofStoreAt: old)
    guard rename(intent(path, stamp), path) == 0 else { throw StoreFiles.failure("\(path) can't be created", errno) }
    try StoreFiles.synchronize(directory: directory)
    return true
  }

  /// Removes the commit log of a previous store that was closed, and therefore has all commits in its database. The log
  /// has up to 64 MiB, and each restore would leave another one behind.
  ///
  /// Before the rename that completes the restore, so that an interrupted removal is repeated. The log of a store that
  /// can't be read is kept.
  private static func removeUnneededLog(ofStoreAt path: String) {
    let folder = StoreFiles.logFolder(ofStoreAt: path)
    if access(folder, F_OK) == 0, access(path, F_OK) == 0, (try? LogMark.isCleared(inStoreAt: path)) == true {
      for name in StoreFiles.names(in: folder) where name.hasSuffix(".segment") { unlink(folder + "/" + name) }
      // A folder with other files stays.
      rmdir(folder)
    }
    // A read of a store with a WAL leaves its index behind.
    unlink(path + "-shm")
  }
}
