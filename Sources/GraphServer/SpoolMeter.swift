// Tests: UserBudgetTests.swift
import GraphModel
import Synchronization

/// Counts the bytes in the temporary files of each user: unread answers, and rows of batches.
final class SpoolMeter: Sendable {
  private let limit: Int
  /// The bytes of each user that has some; guarded by its mutex, because readers' threads write the files.
  private let bytes = Mutex([String: Int]())

  init(limit: Int) { self.limit = limit }

  fileprivate func add(_ count: Int, of user: String) throws(Refusal) {
    let fits = bytes.withLock { bytes in
      let total = bytes[user, default: 0] + count
      guard total <= limit else { return false }
      bytes[user] = total
      return true
    }
    if !fits {
      throw Refusal(
        .limit,
        "a user's unread answers and rows have at most \(limit) bytes on the server's disk: read or cancel some of "
          + "yours, or split the batch")
    }
  }

  fileprivate func remove(_ count: Int, of user: String) {
    bytes.withLock { bytes in
      let total = bytes[user, default: 0] - count
      assert(total >= 0, "only counted bytes are removed")
      bytes[user] = total == 0 ? nil : total
    }
  }

  /// The bytes of a user.
  func bytes(of user: String) -> Int { bytes.withLock { $0[user, default: 0] } }
}

/// The share of one temporary file in its user's limit. The file has the only reference, and frees it.
final class SpoolAllowance: Sendable {
  private let meter: SpoolMeter
  private let user: String
  /// Guarded by its mutex; a file is written by one thread at a time, and freed by another.
  private let counted = Mutex(0)

  init(_ meter: SpoolMeter, user: String) { (self.meter, self.user) = (meter, user) }

  /// Counts bytes that are about to be written.
  /// - Throws: `Refusal(.limit)` if the user has no room for them.
  func add(_ count: Int) throws(Refusal) {
    try meter.add(count, of: user)
    counted.withLock { $0 += count }
  }

  deinit { meter.remove(counted.withLock { $0 }, of: user) }
}
