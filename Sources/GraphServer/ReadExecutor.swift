import GraphHub
import Synchronization

/// Runs sessions' reads on a few threads, in the order that `ReadScheduler` decides.
///
/// `ReadScheduler` starts a read only when a thread is free, so a pool's own queue serves as hand-over only. The thread
/// for short reads keeps the priority of the event loop and the writer. The other threads have a lower one: a read that
/// computes for minutes takes the time that commits and short reads leave.
final class ReadExecutor: Sendable {
  /// A short read: a read on the thread that is reserved for short reads.
  struct ShortRead: Sendable {
    /// Whether an earlier attempt took too long: the read borrows the thread, and yields at once when another waits.
    let isBorrowing: Bool
    /// Whether another read waits for this thread.
    let mustYield: @Sendable () -> Bool
  }

  /// The result of a job.
  enum JobResult {
    /// The read was answered, refused or cancelled.
    case answered
    /// The read yielded before it sent a frame; it is queued again.
    case yielded
    /// The same, because the answer is too large to buffer; the read is not retried on the reserved thread.
    case tooLarge
  }

  /// A read to run; `shortRead` is nil on an ordinary thread, where the read runs to its end.
  typealias Job = @Sendable (_ shortRead: ShortRead?) -> JobResult

  /// The amount by which the priority of the threads for long reads is lowered: they get about a tenth of a processor's
  /// time while a thread of ordinary priority is busy.
  private static let niceness: Int32 = 10

  private struct State {
    var queue: ReadScheduler
    /// The jobs of the waiting reads.
    var jobs = [StoreRequestID: Job]()
    /// Called once when no read waits or runs.
    var whenIdle: (@Sendable () -> Void)?

    /// The call that is due, if there is one.
    mutating func removeIdleCall() -> (@Sendable () -> Void)? {
      guard queue.count == 0 else { return nil }
      defer { whenIdle = nil }
      return whenIdle
    }
  }

  /// The loop adds and cancels reads, and threads finish them.
  private let state: Mutex<State>
  private let pool: ReaderPool
  /// The thread that is reserved for short reads; none if there is a single thread.
  private let reserved: ReaderPool
  /// A copy of `queue.mustYield` that the read on the reserved thread polls; written under the mutex.
  private let mustYield = Atomic(false)

  init(threads: Int) {
    let reservedThreads = threads > 1 ? 1 : 0
    pool = ReaderPool(threads: threads - reservedThreads, niceness: Self.niceness)
    reserved = ReaderPool(threads: reservedThreads, name: "short reads")
    state = Mutex(State(queue: ReadScheduler(threads: threads)))
  }

  /// - Throws: `StoreFailure(.noThreads)`.
  func start() throws {
    try pool.start()
    try reserved.start()
  }

  /// Waits for the running reads and drops the waiting ones; blocks until then.
  func stop() {
    pool.stop()
    reserved.stop()
  }

  /// - Parameters:
  ///   - user: the user of the session; nil for the machine's owner.
  ///   - isLong: whether to keep the read off the thread that is reserved for short reads.
  func enqueue(
    _ ticket: StoreRequestID, of session: SessionID, user: String? = nil, isLong: Bool = false, _ job: @escaping Job
  ) {
    schedule(.requested(ticket, from: session, of: user, isLong: isLong), job: (ticket, job))
  }

  /// Cancels a read: if it is still waiting, it never runs.
  func cancel(_ ticket: StoreRequestID) { schedule(.cancelled(ticket)) }

  /// The number of waiting and running reads.
  var scheduledReads: Int { state.withLock { $0.queue.count } }

  /// Calls back once, on any thread, when no read waits or runs. A later call replaces it.
  func whenIdle(_ body: @escaping @Sendable () -> Void) {
    let due = state.withLock { state in
      state.whenIdle = body
      return state.removeIdleCall()
    }
    due?()
  }

  private func schedule(_ event: ReadScheduler.Event, job: (ticket: StoreRequestID, run: Job)? = nil) {
    let (started, idleCall) = state.withLock {
      state -> ([(start: ReadScheduler.Start, run: Job)], (@Sendable () -> Void)?) in
      if let job { state.jobs[job.ticket] = job.run }
      if case .cancelled(let ticket) = event { state.jobs[ticket] = nil }
      let started = state.queue.handle(event)
      mustYield.store(state.queue.mustYield, ordering: .relaxed)
      let runs = started.compactMap { start -> (start: ReadScheduler.Start, run: Job)? in
        let run = state.jobs.removeValue(forKey: start.ticket)
        assert(run != nil, "a waiting read has a job")
        return run.map { (start, $0) }
      }
      return (runs, state.removeIdleCall())
    }
    idleCall?()
    for (start, run) in started {
      (start.isShortRead ? reserved : pool).enqueue { [self] in
        let shortRead = ShortRead(isBorrowing: start.isBorrowing) { [self] in mustYield.load(ordering: .relaxed) }
        switch run(start.isShortRead ? shortRead : nil) {
        case .answered: schedule(.ended(start.ticket))
        case .yielded: schedule(.yielded(start.ticket), job: (start.ticket, run))
        case .tooLarge: schedule(.exceededBuffer(start.ticket), job: (start.ticket, run))
        }
      }
    }
  }
}
