import GraphHub
import GraphTesting
import Testing

@testable import GraphServer

/// The reads that free threads take: a line for each event, and the reads that it starts.
@Suite struct ReadSchedulerTests {
  /// Reads of session 1 are 10, 11, … 19, of session 2 20 to 29, and so on.
  private struct Transcript {
    var queue: ReadScheduler

    init(threads: Int) { queue = ReadScheduler(threads: threads) }

    mutating func requested(_ reads: UInt64...) -> [UInt64] {
      reads.flatMap { queue.handle(.requested(StoreRequestID($0), from: $0 / 10)).map(\.ticket.number) }
    }

    mutating func ended(_ read: UInt64) -> [UInt64] { queue.handle(.ended(StoreRequestID(read))).map(\.ticket.number) }

    mutating func cancelled(_ read: UInt64) -> [UInt64] {
      queue.handle(.cancelled(StoreRequestID(read))).map(\.ticket.number)
    }

    /// A short read yields its thread.
    mutating func yielded(_ read: UInt64) -> [UInt64] {
      queue.handle(.yielded(StoreRequestID(read))).map(\.ticket.number)
    }

    mutating func runsShort(_ read: UInt64) -> Bool {
      queue.handle(.requested(StoreRequestID(read), from: read / 10)) == [
        .init(ticket: StoreRequestID(read), isShortRead: true)
      ]
    }
  }

  @Test func sessionMayUseHalfOfTheThreads() {
    for (threads, share) in [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (8, 4)] {
      var one = Transcript(threads: threads)
      #expect(one.requested(10, 11, 12, 13, 14, 15, 16, 17, 18, 19) == (0..<UInt64(share)).map { 10 + $0 })
      #expect(one.queue.share == share)
    }
  }

  @Test func sessionWithFewReadsIsNotDelayedByBusySession() {
    var reads = Transcript(threads: 4)
    #expect(reads.requested(10, 11, 12, 13, 14, 15) == [10, 11])
    #expect(reads.requested(20) == [20])
    #expect(reads.requested(30) == [30])
    // All threads are busy; the next free one goes to the session without a thread, although the first session has
    // waited longer.
    #expect(reads.requested(40) == [])
    #expect(reads.ended(10) == [40])
    // Now it has fewer than the others, and its own reads go on in their order.
    #expect(reads.ended(20) == [12])
    #expect(reads.ended(30) == [])
    #expect(reads.ended(11) == [13])
    #expect(reads.ended(40) == [])
    #expect(reads.ended(12) == [14])
    #expect(reads.ended(13) == [15])
    #expect(reads.ended(14) == [])
    #expect(reads.ended(15) == [])
  }

  @Test func waitingSessionsAlternate() {
    var reads = Transcript(threads: 1)
    #expect(reads.requested(10, 11, 12, 20, 21, 30) == [10])
    #expect(reads.ended(10) == [11])
    #expect(reads.ended(11) == [20])
    #expect(reads.ended(20) == [30])
    #expect(reads.ended(30) == [12])
    #expect(reads.ended(12) == [21])
    #expect(reads.ended(21) == [])
  }

  @Test func cancelledReadLeavesQueueButKeepsItsThread() {
    var reads = Transcript(threads: 2)
    #expect(reads.requested(10, 11, 12) == [10])
    #expect(reads.cancelled(11) == [])
    // The read runs until its thread notices the cancellation, and counts until then.
    #expect(reads.cancelled(10) == [])
    #expect(reads.ended(10) == [12])
    #expect(reads.requested(20, 21) == [20])
    #expect(reads.cancelled(21) == [])
    #expect(reads.ended(20) == [])
    #expect(reads.ended(12) == [])
    // The cancellation of an unknown or ended read changes nothing.
    #expect(reads.cancelled(12) == [])
    #expect(reads.cancelled(90) == [])
    #expect(reads.requested(30, 40, 50) == [30, 40])
  }

