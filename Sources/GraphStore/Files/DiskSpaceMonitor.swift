// Tests: LowDiskSpaceTests.swift
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The rules for a disk with little free space.
///
/// The WAL is checkpointed when it has `checkpointPages`, which may be more than a small disk holds. The WAL would
/// then fill the disk, and the checkpoint, after which the WAL can restart, would have no space. So two things change
/// while the free space is below `lowBytes`. The WAL is checkpointed when its size reaches a quarter of its size plus
/// the free space. And before each COMMIT the database file is extended to the size that the checkpoint will need, so
/// the space of the checkpoint is taken before that of the WAL. A commit for which both do not fit is refused, and a
/// full disk always leaves a WAL that can be checkpointed.
struct DiskSpaceMonitor {
  /// Free space below this is low.
  static let lowBytes = 64 << 20
  /// The minimum WAL size for a checkpoint, because a checkpoint waits for two syncs.
  static let minimumPages = 32
  /// The minimum interval between two queries while the free space is above twice `lowBytes`.
  private static let queryIntervalNanoseconds: Int64 = 100_000_000

  private var free = 0
  private var lastQuery: Int64?
  /// The WAL size, in pages, at which it is checkpointed now.
  private(set) var checkpointPages: Int

  init(checkpointPages: Int) { self.checkpointPages = checkpointPages }

  var isLow: Bool { free < Self.lowBytes }

  /// Updates the free space.
  /// - Parameters:
  ///   - now: the time on the monotonic clock.
  ///   - free: queries the disk.
  mutating func updateFreeSpace(now: Int64, _ free: () -> Int?) {
    if let lastQuery, self.free > 2 * Self.lowBytes, now - lastQuery < Self.queryIntervalNanoseconds { return }
    // A disk that does not report its free space counts as one with enough.
    self.free = if let free = free() { free } else { .max }
    lastQuery = now
  }

  /// - Returns: the new WAL size, in pages, for a checkpoint; nil to keep the current one.
  mutating func newThreshold(log: Int, pageSize: Int, usual: Int) -> Int? {
    assert(log >= 0 && pageSize > 0)
    let quarter = (free < Int.max - log ? (free + log) / 4 : Int.max) / pageSize
    let limit = isLow ? max(min(Self.minimumPages, usual), min(usual, quarter)) : usual
    // Ignores small differences, which would change the limit with each commit.
    guard abs(limit - checkpointPages) > checkpointPages / 8 || (limit == usual && limit != checkpointPages) else {
      return nil
    }
    checkpointPages = limit
    return limit
  }

  /// The bytes that this user may still write on the disk of a folder; nil if the system does not report them.
  static func freeBytes(of directory: String) -> Int? {
    var status = statvfs()
    guard statvfs(directory, &status) == 0 else { return nil }
    return Int(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
  }
}
