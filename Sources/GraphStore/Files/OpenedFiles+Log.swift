// Tests: CutLogTests.swift, LongReadTests.swift
import GRDB
import GraphLog
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The comparison of the WAL with SQLite's index of it (`WriteAheadLogIndex`).
///
/// If another program cuts or overwrites the WAL in place, SQLite does not notice: it continues to append behind the
/// missing frames, and its next checkpoint copies zeros over sound pages of the database. The database file without
/// that checkpoint is sound, and the commit log has the commits after it.
extension OpenedFiles {
  /// The number of comparisons before the result counts as unknown: another program may be making a checkpoint.
  private static let maximumComparisons = 5

  /// Reads SQLite's index of the WAL from now on.
  ///
  /// The memory is mapped until the last connection of the process closes, or `forgetIndex` is called before.
  func observeIndex(_ database: Database) {
    let address = DatabaseFileHandle(database)?.index.map { UInt(bitPattern: $0) }
    state.withLock { $0.indexAddress = address }
  }

  /// Stops reading the index. Call it before the last connection closes.
  func forgetIndex() { state.withLock { $0.indexAddress = nil } }

  /// Compares the WAL before a checkpoint, with the content of the frames that it would copy; and the size of the
  /// database file, which it restores, but not the pages.
  ///
  /// Each frame is compared at least once before it is copied. If a read prevents the end of a checkpoint, the next one
  /// has to copy the frames that this one has compared: reading them again would take longer with each commit.
  /// - Parameter completely: whether frames are compared again that an earlier comparison has found sound.
  /// - Throws: `StoreFailure(.moved)`; the checkpoint must not be made, also not by the last connection that closes.
  func verifyBeforeCheckpoint(completely: Bool = false) throws {
    try verifySize()
    let sound = completely ? nil : state.withLock { $0.soundFrames }
    try verifyLog(sound.map { .uncopiedExcept($0) } ?? .uncopied)
  }

  /// The damage of open files that a checkpoint would make permanent, or the reason why they can't be compared; nil if
  /// there is none.
  var damage: (any Error)? {
    do {
      try verifyBeforeCheckpoint(completely: true)
      return nil
    } catch {
      return error
    }
  }

  /// Compares the WAL with SQLite's index of it. Damage that was found once remains: SQLite may have appended to it.
  /// - Parameter frames: the frames whose content is compared, too.
  func verifyLog(_ frames: WriteAheadLogIndex.ComparedFrames = .none) throws {
    if let known = state.withLock({ $0.logDamage }) { throw known }
    for _ in 0..<Self.maximumComparisons {
      guard let index = presentIndex, let cause = try differenceOfLog(from: index, in: frames) else { return }
      // Otherwise a commit or a checkpoint came between.
      if presentIndex == index {
        let failure = damageOfLog(cause)
        state.withLock { ($0.lastSuccess, $0.logDamage) = (0, failure) }
        throw failure
      }
    }
  }

  private var presentIndex: WriteAheadLogIndex? {
    state.withLock { state in
      state.indexAddress.flatMap { UnsafeRawPointer(bitPattern: $0) }.flatMap { WriteAheadLogIndex($0) }
    }
  }

  /// Reads the file under the WAL's name. SQLite has no locks on it that closing a descriptor would drop.
  private func differenceOfLog(
    from index: WriteAheadLogIndex, in frames: WriteAheadLogIndex.ComparedFrames
  ) throws -> String? {
    guard let entry = state.withLock({ $0.entries.first { $0.role == .log } }) else { return nil }
    // O_NONBLOCK: opening a pipe of that name must not block.
    let descriptor = open(entry.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    // A missing file is found by its name. Without descriptors nothing is known about the file.
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // SQLite still has its own file if another one has the name.
    guard FileIdentity(descriptor: descriptor) == entry.identity else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw StoreFiles.failure("\(entry.path) can't be read", errno) }
    let difference = try index.difference(fromFileOf: Int(status.st_size), in: frames) { range in
      willReadLog?(range.count)
      return try WriteAheadLogFile.bytes(of: descriptor, range, entry.path)
    }
    if difference == nil, frames != .none { state.withLock { $0.soundFrames = index.uncopiedFrames } }
    return difference
  }

  private func damageOfLog(_ cause: String) -> StoreFailure {
    StoreFailure(
      .moved, "\(path)-wal was cut short or overwritten while stickiesd had it open", cause: cause,
      advice: "Commits are refused: keep a copy of all files, then stop stickiesd and start it again. It leaves the "
        + "database as it is, and the start applies the newest commits from the commit log; if it is refused, restore "
        + "a backup.")
  }
}
