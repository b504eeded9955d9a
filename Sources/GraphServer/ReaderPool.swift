import Foundation
import Synchronization

/// A few threads that run jobs on the store in order of arrival. The sessions' limits bound the queue.
///
/// A pool for long jobs yields the processors to the event loop, the writer and the short reads.
final class ReaderPool: Sendable {
  private struct Queue {
    var jobs = [@Sendable () -> Void]()
    var next = 0
    var isStopping = false
    /// The number of started threads.
    var running = 0
  }

  private let queue = Mutex(Queue())
  private let available = DispatchSemaphore(value: 0)
  private let stopped = DispatchSemaphore(value: 0)
  private let threads: Int
  private let name: String
  private let niceness: Int32

  /// - Parameters:
  ///   - name: the threads' name in the system's tools; a number follows it.
  ///   - niceness: the amount by which the threads' priority is lowered, 0 to 19.
  init(threads: Int, name: String = "reader", niceness: Int32 = 0) {
    precondition(threads >= 0, "a pool has no negative number of threads")
    precondition(niceness >= 0, "a program may lower its threads' priority only")
    self.threads = threads
    self.name = name
    self.niceness = niceness
  }

  /// - Throws: `StoreFailure(.noThreads)`; threads that were started already end with `stop`.
  func start() throws {
    for number in 0..<threads {
      try ServerThread.start("\(name) \(number)") { [self] in
        if niceness > 0 { ServerThread.lowerPriority(by: niceness) }
        run()
        stopped.signal()
      }
      queue.withLock { $0.running += 1 }
    }
  }

  func enqueue(_ job: @escaping @Sendable () -> Void) {
    assert(threads > 0, "jobs need a thread")
    queue.withLock { $0.jobs.append(job) }
    available.signal()
  }

  /// Ends after the queued jobs have run; blocks until then.
  func stop() {
    let running = queue.withLock { queue in
      queue.isStopping = true
      return queue.running
    }
    for _ in 0..<running { available.signal() }
    for _ in 0..<running { stopped.wait() }
  }

  private func run() {
    while let job = nextJob() { job() }
  }

  /// Waits for the next job; nil when the pool stops.
  private func nextJob() -> (@Sendable () -> Void)? {
    available.wait()
    return queue.withLock { queue in
      guard queue.next < queue.jobs.count else {
        assert(queue.isStopping, "a thread wakes for a job or for the end")
        return nil
      }
      defer {
        queue.next += 1
        if queue.next == queue.jobs.count || queue.next > 1_024 {
          queue.jobs.removeFirst(queue.next)
          queue.next = 0
        }
      }
      return queue.jobs[queue.next]
    }
  }
}
