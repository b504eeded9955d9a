import Foundation
import GraphHub
import GraphModel
import Synchronization

/// The store's single writer.
///
/// Its thread prepares all waiting requests as one group and passes it to the finishing thread, which syncs the disk
/// for all groups that are prepared by then. The sessions' limits on outstanding requests bound the mailbox.
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
  private let finishing = FinishingThread()
  private let wake = DispatchSemaphore(value: 0)
  private let stopped = DispatchSemaphore(value: 0)

  /// The maximum number of requests that are committed together, and so of those that delay a reply.
  static let maximumBatch = 1_024

  init(store: any GraphStoring, clock: @escaping @Sendable () -> Timestamp) {
    self.store = store
    self.clock = clock
  }

  /// - Parameter onResult: called with the results, in the order of the requests, on a thread of this object.
  /// - Throws: `StoreFailure(.noThreads)`.
  func start(onResult: @escaping @Sendable (HubEvent) -> Void) throws {
    try finishing.start(onResult: onResult)
    do {
      try ServerThread.start("writer") { [self] in
        run()
        stopped.signal()
      }
    } catch {
      finishing.stop()
      throw error
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
    let result = FinishingThread.finish(prepare(requests))
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
      finishing.stop()
    }
  }

  private enum WorkItem {
    case batch([(StoreRequestID, WriteRequest)])
    case work(@Sendable () -> Void)
    case wait
    case end
  }

  private func run() {
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
      case .batch(let batch): finishing.enqueue(prepare(batch))
      case .work(let work): work()
      case .wait: wake.wait()
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

  private func prepare(_ batch: [(StoreRequestID, WriteRequest)]) -> FinishingThread.Group {
    (batch.map(\.0), Result { try store.prepare(batch.map(\.1), now: clock()) })
  }
}
