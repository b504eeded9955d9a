// Tests: PreparedCommitsTests.swift, RemovedLogTests.swift
import Foundation
import GraphLog
import GraphModel

/// The groups of commits in the open transaction whose entries are not durable in the commit log yet.
///
/// The writer adds a group once its rows are written, and then prepares the next one. Meanwhile another thread writes
/// all waiting groups to the log, with one sync. A holder of the store's turn does so itself before it commits the
/// transaction, because SQLite must not show a commit that is not durable.
///
/// If the log fails, the groups wait for the holder of the turn, which commits them in SQLite.
///
/// `@unchecked Sendable`: `condition` guards the state, and the outcome of each group.
final class UnsyncedGroups: @unchecked Sendable {
  /// The outcome of a group.
  enum Outcome {
    case durable
    /// Neither the log nor SQLite can be written. The commits may still be restored later.
    case failed(any Error)
  }

  /// A group of commits. `@unchecked Sendable`: the condition of its owner guards `outcome`.
  final class Group: @unchecked Sendable {
    let entries: [LogEntry]
    let results: [WriteResult]
    fileprivate let records: [LogRecord]
    fileprivate let log: any CommitLog
    /// Nil while the group waits.
    fileprivate var outcome: Outcome?

    init(_ entries: [LogEntry], _ results: [WriteResult], _ log: any CommitLog) {
      (self.entries, self.results, self.log) = (entries, results, log)
      records = entries.map { $0.record }
    }

    /// The size of the records' bodies.
    var bytes: Int { records.reduce(0) { $0 + $1.body.count } }
  }

  private let condition = NSCondition()
  /// In the order of their revisions.
  private var waiting = [Group]()
  /// Whether a thread writes to the log.
  private var isWriting = false
  /// The error after which the waiting groups must be committed in SQLite.
  private var failure: (any Error)?
  /// The age, in nanoseconds, from which the names of the log's files are compared again.
  private let comparedNanoseconds: Int64
  private let clock: @Sendable () -> Int64
  /// The time of the last comparison on the monotonic clock; nil before the first one. It has a time of its own: a
  /// comparison of the store's files does not concern the log's. Guarded by `isWriting`.
  private var lastComparison: Int64?

  init(comparedNanoseconds: Int64, clock: @escaping @Sendable () -> Int64) {
    (self.comparedNanoseconds, self.clock) = (comparedNanoseconds, clock)
  }

  func add(_ group: Group) { condition.withLock { waiting.append(group) } }

  func outcome(of group: Group) -> Outcome? { condition.withLock { group.outcome } }

  /// Makes all waiting groups durable in the log; may be called on any thread.
  /// - Parameters:
  ///   - group: returns as soon as this group has an outcome; nil for all groups.
  ///   - acknowledge: called with the number of groups that have become durable, before they have their outcomes.
  /// - Returns: nil if all groups are durable, or `group` has its outcome. Otherwise the failure of the log; no other
  ///   group is written before `resolve`.
  func write(_ group: Group? = nil, acknowledge: (Int) -> Void) -> (any Error)? {
    let (groups, earlier) = begin(group)
    guard let log = groups.first?.log else { return earlier }
    var newFailure: (any Error)?
    do {
      let records = groups.flatMap(\.records)
      if !records.isEmpty {
        try log.append(records)
        // If the next start does not find the log, its entries are lost. A sync may have taken long.
        try verifyIfDue(log)
      }
      acknowledge(groups.count)
    } catch {
      newFailure = error
    }
    condition.withLock {
      (isWriting, failure) = (false, newFailure)
      if newFailure == nil {
        for group in groups { group.outcome = .durable }
        waiting.removeFirst(groups.count)
      }
      condition.broadcast()
    }
    return newFailure
  }

  /// Waits for the thread that writes, and takes its place if a group waits.
  private func begin(_ group: Group?) -> (groups: [Group], failure: (any Error)?) {
    condition.withLock {
      while isWriting { condition.wait() }
      if group?.outcome != nil { return ([], nil) }
      if failure == nil, !waiting.isEmpty { isWriting = true }
      return (isWriting ? waiting : [], failure)
    }
  }

  private func verifyIfDue(_ log: any CommitLog) throws {
    let now = clock()
    if let lastComparison, now - lastComparison < comparedNanoseconds { return }
    try log.verify()
    lastComparison = now
  }

  /// Compares the names of the log's files, unless a group waits. Only the holder of the store's turn may call it, so
  /// no group is added meanwhile.
  /// - Returns: the reason why the log must begin again.
  func verify(_ log: any CommitLog) -> (any Error)? {
    guard condition.withLock({ !isWriting && waiting.isEmpty }) else { return nil }
    do {
      try verifyIfDue(log)
      return nil
    } catch {
      return error
    }
  }

  /// Ends all waiting groups. Only the holder of the store's turn may call it, after `write` has left no group that
  /// another thread would write.
  func resolve(_ outcome: Outcome) {
    condition.withLock {
      assert(!isWriting, "the groups that are written are still needed")
      for group in waiting { group.outcome = outcome }
      (waiting, failure) = ([], nil)
    }
  }
}
