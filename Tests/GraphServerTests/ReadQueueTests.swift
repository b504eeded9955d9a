import GraphHub
import GraphTesting
import Testing

@testable import GraphServer

/// What free threads take: a line for each event, and the reads that it starts.
@Suite struct ReadQueueTests {
  /// Reads of session 1 are 10, 11, … 19, of session 2 20 to 29, and so on.
  private struct Transcript {
    var queue: ReadQueue

    init(threads: Int) { queue = ReadQueue(threads: threads) }

    mutating func came(_ reads: UInt64...) -> [UInt64] {
      reads.flatMap { queue.handle(.came(Ticket($0), from: $0 / 10)).map(\.number) }
    }

    mutating func ended(_ read: UInt64) -> [UInt64] { queue.handle(.ended(Ticket(read))).map(\.number) }

    mutating func left(_ read: UInt64) -> [UInt64] { queue.handle(.left(Ticket(read))).map(\.number) }
  }

  @Test func aSessionRunsHalfOfTheThreadsAndAtLeastOne() {
    for (threads, share) in [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (8, 4)] {
      var one = Transcript(threads: threads)
      #expect(one.came(10, 11, 12, 13, 14, 15, 16, 17, 18, 19) == (0..<UInt64(share)).map { 10 + $0 })
      #expect(one.queue.share == share)
    }
  }

  @Test func whoeverAsksForLittleIsNotHeldUpByOneThatAsksForMuch() {
    var reads = Transcript(threads: 4)
    #expect(reads.came(10, 11, 12, 13, 14, 15) == [10, 11])
    #expect(reads.came(20) == [20])
    #expect(reads.came(30) == [30])
    // All threads are busy; the next free one goes to who has none, though the first session waits for longer.
    #expect(reads.came(40) == [])
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

  @Test func sessionsThatWaitTakeTurns() {
    var reads = Transcript(threads: 1)
    #expect(reads.came(10, 11, 12, 20, 21, 30) == [10])
    #expect(reads.ended(10) == [11])
    #expect(reads.ended(11) == [20])
    #expect(reads.ended(20) == [30])
    #expect(reads.ended(30) == [12])
    #expect(reads.ended(12) == [21])
    #expect(reads.ended(21) == [])
  }

  @Test func aReadThatNobodyWantsGivesUpItsPlaceButNotItsThread() {
    var reads = Transcript(threads: 2)
    #expect(reads.came(10, 11, 12) == [10])
    #expect(reads.left(11) == [])
    // It runs until it hears of it, and counts until then.
    #expect(reads.left(10) == [])
    #expect(reads.ended(10) == [12])
    #expect(reads.came(20, 21) == [20])
    #expect(reads.left(21) == [])
    #expect(reads.ended(20) == [])
    #expect(reads.ended(12) == [])
    // What is not known, or not any more, changes nothing.
    #expect(reads.left(12) == [])
    #expect(reads.left(90) == [])
    #expect(reads.ended(90) == [])
    #expect(reads.came(30, 40, 50) == [30, 40])
  }

  @Test(arguments: UInt64(1)...20) func itStartsWhatANaiveTwinStarts(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let threads = Int.random(in: 1...6, using: &random)
    var queue = ReadQueue(threads: threads)
    var twin = Twin(threads: threads)
    var last: UInt64 = 0
    var started = 0
    for step in 0..<2_000 {
      let event: ReadQueue.Event
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        last += 1
        event = .came(Ticket(last), from: .random(in: 1...5, using: &random))
      case 2: event = .left(Ticket(.random(in: 0...last, using: &random)))
      default: event = .ended(twin.running.randomElement(using: &random)?.ticket ?? Ticket(0))
      }
      let new = queue.handle(event)
      #expect(new == twin.handle(event), "seed \(seed), step \(step): \(event)")
      started += new.count
      #expect(twin.running.count <= threads)
    }
    #expect(started > 100, "seed \(seed)")
  }

  /// The rule as it is said, over all that waits and runs.
  private struct Twin {
    struct Read {
      let ticket: Ticket
      let session: SessionID
    }

    let threads: Int
    var running = [Read]()
    private var waiting = [Read]()
    /// When each session that waits had its last turn, or began to wait.
    private var turns = [SessionID: Int]()
    private var time = 0

    init(threads: Int) { self.threads = threads }

    mutating func handle(_ event: ReadQueue.Event) -> [Ticket] {
      switch event {
      case .came(let ticket, let session):
        if !waiting.contains(where: { $0.session == session }) { turn(session) }
        waiting.append(Read(ticket: ticket, session: session))
      case .left(let ticket): waiting.removeAll { $0.ticket == ticket }
      case .ended(let ticket): running.removeAll { $0.ticket == ticket }
      }
      var started = [Ticket]()
      while running.count < threads, let read = best() {
        waiting.removeAll { $0.ticket == read.ticket }
        running.append(read)
        turn(read.session)
        started.append(read.ticket)
      }
      return started
    }

    private mutating func turn(_ session: SessionID) {
      time += 1
      turns[session] = time
    }

    private func busy(_ session: SessionID) -> Int { running.count { $0.session == session } }

    private func best() -> Read? {
      // The first of equals, which is a session's oldest.
      waiting.filter { busy($0.session) < max(1, threads / 2) }
        .min { (busy($0.session), turns[$0.session] ?? 0) < (busy($1.session), turns[$1.session] ?? 0) }
    }
  }
}
