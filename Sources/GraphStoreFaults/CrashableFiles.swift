// Tests: DurabilityTests.swift, MigrationFailureTests.swift
import Foundation
import GraphModel
import Synchronization

/// Files that can lose unsynced writes: a VFS over SQLite's default one, for tests and simulations.
///
/// It intercepts every write, truncation and sync of SQLite below the watched folders, and records the bytes that
/// each write replaced until the file is synced. `recover` restores the durable state, as after a power failure.
/// Files outside the watched folders are not affected. No product contains this target.
public enum CrashableFiles {
  /// A fault to inject below a watched folder.
  public enum Fault: Sendable {
    /// Writes and syncs fail: the disk has no space.
    case full
    /// The given number of writes and syncs succeed, then the disk is full.
    case fullAfter(operations: Int)
    /// Writes and syncs fail: the disk is broken.
    case inputOutput
    /// Writes and syncs fail: the user has no permission to write.
    case readOnly
    /// The given number of writes and syncs succeed; at the next one the power fails.
    case powerCutAfter(operations: Int)
    /// Writes succeed and syncs don't.
    case notSynchronized
    /// Writes and syncs, or syncs alone, fail with a system error.
    case system(error: Int32, atSyncOnly: Bool)
    /// The file system supports no locks.
    case cannotLock
    /// The next unlock of a read mark that was locked exclusively fails; later unlocks succeed.
    case cannotUnlockOnce
    /// Unlocks of read marks that were locked exclusively fail.
    case cannotUnlock
    /// The given number of attempts to lock the log for writing fail, as when `fcntl` returns EAGAIN or ENOLCK.
    case cannotLockForWriting(attempts: Int)
  }

  struct Folder {
    var unsynced = [String: [UndoEntry]]()
    /// Connections of an earlier generation can't write.
    var generation = 0
    /// Whether the power is off; then no file can be opened before `recover`.
    var isOff = false
    var fault: Fault?
    var syncs = 0

    mutating func cutPower() {
      generation += 1
      (isOff, fault) = (true, nil)
    }
  }

  /// The bytes that a write or a truncation replaced.
  struct UndoEntry {
    let offset: Int64
    /// Shorter than the write at the end of the file.
    let old: [UInt8]
    /// The file's size before the write.
    let size: Int64
  }

  static let folders = Mutex<[String: Folder]>([:])
  private static let installed = Mutex(false)

  /// Watches all files below `path`. The first call makes the layer SQLite's default VFS.
  public static func watch(_ path: String) {
    installed.withLock { isInstalled in
      if !isInstalled { FaultInjectionVFS.install() }
      isInstalled = true
    }
    folders.withLock { $0[path] = $0[path] ?? Folder() }
  }

  /// Stops watching the folder; its files stay as they are.
  public static func unwatch(_ path: String) { folders.withLock { $0[path] = nil } }

  /// Simulates a power failure: open connections can no longer write. Close them, then call `recover`.
  public static func crash(_ path: String) {
    folders.withLock { $0.modifyIfPresent(path) { $0.generation += 1 } }
  }

  /// Simulates a power failure in the middle of an operation. Open connections can't write, and no file can be
  /// opened.
  public static func cutPower(_ path: String) {
    folders.withLock { $0.modifyIfPresent(path) { $0.cutPower() } }
  }

  /// Whether the power was cut and `recover` has not been called since.
  public static func isOff(_ path: String) -> Bool { folders.withLock { $0[path]?.isOff == true } }

  /// Restores the durable state of the files; call it after the old connections are closed.
  public static func recover(_ path: String) {
    let lost = folders.withLock { folders in
      var lost = [String: [UndoEntry]]()
      folders.modifyIfPresent(path) { folder in
        lost = folder.unsynced
        (folder.unsynced, folder.isOff) = ([:], false)
      }
      return lost
    }
    for (file, entries) in lost.sorted(by: { $0.key < $1.key }) {
      let descriptor = open(file, O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      for entry in entries.reversed() {
        if !entry.old.isEmpty { _ = pwrite(descriptor, entry.old, entry.old.count, off_t(entry.offset)) }
        ftruncate(descriptor, off_t(entry.size))
      }
      close(descriptor)
    }
    // The WAL index is shared memory, which does not survive.
    for name in names(in: path) where name.hasSuffix("-shm") { unlink(path + "/" + name) }
  }

  /// The names of the files in a folder; empty if the test has removed it.
  private static func names(in folder: String) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      return []
    }
  }

  /// Makes writes below the folder fail; nil ends the fault.
  public static func fail(_ path: String, with fault: Fault?) {
    folders.withLock { $0.modifyIfPresent(path) { $0.fault = fault } }
  }

  /// The number of syncs below the folder.
  public static func syncs(_ path: String) -> Int {
    folders.withLock { if let folder = $0[path] { folder.syncs } else { 0 } }
  }

  /// The watched folder that contains the file, and its generation.
  static func folder(of file: String) -> (path: String, generation: Int)? {
    folders.withLock { folders in
      for (path, folder) in folders where file.hasPrefix(path + "/") { return (path, folder.generation) }
      return nil
    }
  }
}

extension Dictionary {
  /// Changes a key's value in place, if there is one.
  mutating func modifyIfPresent(_ key: Key, _ body: (inout Value) -> Void) {
    if let index = index(forKey: key) { body(&values[index]) }
  }
}
