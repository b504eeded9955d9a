import Foundation
import GraphHub
import GraphModel

/// The store's single writer.
///
/// Its thread prepares all waiting requests as one group and passes it to the finishing thread, which syncs the disk
/// for all groups that are prepared by then. The sessions' limits on outstanding requests bound the mailbox.
final class WriterThread: Sendable {
  private struct Contents {
    var waiting = WriteQueue()
    /// Work to run between two commits.
    var work: (@Sendable () -> Void)?
    var isStopping = false
    /// Whether the thread was started.
    var isRunning = false
  }

  private let store: any GraphStoring
  private let clock: @Sendable () -> Timestamp
  private let mailbox = ThreadMailbox(Contents())
  private let finishing = FinishingThread()
  private let stopped = DispatchSemaphore(value: 0)

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
    mailbox.change { $0.isRunning = true }
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
      mailbox.change { $0.waiting.append(requests) }
      return nil
    }
    let start = DispatchTime.now().uptimeNanoseconds
    let result = FinishingThread.finish(prepare(requests))
    fastPath.record(nanoseconds: DispatchTime.now().uptimeNanoseconds - start)
    return result
  }

  /// Runs `work` on the writer's thread before the next batch. It replaces pending work, and is dropped when the
  /// thread ends.
  func betweenCommits(_ work: @escaping @Sendable () -> Void) { mailbox.change { $0.work = work } }

  /// Commits the waiting requests, then ends; blocks until then.
  func stop() {
    let isRunning = mailbox.change { mailbox in
      mailbox.isStopping = true
      return mailbox.isRunning
    }
    if isRunning {
      stopped.wait()
      finishing.stop()
    }
  }

  private enum WorkItem {
    case batch([(StoreRequestID, WriteRequest)])
    case work(@Sendable () -> Void)
    case end
  }

  private func run() {
    while true {
      switch mailbox.take(Self.nextItem) {
      case .batch(let batch): finishing.enqueue(prepare(batch))
      case .work(let work): work()
      case .end: return
      case nil: mailbox.wait()
      }
    }
  }

  private static func nextItem(of mailbox: inout Contents) -> WorkItem? {
    if let work = mailbox.work, !mailbox.isStopping {
      mailbox.work = nil
      return .work(work)
    }
    guard !mailbox.waiting.isEmpty else { return mailbox.isStopping ? .end : nil }
    return .batch(mailbox.waiting.removeGroup())
  }

  private func prepare(_ batch: [(StoreRequestID, WriteRequest)]) -> FinishingThread.Group {
    (batch.map(\.0), Result { try store.prepare(batch.map(\.1), now: clock()) })
  }
}