  @Test func longReadsLeaveOneThreadToShortReads() {
    var reads = Transcript(threads: 4)
    #expect(reads.requested(10, 20, 30) == [10, 20, 30])
    // The read is endless, which is not known yet; once it has yielded, it waits for one of the other threads.
    #expect(reads.runsShort(40) == true)
    #expect(reads.requested(50, 60) == [])
    #expect(reads.yielded(40) == [50])
    #expect(reads.yielded(50) == [60])
    // No short read waits, so a long read may use the reserved thread.
    #expect(reads.yielded(60) == [40])
    #expect(!reads.queue.mustYield)
    #expect(reads.requested(41, 51, 11) == [])
    #expect(!reads.queue.mustYield)
    // It gives way to each that may be short, and is lent again, in turn.
    var borrower: UInt64 = 40
    for read in UInt64(70)..<80 {
      #expect(reads.requested(read) == [])
      #expect(reads.queue.mustYield)
      #expect(reads.yielded(borrower) == [read])
      #expect(!reads.queue.mustYield)
      let next = reads.ended(read)
      #expect(next.count == 1 && [40, 50, 60].contains(next[0]) && next[0] != borrower)
      borrower = next.first ?? 0
    }
  }

  @Test func readWithTooLargeResultIsNotRetriedAsShortRead() {
    var queue = ReadScheduler(threads: 2)
    #expect(
      queue.handle(.requested(StoreRequestID(10), from: 1)) == [.init(ticket: StoreRequestID(10), isShortRead: false)])
    #expect(
      queue.handle(.requested(StoreRequestID(20), from: 2)) == [.init(ticket: StoreRequestID(20), isShortRead: true)])
    #expect(queue.handle(.exceededBuffer(StoreRequestID(20))) == [])
    #expect(!queue.mustYield)
    #expect(
      queue.handle(.requested(StoreRequestID(30), from: 3)) == [.init(ticket: StoreRequestID(30), isShortRead: true)])
    #expect(queue.handle(.ended(StoreRequestID(30))) == [])
    #expect(queue.handle(.ended(StoreRequestID(10))) == [.init(ticket: StoreRequestID(20), isShortRead: false)])
  }

  @Test func longReadWaitsForUnreservedThread() {
    var queue = ReadScheduler(threads: 2)
    #expect(
      queue.handle(.requested(StoreRequestID(10), from: 1)) == [.init(ticket: StoreRequestID(10), isShortRead: false)])
    #expect(queue.handle(.requested(StoreRequestID(20), from: 2, isLong: true)) == [])
    #expect(
      queue.handle(.requested(StoreRequestID(30), from: 3)) == [.init(ticket: StoreRequestID(30), isShortRead: true)])
    #expect(queue.handle(.ended(StoreRequestID(10))) == [.init(ticket: StoreRequestID(20), isShortRead: false)])
  }

  /// Requests a read of a user's session, and returns the reads that start.
  private func request(_ read: UInt64, _ user: String?, in queue: inout ReadScheduler) -> [UInt64] {
    queue.handle(.requested(StoreRequestID(read), from: read / 10, of: user)).map(\.ticket.number)
  }

  @Test func userMayUseHalfOfTheThreadsOnAllConnections() {
    var queue = ReadScheduler(threads: 4)
    // Ten connections of one user, which may be endless searches.
    #expect(request(10, "ann", in: &queue) == [10])
    #expect(request(20, "ann", in: &queue) == [20])
    for session in UInt64(3)...10 { #expect(request(session * 10, "ann", in: &queue) == []) }
    // Another user's reads start at once, and so do the owner's.
    #expect(request(110, "ben", in: &queue) == [110])
    #expect(request(120, nil, in: &queue) == [120])
    #expect(!queue.mustYield)
    #expect(queue.handle(.ended(StoreRequestID(110))) == [])
    // Each end makes room for one more of them.
    #expect(queue.handle(.ended(StoreRequestID(10))).map(\.ticket.number) == [30])
  }

  @Test func ownerMayUseAllThreadsOnSeveralConnections() {
    var queue = ReadScheduler(threads: 4)
    for read in [10, 20, 30, 40] as [UInt64] { #expect(request(read, nil, in: &queue) == [read]) }
  }

  @Test func usersTakeTurnsWhateverTheNumberOfTheirConnections() {
    var queue = ReadScheduler(threads: 1)
    #expect(request(10, "ann", in: &queue) == [10])
    for session in UInt64(2)...9 { #expect(request(session * 10, "ann", in: &queue) == []) }
    #expect(request(100, "ben", in: &queue) == [])
    #expect(request(101, "ben", in: &queue) == [])
    var order = [UInt64]()
    var running: UInt64 = 10
    for _ in 0..<6 {
      let next = queue.handle(.ended(StoreRequestID(running))).map(\.ticket.number)
      #expect(next.count == 1)
      running = next.first ?? 0
      order.append(running)
    }
    #expect(order == [100, 20, 101, 30, 40, 50])
  }

  /// In the time of a model: a fetch of one user takes one step of a thread. Another user asks at its limit on 100
  /// connections, for fetches that take 1,000 steps each.
  @Test func floodOfOneUserDoesNotDelayAnother() {
    func waits(flooded: Bool) -> [Int] {
      var queue = ReadScheduler(threads: 4)
      var ends = [UInt64: Int]()
      var waits = [Int]()
      var requested = [UInt64: Int]()
      var (now, ticket) = (0, UInt64(1_000_000))
      func begin(_ started: [ReadScheduler.Start]) {
        for start in started {
          let read = start.ticket.number
          if let time = requested[read] { waits.append(now - time) }
          ends[read] = now + (requested[read] == nil ? 1_000 : 1)
        }
      }
      if flooded {
        for read in UInt64(0)..<1_600 {
          begin(queue.handle(.requested(StoreRequestID(read), from: 1_000 + read / 16, of: "ann")))
        }
      }
      for step in 0..<6_000 {
        now = step
        for read in ends.filter({ $0.value <= now }).keys.sorted() {
          ends[read] = nil
          begin(queue.handle(.ended(StoreRequestID(read))))
        }
        if step.isMultiple(of: 3) {
          ticket += 1
          requested[ticket] = now
          begin(queue.handle(.requested(StoreRequestID(ticket), from: 1, of: "ben")))
        }
      }
      return waits.sorted()
    }
    let (alone, flooded) = (waits(flooded: false), waits(flooded: true))
    #expect(alone.count == 2_000 && flooded.count == alone.count)
    // A fetch takes one step, and does not wait for the other user's reads.
    #expect(flooded[flooded.count * 99 / 100] == alone[alone.count * 99 / 100])
  }

  @Test(arguments: UInt64(1)...20, [false, true]) func queueMatchesReferenceModel(seed: UInt64, hasUsers: Bool) {
    var random = SeededGenerator(seed: seed)
    let threads = Int.random(in: 1...6, using: &random)
    var queue = ReadScheduler(threads: threads)
    let users: [SessionID: String] = hasUsers ? [1: "ann", 2: "ann", 3: "ben"] : [:]
    var twin = Twin(threads: threads, users: users)
    var last: UInt64 = 0
    var started = 0
    for step in 0..<2_000 {
      let event: ReadScheduler.Event
      switch Int.random(in: 0..<7, using: &random) {
      case 0, 1:
        last += 1
        let session = SessionID.random(in: 1...5, using: &random)
        event = .requested(
          StoreRequestID(last), from: session, of: users[session], isLong: Int.random(in: 0..<6, using: &random) == 0)
      case 2: event = .cancelled(StoreRequestID(.random(in: 0...last, using: &random)))
      case 3: event = .yielded(twin.running.first(where: \.isShortRead)?.ticket ?? StoreRequestID(0))
      case 4: event = .exceededBuffer(twin.running.first(where: \.isShortRead)?.ticket ?? StoreRequestID(0))
      default: event = .ended(twin.running.randomElement(using: &random)?.ticket ?? StoreRequestID(0))
      }
      let new = queue.handle(event)
      #expect(new == twin.handle(event), "seed \(seed), step \(step): \(event)")
      started += new.count
      #expect(twin.running.count <= threads)
    }
    #expect(started > 100, "seed \(seed)")
  }

  /// The documented rule, over all waiting and running reads.
  private struct Twin {
    struct Read {
      let ticket: StoreRequestID
      let session: SessionID
      var isShortRead = false
    }

    let threads: Int
    var running = [Read]()
    private var waiting = [Read]()
    private var long = Set<StoreRequestID>()
    private var uninterruptible = Set<StoreRequestID>()
    /// When each session that waits had its last turn, or began to wait.
    private var turns = [SessionID: Int]()
    private var time = 0
    let users: [SessionID: String]
    /// When a read of each user that has reads was started last.
    private var starts = [String?: Int]()

    init(threads: Int, users: [SessionID: String]) { (self.threads, self.users) = (threads, users) }

    mutating func handle(_ event: ReadScheduler.Event) -> [ReadScheduler.Start] {
      switch event {
      case .requested(let ticket, let session, _, let isLong):
        if !waiting.contains(where: { $0.session == session }) { turn(session) }
        waiting.append(Read(ticket: ticket, session: session))
        if isLong {
          long.insert(ticket)
          uninterruptible.insert(ticket)
        }
      case .cancelled(let ticket): waiting.removeAll { $0.ticket == ticket }
      case .ended(let ticket): running.removeAll { $0.ticket == ticket }
      case .yielded(let ticket), .exceededBuffer(let ticket):
        guard let place = running.firstIndex(where: { $0.ticket == ticket }) else { break }
        let session = running.remove(at: place).session
        if !waiting.contains(where: { $0.session == session }) { turn(session) }
        waiting.insert(Read(ticket: ticket, session: session), at: 0)
        long.insert(ticket)
        if case .exceededBuffer = event { uninterruptible.insert(ticket) }
      }
      let present = Set((running + waiting).map { users[$0.session] })
      starts = starts.filter { present.contains($0.key) }
      let kept = threads > 1 ? 1 : 0
      var started = [ReadScheduler.Start]()
      while running.count(where: { !$0.isShortRead }) < threads - kept, let read = best() {
        started.append(start(read, isShortRead: false))
      }
      if kept > running.count(where: \.isShortRead), let read = short() {
        started.append(start(read, isShortRead: true))
      }
      if kept > running.count(where: \.isShortRead), let read = borrower() {
        started.append(start(read, isShortRead: true, isBorrowing: true))
      }
      return started
    }

    private mutating func start(_ read: Read, isShortRead: Bool, isBorrowing: Bool = false) -> ReadScheduler.Start {
      waiting.removeAll { $0.ticket == read.ticket }
      running.append(Read(ticket: read.ticket, session: read.session, isShortRead: isShortRead))
      turn(read.session)
      starts[users[read.session]] = time
      return .init(ticket: read.ticket, isShortRead: isShortRead, isBorrowing: isBorrowing)
    }

    private mutating func turn(_ session: SessionID) {
      time += 1
      turns[session] = time
    }

    private func busy(_ session: SessionID) -> Int { running.count { $0.session == session } }

    private func busy(_ user: String?) -> Int { running.count { users[$0.session] == user } }

    private func isBelowShare(_ session: SessionID) -> Bool {
      busy(session) < max(1, threads / 2) && (users[session] == nil || busy(users[session]) < max(1, threads / 2))
    }

    private func precedes(_ one: Read, _ other: Read) -> Bool {
      func load(_ session: SessionID) -> (Int, Int, Int, Int) {
        let user = users[session]
        return (busy(user), starts[user] ?? 0, busy(session), turns[session] ?? 0)
      }
      return load(one.session) < load(other.session)
    }

    private func best() -> Read? {
      // The first of equals, which is a session's oldest.
      waiting.filter { isBelowShare($0.session) }.min(by: precedes)
    }

    /// The oldest read of a session without running reads that has been tried before.
    private func borrower() -> Read? {
      waiting.filter { read in
        busy(read.session) == 0 && waiting.first { $0.session == read.session }?.ticket == read.ticket
          && long.contains(read.ticket) && !uninterruptible.contains(read.ticket) && isBelowShare(read.session)
      }.min(by: precedes)
    }

    /// The oldest read of a session without running or long reads.
    private func short() -> Read? {
      waiting.filter { read in
        busy(read.session) == 0 && !waiting.contains { $0.session == read.session && long.contains($0.ticket) }
          && isBelowShare(read.session)
      }.min(by: precedes)
    }
  }
}
