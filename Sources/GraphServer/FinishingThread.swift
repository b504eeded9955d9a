// Tests: WriterThreadTests.swift
import Foundation
import FreedMemory
import GraphHub
import GraphModel

/// The thread that waits for the disk: it makes prepared commits durable while the writer prepares the next ones.
///
/// The groups that were prepared during a sync share the next one. The sessions' limits on outstanding requests bound
/// the mailbox.
final class FinishingThread: Sendable {
  /// The requests of a group, and the call that makes the group durable.
  typealias Group = (tickets: [StoreRequestID], prepared: Result<PreparedCommits, any Error>)

  private struct Contents {
    var groups = [Group]()
    var isStopping = false
  }

  private let mailbox = ThreadMailbox(Contents())
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

  func enqueue(_ group: Group) { mailbox.change { $0.groups.append(group) } }

  /// Finishes the groups in the mailbox, then ends; blocks until then. The caller adds no group after this call.
  func stop() {
    mailbox.change { $0.isStopping = true }
    stopped.wait()
  }

  private enum WorkItem {
    case groups([Group])
    case end
  }

  private func run(_ onResult: (HubEvent) -> Void) {
    var leftFreedMemory = false
    while true {
      switch mailbox.take(Self.nextItem) {
      case .groups(let groups):
        for event in Self.events(of: groups) {
          if case .committed(let results) = event, results.contains(where: \.result.isLarge) { leftFreedMemory = true }
          onResult(event)
        }
      case .end: return
      case nil where leftFreedMemory:
        if !mailbox.wait(atMost: Self.quietTime) {
          releaseFreedMemory()
          leftFreedMemory = false
        }
      case nil: mailbox.wait()
      }
    }
  }

  private static func nextItem(of mailbox: inout Contents) -> WorkItem? {
    guard !mailbox.groups.isEmpty else { return mailbox.isStopping ? .end : nil }
    defer { mailbox.groups.removeAll(keepingCapacity: true) }
    return .groups(mailbox.groups)
  }

  /// Finishes groups. The results of consecutive successful groups are one event.
  private static func events(of groups: [Group]) -> [HubEvent] {
    var events = [HubEvent]()
    var results = [(ticket: StoreRequestID, result: WriteResult)]()
    for group in groups {
      switch finish(group) {
      // Mostly there is one group, whose results are not copied.
      case .committed(let more): if results.isEmpty { results = more } else { results += more }
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
    let prepared: PreparedCommits
    do {
      prepared = try group.prepared.get()
    } catch {
      return .commitFailed(group.tickets, error as? StoreFailure ?? failed(error))
    }
    do {
      let results = try prepared.finish()
      try invariant(results.count == group.tickets.count, "the store answers each request of a batch")
      return .committed(zip(group.tickets, results).map { (ticket: $0, result: $1) })
    } catch {
      return .commitFailed(group.tickets, error as? StoreFailure ?? failed(error).withUnknownOutcome)
    }
  }

  private static func failed(_ error: any Error) -> StoreFailure {
    StoreFailure(.inputOutput, "the store failed", cause: "\(error)", advice: "Look at the log.")
  }
}

extension WriteResult {
  fileprivate var isLarge: Bool {
    guard let record else { return false }
    return record.changes.count >= FinishingThread.largeCommit
  }
}
