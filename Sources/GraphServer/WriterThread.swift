import Foundation
import GraphHub
import GraphModel
import Synchronization

/// The store's single writer: a thread of its own that takes everything that waits as one batch, so that all of it
/// shares one wait for the disk. The mailbox is bounded by the sessions' limits on outstanding requests.
final class WriterThread: Sendable {
  private struct Mailbox {
    var waiting = [(Ticket, WriteRequest)]()
    var isStopping = false
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

  init(
    store: any GraphStoring, clock: @escaping @Sendable () -> Timestamp,
    deliver: @escaping @Sendable (HubEvent) -> Void
  ) {
    self.store = store
    self.clock = clock
    self.deliver = deliver
  }

  func start() {
    let thread = Thread { [self] in
      run()
      stopped.signal()
    }
    thread.name = "writer"
    thread.stackSize = 8 << 20
    thread.start()
  }

  func enqueue(_ ticket: Ticket, _ request: WriteRequest) {
    let mustWake = mailbox.withLock { mailbox in
      mailbox.waiting.append((ticket, request))
      defer { mailbox.isIdle = false }
      return mailbox.isIdle
    }
    if mustWake { wake.signal() }
  }

  /// Commits what is waiting, then ends. Blocks until it has.
  func stop() {
    let mustWake = mailbox.withLock { mailbox in
      mailbox.isStopping = true
      defer { mailbox.isIdle = false }
      return mailbox.isIdle
    }
    if mustWake { wake.signal() }
    stopped.wait()
  }

  private enum Next {
    case batch([(Ticket, WriteRequest)])
    case wait
    case end
  }

  private func run() {
    while true {
      let next = mailbox.withLock { mailbox -> Next in
        if mailbox.waiting.isEmpty {
          if mailbox.isStopping { return .end }
          mailbox.isIdle = true
          return .wait
        }
        let batch = Array(mailbox.waiting.prefix(Self.maximumBatch))
        if batch.count == mailbox.waiting.count {
          mailbox.waiting.removeAll(keepingCapacity: true)
        } else {
          mailbox.waiting.removeFirst(batch.count)
        }
        return .batch(batch)
      }
      switch next {
      case .batch(let batch): commit(batch)
      case .wait: wake.wait()
      case .end: return
      }
    }
  }

  private func commit(_ batch: [(Ticket, WriteRequest)]) {
    do {
      let results = try store.commit(batch.map(\.1), now: clock())
      deliver(.committed(zip(batch, results).map { (ticket: $0.0, result: $1) }))
    } catch {
      let failure =
        error as? StoreFailure
        ?? StoreFailure(.inputOutput, "the store failed", cause: "\(error)", advice: "Look at the log.")
      deliver(.commitFailed(batch.map(\.0), failure))
    }
  }
}
