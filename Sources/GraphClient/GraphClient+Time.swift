import GraphReplica
import NIOCore

/// The replica's time: it is told before anything is heard, after anything was asked, and when the replica wants to know.
extension GraphClient {
  /// Milliseconds of a clock that never goes back.
  static var uptime: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }

  func tick() { handle(.tick(Self.uptime)) }

  /// Sleeps until the replica wants to know the time.
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
