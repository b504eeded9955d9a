import Foundation
import GraphHub
import GraphModel
import Synchronization

/// Knows when one client alone is committing, a small commit at a time. Then the hop to the thread and back is most of
/// what a commit costs beyond the disk, and nobody else waits for the loop meanwhile.
///
/// `@unchecked Sendable`: used on the hub's loop only, which is the only place where turns are taken.
private final class LoneClient: @unchecked Sendable {
  private var replica = UniqueID.zero
  private var streak = 0
  private var pause = 0

  /// So many commits of one client in a row, each alone in its turn, make it a lone one.
  private static let neededStreak = 8
  /// A larger transaction is planned while the loop goes on.
  private static let maximumChanges = 8
  /// Text and data of a few windows; no more is planned and written while the loop waits.
  private static let maximumSize = 64 << 10
  /// After one that took this long the next ones go to the thread, more of them the longer it took: a slow disk, a
  /// checkpoint, and another program's lock hold the loop up for a bounded share of the time.
  private static let slowNanoseconds: UInt64 = 5_000_000
  private static let pauseAfterSlow: UInt64 = 8

  func allows(_ turn: [(Ticket, WriteRequest)]) -> Bool {
    guard turn.count == 1, let request = turn.first?.1, request.id.replica == replica else {
      replica = turn.last?.1.id.replica ?? .zero
      streak = 0
      return false
    }
    streak += 1
    if pause > 0 { pause -= 1 }
    guard streak >= Self.neededStreak, pause == 0, case .transaction(let transaction, _) = request else { return false }
    // A delete may take a hundred thousand objects along.
    return transaction.changes.count <= Self.maximumChanges && !transaction.changes.contains { $0.kind == .delete }
      && transaction.approximateSize <= Self.maximumSize
  }

  func took(nanoseconds: UInt64) {
    pause = Int(nanoseconds / Self.slowNanoseconds * Self.pauseAfterSlow)
  }
}

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
  private let loneClient: LoneClient
  private let wake = DispatchSemaphore(value: 0)
  private let stopped = DispatchSemaphore(value: 0)

  /// A batch has at most this many requests: a reply never waits for more than that many others.
  static let maximumBatch = 1_024

  init(
    store: any GraphStoring, clock: @escaping @Sendable () -> Timestamp,
    deliver: @escaping @Sendable (HubEvent) -> Void
  ) {
    self.store = store
    loneClient = LoneClient()
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

  /// Takes what came in one turn of the hub's loop. A lone client's small commit is done here and now, and its result
  /// is returned; everything else goes to the thread. docs/decisions/0005 says why and what bounds it.
  /// - Parameter isFree: every result of the thread has been handled by the hub: none may be overtaken.
  func takeTurn(_ requests: [(Ticket, WriteRequest)], isFree: Bool) -> HubEvent? {
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
        let batch = Array(mailbox.waiting.prefix(Self.sharedPrefix(of: mailbox.waiting)))
        if batch.count == mailbox.waiting.count {
          mailbox.waiting.removeAll(keepingCapacity: true)
        } else {
          mailbox.waiting.removeFirst(batch.count)
        }
        return .batch(batch)
      }
      switch next {
      case .batch(let batch): deliver(perform(batch))
      case .wait: wake.wait()
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
