// Tests: WriterThreadTests.swift
import Foundation
import FreedMemory
import GraphHub
import GraphModel
import Synchronization

/// The thread that waits for the disk: it makes prepared commits durable while the writer prepares the next ones.
///
/// The groups that were prepared during a sync share the next one. The sessions' limits on outstanding requests bound
/// the mailbox.
final class FinishingThread: Sendable {
  /// The requests of a group, and what makes it durable.
  typealias Group = (tickets: [StoreRequestID], prepared: Result<PreparedCommits, any Error>)

  private struct Mailbox {
    var groups = [Group]()
    var isStopping = false
    /// Whether the thread waits on the semaphore.
    var isIdle = false
  }

  private let mailbox = Mutex(Mailbox())
  private let wake = DispatchSemaphore(value: 0)
  private let stopped = DispatchSemaphore(value: 0)

  /// The number of changes from which a commit leaves more freed memory than the next commits need.
  fileprivate static let largeCommit = 10_000
  /// The idle time after such a commit, at whose end the freed memory is returned to the system.
  private static let quietTime = DispatchTimeInterval.seconds(1)

  /// - Parameter onResult: called on this thread with the results, in the order of the groups.
  /// - Throws: `StoreFailure(.noThreads)`.
  func start(onResult: @escaping @Sendable (HubEvent) -> Void) throws {
    try ServerThread.start("commit-log") { [self] in
      run(onResult)
      stopped.signal()
    }
  }

  func enqueue(_ group: Group) { change { $0.groups.append(group) } }

  /// Finishes the groups in the mailbox, then ends; blocks until then. The caller adds no group after this call.
  func stop() {
    change { $0.isStopping = true }
    stopped.wait()
  }

  private func change(_ body: (inout Mailbox) -> Void) {
    let mustWake = mailbox.withLock { mailbox in
      body(&mailbox)
      defer { mailbox.isIdle = false }
      return mailbox.isIdle
    }
    if mustWake { wake.signal() }
  }

  private func run(_ onResult: (HubEvent) -> Void) {
    var leftFreedMemory = false
    while true {
      let (groups, isStopping) = mailbox.withLock { mailbox in
        defer { mailbox.groups.removeAll(keepingCapacity: true) }
        mailbox.isIdle = mailbox.groups.isEmpty
        return (mailbox.groups, mailbox.isStopping)
      }
      if groups.isEmpty {
        if isStopping { return }
        guard leftFreedMemory else { wake.wait(); continue }
        guard wake.wait(timeout: .now() + Self.quietTime) == .timedOut else { continue }
        releaseFreedMemory()
        leftFreedMemory = false
        wake.wait()
        continue
      }
      for event in Self.events(of: groups) {
        if case .committed(let results) = event, results.contains(where: \.result.isLarge) { leftFreedMemory = true }
        onResult(event)
      }
    }
  }

  /// Finishes groups. The results of those that succeed one after the other are one event.
  private static func events(of groups: [Group]) -> [HubEvent] {
    var events = [HubEvent]()
    var results = [(ticket: StoreRequestID, result: WriteResult)]()
    for group in groups {
      switch finish(group) {
      case .committed(let more): results += more
      case let failure:
        if !results.isEmpty { events.append(.committed(results)) }
        results = []
        events.append(failure)
      }
    }
    if !results.isEmpty { events.append(.committed(results)) }
    return events
  }

  /// Makes a group durable.
  /// - Returns: `committed` or `commitFailed`.
  static func finish(_ group: Group) -> HubEvent {
    do {
      let results = try group.prepared.get().finish()
      try invariant(results.count == group.tickets.count, "the store answers each request of a batch")
      return .committed(zip(group.tickets, results).map { (ticket: $0, result: $1) })
    } catch {
      let failure =
        error as? StoreFailure
        ?? StoreFailure(.inputOutput, "the store failed", cause: "\(error)", advice: "Look at the log.")
      return .commitFailed(group.tickets, failure)
    }
  }
}

extension WriteResult {
  fileprivate var isLarge: Bool {
    guard let record else { return false }
    return record.changes.count >= FinishingThread.largeCommit
  }
}
