import GraphHub
import Synchronization

/// The threads on which sessions' reads run, in the order that `ReadQueue` says. What it starts has a free thread: the
/// pool's own queue is for the hand-over only.
final class FairReaders: Sendable {
  /// A read on the thread that is kept for short ones.
  struct Trial: Sendable {
    /// It was tried before: the thread is lent to it, and it gives way at once.
    let isGuest: Bool
    /// Whether another read waits for this thread.
    let mustGiveWay: @Sendable () -> Bool
  }

  /// How a job has ended.
  enum End {
    /// The read is answered, refused or not wanted.
    case answered
    /// Nothing of it has left: it runs once more.
    case gaveWay
    /// As before, and not as a trial: its answer is too large to be held back.
    case tooLarge
  }

  /// Given what it must look at on the kept thread; nil on one of the others, where it is answered.
  typealias Job = @Sendable (_ trial: Trial?) -> End

  private struct State {
    var queue: ReadQueue
    /// Jobs of the reads that wait.
    var jobs = [Ticket: Job]()
  }

  /// Guarded by its mutex: the loop brings reads and takes them back, threads end them.
  private let state: Mutex<State>
  private let pool: ReaderPool
  /// What the queue said last of the read on the kept thread, which looks at it again and again. Written under the mutex.
  private let mustGiveWay = Atomic(false)

  init(threads: Int) {
    pool = ReaderPool(threads: threads)
    state = Mutex(State(queue: ReadQueue(threads: threads)))
  }

  /// - Throws: `StoreFailure(.noThreads)`.
  func start() throws { try pool.start() }

  /// Ends when the reads that run have ended; those that wait are dropped. Blocks until then.
  func stop() { pool.stop() }

  /// - Parameter isLong: it is not tried on the thread that is kept for short reads.
  func enqueue(_ ticket: Ticket, of session: SessionID, isLong: Bool = false, _ job: @escaping Job) {
    perform(.came(ticket, from: session, isLong: isLong), job: (ticket, job))
  }

  /// Nobody wants it: if it waits, it never runs.
  func cancel(_ ticket: Ticket) { perform(.left(ticket)) }

  private func perform(_ event: ReadQueue.Event, job: (ticket: Ticket, run: Job)? = nil) {
    let started = state.withLock { state -> [(start: ReadQueue.Start, run: Job)] in
      if let job { state.jobs[job.ticket] = job.run }
      if case .left(let ticket) = event { state.jobs[ticket] = nil }
      let started = state.queue.handle(event)
      mustGiveWay.store(state.queue.mustGiveWay, ordering: .relaxed)
      return started.compactMap { start in state.jobs.removeValue(forKey: start.ticket).map { (start, $0) } }
    }
    for (start, run) in started {
      pool.enqueue { [self] in
        let trial = Trial(isGuest: start.isGuest) { [self] in mustGiveWay.load(ordering: .relaxed) }
        switch run(start.isTrial ? trial : nil) {
        case .answered: perform(.ended(start.ticket))
        case .gaveWay: perform(.tookTooLong(start.ticket), job: (start.ticket, run))
        case .tooLarge: perform(.isTooLarge(start.ticket), job: (start.ticket, run))
        }
      }
    }
  }
}
