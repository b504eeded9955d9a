import Foundation
import FreedMemory
import GraphHub
import GraphModel
import Synchronization

/// The store's single writer: a thread of its own that takes everything that waits as one batch, so that all of it
/// shares one wait for the disk. The mailbox is bounded by the sessions' limits on outstanding requests.
final class WriterThread: Sendable {
  private struct Mailbox {
    var waiting = [(Ticket, WriteRequest)]()
    /// What is to be done between two commits.
    var work: (@Sendable () -> Void)?
    var isStopping = false
    /// The thread was started.
    var isRunning = false
    /// The thread waits on the condition.
    var isIdle = false
  }

  private let store: any GraphStoring
  private let clock: @Sendable () -> Timestamp
  /// Called on the writer's thread with each batch.
  private let deliver: @Sendable (HubEvent) -> Void
  private let mailbox = Mutex(Mailbox())
  private let wake = DispatchSemaphore(value: 0)
  private let stopped = DispatchSemaphore(value: 0)

  /// A batch has at most this many requests: a reply never waits for more than that many others.
  static let maximumBatch = 1_024

  /// A commit of so many changes leaves more freed memory behind than the next ones need.
  private static let largeCommit = 10_000
  /// When so long nothing came behind it, that is given back to the system.
  private static let quietTime = DispatchTimeInterval.seconds(1)

  init(
    store: any GraphStoring, clock: @escaping @Sendable () -> Timestamp,
    deliver: @escaping @Sendable (HubEvent) -> Void
  ) {
    self.store = store
    self.clock = clock
    self.deliver = deliver
  }

  /// - Throws: `StoreFailure(.noThreads)`.
  func start() throws {
    try ServerThread.start("writer") { [self] in
      run()
      stopped.signal()
    }
    mailbox.withLock { $0.isRunning = true }
  }

  /// Takes what came in one turn of the hub's loop. A lone client's small commit is done here and now, and its result
  /// is returned; everything else goes to the thread. docs/decisions/0005 says why and what bounds it.
  /// - Parameters:
  ///   - isFree: every result of the thread has been handled by the hub: none may be overtaken.
  ///   - loneClient: the loop's own.
  func takeTurn(_ requests: [(Ticket, WriteRequest)], isFree: Bool, _ loneClient: inout LoneClient) -> HubEvent? {
    guard loneClient.allows(requests), isFree else {
      enqueue(requests)
      return nil
    }
    let start = DispatchTime.now().uptimeNanoseconds
    let result = perform(requests)
    loneClient.took(nanoseconds: DispatchTime.now().uptimeNanoseconds - start)
    return result
  }

  private func enqueue(_ requests: [(Ticket, WriteRequest)]) {
    let mustWake = mailbox.withLock { mailbox in
      mailbox.waiting += requests
      defer { mailbox.isIdle = false }
      return mailbox.isIdle
    }
    if mustWake { wake.signal() }
  }

  /// Does something with the store before the next batch is taken, on the writer's thread; a piece of work that waits is
  /// replaced, and dropped when the thread ends.
  func betweenCommits(_ work: @escaping @Sendable () -> Void) {
    let mustWake = mailbox.withLock { mailbox in
      mailbox.work = work
      defer { mailbox.isIdle = false }
      return mailbox.isIdle
    }
    if mustWake { wake.signal() }
  }

  /// Commits what is waiting, then ends. Blocks until it has.
  func stop() {
    let (mustWake, isRunning) = mailbox.withLock { mailbox in
      mailbox.isStopping = true
      defer { mailbox.isIdle = false }
      return (mailbox.isIdle, mailbox.isRunning)
    }
    guard isRunning else { return }
    if mustWake { wake.signal() }
    stopped.wait()
  }

  private enum Next {
    case batch([(Ticket, WriteRequest)])
    case work(@Sendable () -> Void)
    case wait
    case end
  }

  private func run() {
    var leftMuch = false
    while true {
      let next = mailbox.withLock { mailbox -> Next in
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
        let done = perform(batch)
        if case .committed(let results) = done {
          leftMuch = leftMuch || results.contains { $0.result.record?.changes.count ?? 0 >= Self.largeCommit }
        }
        deliver(done)
      case .work(let work): work()
      case .wait:
        guard leftMuch else { wake.wait(); continue }
        guard wake.wait(timeout: .now() + Self.quietTime) == .timedOut else { continue }
        FreedMemory.giveBack()
        leftMuch = false
        wake.wait()
      case .end: return
      }
    }
  }

  /// How many of those that wait share one wait for the disk. A batch of many objects has one of its own: nobody's answer
  /// waits for it that came before it.
  private static func sharedPrefix(of waiting: [(Ticket, WriteRequest)]) -> Int {
    for (index, entry) in waiting.prefix(maximumBatch).enumerated() {
      if case .batch = entry.1 { return max(1, index) }
    }
    return maximumBatch
  }

  private func perform(_ batch: [(Ticket, WriteRequest)]) -> HubEvent {
    do {
      let results = try store.commit(batch.map(\.1), now: clock())
      return .committed(zip(batch, results).map { (ticket: $0.0, result: $1) })
    } catch {
      let failure =
        error as? StoreFailure
        ?? StoreFailure(.inputOutput, "the store failed", cause: "\(error)", advice: "Look at the log.")
      return .commitFailed(batch.map(\.0), failure)
    }
  }
}
