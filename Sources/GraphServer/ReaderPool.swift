import Foundation
import Synchronization

/// A few threads for reads of the store, which take jobs in the order in which they came. What waits is bounded by the
/// sessions' limits.
final class ReaderPool: Sendable {
  private struct Queue {
    var jobs = [@Sendable () -> Void]()
    var next = 0
    var isStopping = false
  }

  private let queue = Mutex(Queue())
  private let available = DispatchSemaphore(value: 0)
  private let stopped = DispatchSemaphore(value: 0)
  private let threads: Int

  init(threads: Int) { self.threads = threads }

  func start() {
    for number in 0..<threads {
      let thread = Thread { [self] in
        run()
        stopped.signal()
      }
      thread.name = "reader \(number)"
      thread.stackSize = 8 << 20
      thread.start()
    }
  }

  func enqueue(_ job: @escaping @Sendable () -> Void) {
    queue.withLock { $0.jobs.append(job) }
    available.signal()
  }

  /// Ends when the jobs that are queued have run. Blocks until they have.
  func stop() {
    queue.withLock { $0.isStopping = true }
    for _ in 0..<threads { available.signal() }
    for _ in 0..<threads { stopped.wait() }
  }

  private func run() {
    while true {
      available.wait()
      let job = queue.withLock { queue -> (@Sendable () -> Void)? in
        guard queue.next < queue.jobs.count else { return nil }
        defer {
          queue.next += 1
          if queue.next == queue.jobs.count || queue.next > 1_024 {
            queue.jobs.removeFirst(queue.next)
            queue.next = 0
          }
        }
        return queue.jobs[queue.next]
      }
      guard let job else { return }
      job()
    }
  }
}
