import GraphHub

/// Schedules sessions' reads on threads: events go in, reads to start come out.
///
/// Each session has a queue. A free thread takes a read of the session that runs the fewest, round-robin among
/// equals, and no session runs more than its share: a session with few reads is not delayed by one with many, however
/// long those take. A session is known here while it has a waiting or running read.
///
/// One of several threads is reserved for short reads, so that many sessions cannot occupy all of them. When the
/// others are busy, it runs a read of a session that runs none. If that read has to yield to another, it returns to
/// the front of its session's queue as a long read and waits for one of the other threads, as do all reads of its
/// session until it is answered. While no short read waits, a long read may borrow the reserved thread; it starts
/// again from the beginning and yields at once.
struct ReadScheduler {
  enum Event {
    /// A read was requested; if `isLong`, it is not run as a short read.
    case came(StoreRequestID, from: SessionID, isLong: Bool = false)
    /// A read was cancelled. If it is running, it keeps its thread until it ends.
    case left(StoreRequestID)
    /// A read has ended, and its thread is free.
    case ended(StoreRequestID)
    /// A read yielded unanswered: its thread is free, and it waits again.
    case tookTooLong(StoreRequestID)
    /// The same, because its answer is too large to buffer: it never runs on the reserved thread again.
    case isTooLarge(StoreRequestID)
  }

  /// A read to start on a free thread.
  struct Start: Equatable {
    let ticket: StoreRequestID
    /// Whether it runs on the reserved thread, until it has to yield.
    let isTrial: Bool
    /// Whether it is a long read that borrows the reserved thread and yields at once.
    var isGuest = false
  }

  private struct SessionQueue {
    var waiting = [StoreRequestID]()
    var running = 0
    /// Waiting or running reads that took too long as short reads, or that must not run as such.
    var long = Set<StoreRequestID>()
    /// The long reads that may not borrow the reserved thread, because they cannot be interrupted.
    var fixed = Set<StoreRequestID>()

    mutating func forget(_ ticket: StoreRequestID) {
      long.remove(ticket)
      fixed.remove(ticket)
    }
  }

  /// The number of reads that one session may run at once: half of the threads, at least one.
  let share: Int
  /// The number of threads that are not reserved, and of the free ones among them.
  private let unreserved: Int
  private var free: Int
  private var keptIsFree: Bool
  private var lines = [SessionID: SessionQueue]()
  /// Sessions with waiting reads, the least recently served first.
  private var turns = [SessionID]()
  /// The session of each waiting or running read.
  private var owners = [StoreRequestID: SessionID]()
  /// The read on the reserved thread.
  private var tried: StoreRequestID?

  /// Whether the read on the reserved thread delays another one that could run there.
  var mustGiveWay: Bool { tried != nil && turns.contains(where: mayBeTried) }

  init(threads: Int) {
    precondition(threads > 0, "reads need a thread")
    // A single thread is not reserved.
    keptIsFree = threads > 1
    unreserved = threads > 1 ? threads - 1 : threads
    free = unreserved
    share = max(1, threads / 2)
  }

  /// Handles an event and returns the reads to start now, each on a free thread.
  mutating func handle(_ event: Event) -> [Start] {
    switch event {
    case .came(let ticket, let session, let isLong):
      owners[ticket] = session
      modify(session) { line in
        line.waiting.append(ticket)
        if isLong {
          line.long.insert(ticket)
          line.fixed.insert(ticket)
        }
      }
    case .left(let ticket):
      // A read that runs, or has ended, is not waiting.
      guard let session = owners[ticket], queue(of: session).waiting.contains(ticket) else { break }
      owners[ticket] = nil
      modify(session) { line in
        line.waiting.removeAll { $0 == ticket }
        line.forget(ticket)
      }
    case .ended(let ticket): end(ticket)
    case .tookTooLong(let ticket): putBack(ticket, isFixed: false)
    case .isTooLarge(let ticket): putBack(ticket, isFixed: true)
    }
    var started = [Start]()
    while free > 0, let session = fewest(), let ticket = start(session) {
      free -= 1
      started.append(Start(ticket: ticket, isTrial: false))
    }
    if keptIsFree, let session = turns.first(where: mayBeTried), let ticket = start(session) {
      (keptIsFree, tried) = (false, ticket)
      started.append(Start(ticket: ticket, isTrial: true))
    }
    if keptIsFree, let session = turns.first(where: mayBeGuest), let ticket = start(session) {
      (keptIsFree, tried) = (false, ticket)
      started.append(Start(ticket: ticket, isTrial: true, isGuest: true))
    }
    return started
  }

  private mutating func putBack(_ ticket: StoreRequestID, isFixed: Bool) {
    guard tried == ticket, let session = owners[ticket] else { return end(ticket) }
    end(ticket)
    owners[ticket] = session
    modify(session) { line in
      line.waiting.insert(ticket, at: 0)
      line.long.insert(ticket)
      if isFixed { line.fixed.insert(ticket) }
    }
  }

  private mutating func end(_ ticket: StoreRequestID) {
    guard let session = owners.removeValue(forKey: ticket) else { return }
    modify(session) { line in
      line.running -= 1
      line.forget(ticket)
    }
    if tried == ticket { (keptIsFree, tried) = (true, nil) } else { free += 1 }
    assert(free <= unreserved, "each read has one thread")
  }

  private func mayBeTried(_ session: SessionID) -> Bool {
    let line = queue(of: session)
    return line.running == 0 && line.long.isEmpty
  }

  /// Whether the session's first read is a long one that may borrow the reserved thread.
  private func mayBeGuest(_ session: SessionID) -> Bool {
    let line = queue(of: session)
    guard line.running == 0, let first = line.waiting.first else { return false }
    return line.long.contains(first) && !line.fixed.contains(first)
  }

  private func fewest() -> SessionID? {
    var chosen: (session: SessionID, running: Int)?
    for session in turns {
      let running = queue(of: session).running
      guard running < share else { continue }
      if let chosen, running >= chosen.running { continue }
      chosen = (session, running)
      if running == 0 { break }
    }
    return chosen?.session
  }

  /// Takes the session's first read and moves the session to the end of the round.
  private mutating func start(_ session: SessionID) -> StoreRequestID? {
    turns.removeAll { $0 == session }
    var started: StoreRequestID?
    modify(session) { line in
      guard !line.waiting.isEmpty else { return assertionFailure("a session of the round has a waiting read") }
      started = line.waiting.removeFirst()
      line.running += 1
    }
    return started
  }

  /// The queue of a session; an empty one if it has no read.
  private func queue(of session: SessionID) -> SessionQueue { lines[session, default: SessionQueue()] }

  /// Changes the queue of a session, and keeps the round and the table of the queues up to date.
  private mutating func modify(_ session: SessionID, _ change: (inout SessionQueue) -> Void) {
    change(&lines[session, default: SessionQueue()])
    let line = queue(of: session)
    assert(line.running >= 0 && line.running <= share, "a session runs at most its share")
    assert(line.long.isSuperset(of: line.fixed), "only a long read is kept off the reserved thread")
    if line.running == 0, line.waiting.isEmpty { lines[session] = nil }
    if line.waiting.isEmpty {
      turns.removeAll { $0 == session }
    } else if !turns.contains(session) {
      turns.append(session)
    }
  }
}
