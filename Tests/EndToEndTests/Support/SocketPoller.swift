import Foundation
import Synchronization

/// A socket that can be read or written.
enum SocketPoller {
  case read, write

  private static let queue = DispatchQueue(label: "sockets of tests")

  /// Waits for the event without a thread; returns false if the deadline passes first.
  func happens(on descriptor: Int32, by deadline: ContinuousClock.Instant) async -> Bool {
    let left = deadline - ContinuousClock.now
    guard left > .zero else { return false }
    let source: any DispatchSourceProtocol =
      switch self {
      case .read: DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
      case .write: DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: Self.queue)
      }
    let timer = DispatchSource.makeTimerSource(queue: Self.queue)
    let hasHappened = Mutex(false)
    await withCheckedContinuation { continuation in
      source.setEventHandler {
        hasHappened.withLock { $0 = true }
        source.cancel()
      }
      timer.setEventHandler { source.cancel() }
      // Only now may the descriptor be closed.
      source.setCancelHandler {
        timer.cancel()
        continuation.resume()
      }
      timer.schedule(deadline: .now() + left.seconds)
      timer.resume()
      source.resume()
    }
    return hasHappened.withLock { $0 }
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
