import GraphHub
import Synchronization

/// The threads on which sessions' reads run, in the order that `ReadQueue` says. What it starts has a free thread: the
/// pool's own queue is for the hand-over only.
final class FairReaders: Sendable {
  /// Given whether it is a trial; false when that was over before the read was, which is to run once more.
  typealias Job = @Sendable (_ isTrial: Bool) -> Bool

  private struct State {
    var queue: ReadQueue
    /// Jobs of the reads that wait.
    var jobs = [Ticket: Job]()
  }

  /// Guarded by its mutex: the loop brings reads and takes them back, threads end them.
  private let state: Mutex<State>
  private let pool: ReaderPool

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
      return state.queue.handle(event).compactMap { start in
        state.jobs.removeValue(forKey: start.ticket).map { (start, $0) }
      }
    }
    for (start, run) in started {
      pool.enqueue { [self] in
        if run(start.isTrial) {
          perform(.ended(start.ticket))
        } else {
          perform(.tookTooLong(start.ticket), job: (start.ticket, run))
        }
      }
    }
  }
}
