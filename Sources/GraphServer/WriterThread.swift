import Foundation
import FreedMemory
import GraphHub
import GraphModel
import Synchronization

/// The store's single writer.
///
/// Its thread commits all waiting requests as one batch, so that they share one sync of the disk. The sessions'
/// limits on outstanding requests bound the mailbox.
final class WriterThread: Sendable {
  private struct Mailbox {
    var waiting = [(StoreRequestID, WriteRequest)]()
    /// Work to run between two commits.
    var work: (@Sendable () -> Void)?
    var isStopping = false
    /// Whether the thread was started.
    var isRunning = false
    /// Whether the thread waits on the semaphore.
    var isIdle = false
  }

  private let store: any GraphStoring
  private let clock: @Sendable () -> Timestamp
  private let mailbox = Mutex(Mailbox())
  private let wake = DispatchSemaphore(value: 0)
  private let stopped = DispatchSemaphore(value: 0)

  /// The maximum number of requests that are committed together, and so of those that delay a reply.
  static let maximumBatch = 1_024

  /// The number of changes from which a commit leaves more freed memory than the next commits need.
  fileprivate static let largeCommit = 10_000
  /// The idle time after such a commit, at whose end the freed memory is returned to the system.
  private static let quietTime = DispatchTimeInterval.seconds(1)

  init(store: any GraphStoring, clock: @escaping @Sendable () -> Timestamp) {
    self.store = store
    self.clock = clock
  }

  /// - Parameter onResult: called on the writer's thread with the result of each batch.
  /// - Throws: `StoreFailure(.noThreads)`.
  func start(onResult: @escaping @Sendable (HubEvent) -> Void) throws {
    try ServerThread.start("writer") { [self] in
      run(onResult)
      stopped.signal()
    }
    mailbox.withLock { $0.isRunning = true }
  }

  /// Receives the requests of one turn of the hub's loop.
  ///
  /// The small commit of a single client runs at once on the loop, and its result is returned; everything else is
  /// queued for the thread. docs/decisions/0005 has the reasons and bounds.
  /// - Parameters:
  ///   - isFree: whether the hub has handled every result of the thread, so that no result is overtaken.
  ///   - fastPath: the state of the loop's detector.
  func write(_ requests: [(StoreRequestID, WriteRequest)], isFree: Bool, _ fastPath: inout SingleClientFastPath)
    -> HubEvent?
  {
    guard fastPath.allows(requests), isFree else {
      enqueue(requests)
      return nil
    }
    let start = DispatchTime.now().uptimeNanoseconds
    let result = commitBatch(requests)
    fastPath.record(nanoseconds: DispatchTime.now().uptimeNanoseconds - start)
    return result
  }

  private func enqueue(_ requests: [(StoreRequestID, WriteRequest)]) {
    let mustWake = mailbox.withLock { mailbox in
      mailbox.waiting += requests
      defer { mailbox.isIdle = false }
      return mailbox.isIdle
    }
    if mustWake { wake.signal() }
  }

  /// Runs `work` on the writer's thread before the next batch. It replaces pending work, and is dropped when the
  /// thread ends.
  func betweenCommits(_ work: @escaping @Sendable () -> Void) {
    let mustWake = mailbox.withLock { mailbox in
      mailbox.work = work
      defer { mailbox.isIdle = false }
      return mailbox.isIdle
    }
    if mustWake { wake.signal() }
  }

  /// Commits the waiting requests, then ends; blocks until then.
  func stop() {
    let (mustWake, isRunning) = mailbox.withLock { mailbox in
      mailbox.isStopping = true
      defer { mailbox.isIdle = false }
      return (mailbox.isIdle, mailbox.isRunning)
    }
    if isRunning {
      if mustWake { wake.signal() }
      stopped.wait()
    }
  }

  private enum WorkItem {
    case batch([(StoreRequestID, WriteRequest)])
    case work(@Sendable () -> Void)
    case wait
    case end
  }

  private func run(_ onResult: (HubEvent) -> Void) {
    var leftFreedMemory = false
    while true {
      let next = mailbox.withLock { mailbox -> WorkItem in
        if let work = mailbox.work, !mailbox.isStopping {
          mailbox.work = nil
          return .work(work)
        }
        if mailbox.waiting.isEmpty {
          if mailbox.isStopping { return .end }
          mailbox.isIdle = true
          return .wait
        }
        let batch = Array(mailbox.waiting.prefix(Self.sharedPrefix(of: mailbox.waiting)))
        if batch.count == mailbox.waiting.count {
          mailbox.waiting.removeAll(keepingCapacity: true)
        } else {
          mailbox.waiting.removeFirst(batch.count)
        }
        return .batch(batch)
      }
      switch next {
      case .batch(let batch):
        let result = commitBatch(batch)
        if case .committed(let results) = result {
          leftFreedMemory = leftFreedMemory || results.contains { $0.result.isLarge }
        }
        onResult(result)
      case .work(let work): work()
      case .wait:
        guard leftFreedMemory else { wake.wait(); continue }
        guard wake.wait(timeout: .now() + Self.quietTime) == .timedOut else { continue }
        releaseFreedMemory()
        leftFreedMemory = false
        wake.wait()
      case .end: return
      }
    }
  }

  /// The number of waiting requests to commit together, as a group. A batch request is committed alone, so that it
  /// does not delay the answers of earlier requests.
  private static func sharedPrefix(of waiting: [(StoreRequestID, WriteRequest)]) -> Int {
    assert(!waiting.isEmpty, "a batch has a request")
    for (index, entry) in waiting.prefix(maximumBatch).enumerated() {
      if case .batch = entry.1 { return max(1, index) }
    }
    return maximumBatch
  }

  private func commitBatch(_ batch: [(StoreRequestID, WriteRequest)]) -> HubEvent {
    do {
      let results = try store.commit(batch.map(\.1), now: clock())
      try invariant(results.count == batch.count, "the store answers each request of a batch")
      return .committed(zip(batch, results).map { (ticket: $0.0, result: $1) })
    } catch {
      let failure =
        error as? StoreFailure
        ?? StoreFailure(.inputOutput, "the store failed", cause: "\(error)", advice: "Look at the log.")
      return .commitFailed(batch.map(\.0), failure)
    }
  }
}

extension WriteResult {
  fileprivate var isLarge: Bool {
    guard let record else { return false }
    return record.changes.count >= WriterThread.largeCommit
  }
}
