import GraphReplica
import NIOCore

/// The replica's clock. It ticks before messages are handled, after requests, and at the replica's deadline.
extension GraphClient {
  /// The time of a monotonic clock, in milliseconds.
  static var uptime: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }

  func tick() { handle(.tick(Self.uptime)) }

  /// Sleeps until the replica's deadline.
  func keepTime() {
    guard state != .closed, let deadline = context.replica.deadline else { return }
    let now = Self.uptime
    guard deadline > now else { return tick() }
    guard alarm.set(to: deadline) else { return }
    ticking?.cancel()
    ticking = Task { [weak self] in
      try? await Task.sleep(for: .milliseconds(deadline - now))
      guard !Task.isCancelled else { return }
      self?.alarm.ring()
      self?.tick()
    }
  }
}
