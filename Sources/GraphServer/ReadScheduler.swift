import GraphHub

/// Schedules the reads of sessions on threads: it receives events and returns the reads to start.
///
/// Each session has a queue. A free thread first selects the user with the fewest running reads (among equals, the
/// users take turns), and then the session of that user with the fewest. A session runs at most its share of reads, and
/// a user runs at most that many on all of its sessions together. Users with many long reads therefore do not delay
/// users with few. The machine's owner counts as a user without a share; only its sessions have one. A session is known
/// here while it has a waiting or running read.
///
/// One of several threads is reserved for short reads, so that many sessions cannot occupy all of them. When the
/// others are busy, it runs a read of a session that runs none. If that read has to yield to another, it returns to
/// the front of its session's queue as a long read and waits for one of the other threads, as do all reads of its
/// session until it is answered. While no short read waits, a long read may borrow the reserved thread; it starts
/// again from the beginning and yields at once.
struct ReadScheduler {
  enum Event {
    /// A read was requested; if `isLong`, it is not run as a short read.
    /// - Parameter user: the user of the session; nil for the machine's owner.
    case requested(StoreRequestID, from: SessionID, of: String? = nil, isLong: Bool = false)
    /// A read was cancelled. If it is running, it keeps its thread until it ends.
    case cancelled(StoreRequestID)
    /// A read has ended, and its thread is free.
    case ended(StoreRequestID)
    /// A read yielded before it was answered. Its thread is free, and the read waits again.
    case yielded(StoreRequestID)
    /// A read yielded because its answer is too large to buffer. It never runs on the reserved thread again.
    case exceededBuffer(StoreRequestID)
  }

  /// A read to start on a free thread.
  struct Start: Equatable {
    let ticket: StoreRequestID
    /// Whether it runs on the reserved thread, until it has to yield.
    let isShortRead: Bool
    /// Whether it is a long read that borrows the reserved thread and yields at once.
    var isBorrowing = false
  }

  /// The reads of a user, on all sessions.
  private struct UserReads {
    /// Waiting and running reads.
    var count = 0
    var running = 0
    /// The number of the last start.
    var lastStart: UInt64 = 0
  }

  private struct SessionQueue {
    let user: String?
    var waiting = [StoreRequestID]()
    var running = 0
    /// Waiting or running reads that took too long as short reads, or that must not run as such.
    var long = Set<StoreRequestID>()
    /// The long reads that may not borrow the reserved thread, because they cannot be interrupted.
    var uninterruptible = Set<StoreRequestID>()

    mutating func remove(_ ticket: StoreRequestID) {
      long.remove(ticket)
      uninterruptible.remove(ticket)
    }
  }

  /// The number of reads that one session may run at once: half of the threads, at least one.
  let share: Int
  /// The number of threads that are not reserved, and of the free ones among them.
  private let unreserved: Int
  private var free: Int
  /// Whether one thread is reserved for short reads.
  private let hasReserved: Bool
  private var queues = [SessionID: SessionQueue]()
  private var users = [String?: UserReads]()
  private var starts: UInt64 = 0
  /// Sessions with waiting reads, the least recently served first.
  private var rotation = [SessionID]()
  /// The session of each waiting or running read.
  private var sessions = [StoreRequestID: SessionID]()
  /// The read on the reserved thread.
  private var reservedRead: StoreRequestID?
  private var isReservedFree: Bool { hasReserved && reservedRead == nil }

  /// Whether the read on the reserved thread delays another one that could run there.
  var mustYield: Bool { reservedRead != nil && rotation.contains(where: mayRunShort) }

  /// The number of waiting and running reads.
  var count: Int { sessions.count }

  init(threads: Int) {
    precondition(threads > 0, "reads need a thread")
    // A single thread is not reserved.
    hasReserved = threads > 1
    unreserved = threads > 1 ? threads - 1 : threads
    free = unreserved
    share = max(1, threads / 2)
  }

  /// Handles an event and returns the reads to start now, each on a free thread.
  mutating func handle(_ event: Event) -> [Start] {
    switch event {
    case .requested(let ticket, let session, let user, let isLong):
      sessions[ticket] = session
      if queues[session] == nil { queues[session] = SessionQueue(user: user) }
      users[user, default: UserReads()].count += 1
      modify(session) { queue in
        queue.waiting.append(ticket)
        if isLong {
          queue.long.insert(ticket)
          queue.uninterruptible.insert(ticket)
        }
      }
    case .cancelled(let ticket):
      // A read that runs, or has ended, is not waiting.
      guard let session = sessions[ticket], queue(of: session).waiting.contains(ticket) else { break }
      sessions[ticket] = nil
      count(queue(of: session).user, reads: -1)
      modify(session) { queue in
        queue.waiting.removeAll { $0 == ticket }
        queue.remove(ticket)
      }
    case .ended(let ticket): end(ticket)
    case .yielded(let ticket): requeue(ticket, isUninterruptible: false)
    case .exceededBuffer(let ticket): requeue(ticket, isUninterruptible: true)
    }
    var started = [Start]()
    while free > 0, let session = leastBusySession(), let ticket = start(session) {
      free -= 1
      started.append(Start(ticket: ticket, isShortRead: false))
    }
    if isReservedFree, let session = leastBusySession(where: mayRunShort), let ticket = start(session) {
      reservedRead = ticket
      started.append(Start(ticket: ticket, isShortRead: true))
    }
    if isReservedFree, let session = leastBusySession(where: mayBorrow), let ticket = start(session) {
      reservedRead = ticket
      started.append(Start(ticket: ticket, isShortRead: true, isBorrowing: true))
    }
    return started
  }

