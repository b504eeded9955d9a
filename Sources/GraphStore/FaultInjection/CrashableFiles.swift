import Foundation
import GRDBSQLite
import Synchronization

/// Files that can lose what was not synchronized: a layer over SQLite's own file system, for tests and simulations.
///
/// It sees every write, truncation and sync that SQLite makes below the watched folders, and remembers what each write
/// replaced until the file is synchronized. `crash` turns the files back to what was durable, as a power cut would.
/// Nothing outside the watched folders is looked at, and no product installs it.
public enum CrashableFiles {
  /// What can be made to fail below a watched folder.
  public enum Fault: Sendable {
    /// Writes and syncs fail: the disk has no room.
    case full
    /// So many more writes and syncs succeed.
    case fullAfter(operations: Int)
    /// Writes and syncs fail: the disk is broken.
    case inputOutput
    /// Writes and syncs fail: nobody may write there.
    case readOnly
    /// So many more writes and syncs succeed; the next one meets a machine without power.
    case powerCutAfter(operations: Int)
    /// Writes succeed and syncs don't.
    case notSynchronized
    /// Writes and syncs, or syncs alone, fail with an error of the system.
    case system(error: Int32, atSyncOnly: Bool)
    /// The file system knows no locks.
    case cannotLock
    /// The next unlock of a reader's mark that was locked to be moved fails; those behind it succeed.
    case cannotUnlockOnce
  }

  struct Folder {
    var unsynced = [String: [UndoEntry]]()
    /// Connections of before the crash can write nothing any more.
    var generation = 0
    /// The power is gone, and nothing is opened before `recover`.
    var isOff = false
    var fault: Fault?
    var syncs = 0

    mutating func cutPower() {
      generation += 1
      (isOff, fault) = (true, nil)
    }
  }

  /// What a write or a truncation replaced.
  struct UndoEntry {
    let offset: Int64
    /// Shorter than the write where the file ended.
    let old: [UInt8]
    /// The file's size before.
    let size: Int64
  }

  static let folders = Mutex<[String: Folder]>([:])
  private static let installed = Mutex(false)

  /// Watches everything below `path`; the layer becomes SQLite's default with the first call.
  public static func watch(_ path: String) {
    installed.withLock { isInstalled in
      if !isInstalled { CrashLayer.install() }
      isInstalled = true
    }
    folders.withLock { $0[path] = $0[path] ?? Folder() }
  }

  /// Looks at the folder no more; its files stay as they are.
  public static func unwatch(_ path: String) { folders.withLock { $0[path] = nil } }

  /// The power goes: connections that are open can write no more. Close them, then call `recover`.
  public static func crash(_ path: String) {
    folders.withLock { $0[path]?.generation += 1 }
  }

  /// The power goes in the middle of whatever runs: it can write no more, and open nothing either.
  public static func cutPower(_ path: String) {
    folders.withLock { $0[path]?.cutPower() }
  }

  /// Whether the power was cut, and `recover` has not been called since.
  public static func isOff(_ path: String) -> Bool { folders.withLock { $0[path]?.isOff ?? false } }

  /// After the dead connections are closed: the files as the disk has them.
  public static func recover(_ path: String) {
    let lost = folders.withLock { folders in
      defer {
        folders[path]?.unsynced = [:]
        folders[path]?.isOff = false
      }
      return folders[path]?.unsynced ?? [:]
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
    // The log's index is memory: it goes with the machine.
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] where name.hasSuffix("-shm") {
      unlink(path + "/" + name)
    }
  }

  /// Makes writes below the folder fail; nil mends it.
  public static func fail(_ path: String, with fault: Fault?) { folders.withLock { $0[path]?.fault = fault } }

  /// How often SQLite has synchronized a file below the folder.
  public static func syncs(_ path: String) -> Int { folders.withLock { $0[path]?.syncs ?? 0 } }

  /// The watched folder that holds the file, and its generation.
  static func folder(of file: String) -> (path: String, generation: Int)? {
    folders.withLock { folders in
      for (path, folder) in folders where file.hasPrefix(path + "/") { return (path, folder.generation) }
      return nil
    }
  }
}