  private mutating func requeue(_ ticket: StoreRequestID, isUninterruptible: Bool) {
    guard reservedRead == ticket, let session = sessions[ticket] else { return end(ticket) }
    let user = queue(of: session).user
    // The read is counted twice for a moment, so that neither the session nor the user is removed.
    count(user, reads: 1)
    end(ticket)
    if queues[session] == nil { queues[session] = SessionQueue(user: user) }
    sessions[ticket] = session
    modify(session) { queue in
      queue.waiting.insert(ticket, at: 0)
      queue.long.insert(ticket)
      if isUninterruptible { queue.uninterruptible.insert(ticket) }
    }
  }

  private mutating func end(_ ticket: StoreRequestID) {
    // The end of a read that gave its thread back, and ran again or was cancelled, may be reported late.
    guard let session = sessions.removeValue(forKey: ticket) else { return }
    count(queue(of: session).user, reads: -1, running: -1)
    modify(session) { queue in
      queue.running -= 1
      queue.remove(ticket)
    }
    if reservedRead == ticket { reservedRead = nil } else { free += 1 }
    assert(free <= unreserved, "each read has one thread")
  }

  /// Counts the reads of a user, who is forgotten with the last one.
  /// - Parameters:
  ///   - change: the change of the number of waiting and running reads.
  ///   - running: that of the running ones.
  private mutating func count(_ user: String?, reads change: Int, running: Int = 0) {
    guard var reads = users[user] else { return assertionFailure("a user with a read is known") }
    reads.count += change
    reads.running += running
    assert(reads.count >= reads.running && reads.running >= 0, "a running read is counted")
    if running > 0 {
      starts += 1
      reads.lastStart = starts
    }
    users[user] = reads.count == 0 ? nil : reads
  }

  /// Whether the session and its user may run one more read.
  private func isBelowShare(_ queue: SessionQueue) -> Bool {
    queue.running < share && (queue.user == nil || users[queue.user, default: UserReads()].running < share)
  }

  private func mayRunShort(_ session: SessionID) -> Bool {
    let queue = queue(of: session)
    return queue.running == 0 && queue.long.isEmpty && isBelowShare(queue)
  }

  /// Whether the session's first read is a long one that may borrow the reserved thread.
  private func mayBorrow(_ session: SessionID) -> Bool {
    let queue = queue(of: session)
    guard queue.running == 0, let first = queue.waiting.first else { return false }
    return queue.long.contains(first) && !queue.uninterruptible.contains(first) && isBelowShare(queue)
  }

  /// The session to serve next. It belongs to the user with the fewest running reads (among equals, to the one that was
  /// served longest ago), and has the fewest running reads of that user's sessions.
  private func leastBusySession(where mayRun: (SessionID) -> Bool = { _ in true }) -> SessionID? {
    var chosen: (session: SessionID, load: (Int, UInt64, Int))?
    for session in rotation {
      let queue = queue(of: session)
      guard isBelowShare(queue), mayRun(session) else { continue }
      let user = users[queue.user, default: UserReads()]
      let load = (user.running, user.lastStart, queue.running)
      if let chosen, load >= chosen.load { continue }
      chosen = (session, load)
    }
    return chosen?.session
  }

  /// Takes the session's first read and moves the session to the end of the round.
  private mutating func start(_ session: SessionID) -> StoreRequestID? {
    rotation.removeAll { $0 == session }
    var started: StoreRequestID?
    modify(session) { queue in
      guard !queue.waiting.isEmpty else { return assertionFailure("a session of the round has a waiting read") }
      started = queue.waiting.removeFirst()
      queue.running += 1
    }
    if started != nil { count(queue(of: session).user, reads: 0, running: 1) }
    return started
  }

  /// The queue of a session; an empty one if it has no read.
  private func queue(of session: SessionID) -> SessionQueue { queues[session, default: SessionQueue(user: nil)] }

  /// Changes the queue of a session, and keeps the round and the table of the queues up to date.
  private mutating func modify(_ session: SessionID, _ change: (inout SessionQueue) -> Void) {
    change(&queues[session, default: SessionQueue(user: nil)])
    let queue = queue(of: session)
    assert(queue.running >= 0 && queue.running <= share, "a session runs at most its share")
    assert(queue.long.isSuperset(of: queue.uninterruptible), "only a long read is kept off the reserved thread")
    if queue.running == 0, queue.waiting.isEmpty { queues[session] = nil }
    if queue.waiting.isEmpty {
      rotation.removeAll { $0 == session }
    } else if !rotation.contains(session) {
      rotation.append(session)
    }
  }
}
