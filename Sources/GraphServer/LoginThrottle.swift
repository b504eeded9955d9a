// Tests: LoginThrottleTests.swift

/// Slows down failed logins from one address: after each failure the address waits twice as long, and its attempts wait
/// for each other. An entry leaves with a successful login, or when its last pause is over for a while.
struct LoginThrottle {
  private struct Address {
    var failures = 0
    /// The time, in milliseconds, from which the next attempt may begin.
    var next: Int64
  }

  private var addresses = [String: Address]()

  /// The first pause in milliseconds, the longest one, and the time for which failures count after it.
  private static let pauses: (first: Int64, longest: Int64, memory: Int64) = (100, 10_000, 60_000)
  /// The addresses that are remembered; beyond it the oldest failures are forgotten.
  static let maximumAddresses = 10_000

  /// Reserves the next attempt of an address.
  /// - Parameter now: the time in milliseconds of a monotonic clock.
  /// - Returns: the time in milliseconds to wait before the attempt; nil if the address has too many attempts waiting.
  mutating func begin(_ address: String, now: Int64) -> Int64? {
    guard var entry = addresses[address] else { return 0 }
    let start = max(now, entry.next)
    guard start - now <= Self.pauses.longest else { return nil }
    entry.next = start + Self.pause(after: entry.failures)
    addresses[address] = entry
    return start - now
  }

  /// Records that a credential from an address was refused.
  mutating func recordFailure(_ address: String, now: Int64) {
    var entry = if let known = addresses[address] { known } else { Address(next: now) }
    entry.failures += 1
    entry.next = max(entry.next, now + Self.pause(after: entry.failures))
    if addresses.count >= Self.maximumAddresses, addresses[address] == nil { forget(now) }
    addresses[address] = entry
  }

  /// Records a successful login.
  mutating func recordSuccess(_ address: String) { addresses[address] = nil }

  private mutating func forget(_ now: Int64) {
    addresses = addresses.filter { $0.value.next + Self.pauses.memory > now }
    if addresses.count < Self.maximumAddresses { return }
    let oldest = addresses.sorted { ($0.value.next, $0.key) < ($1.value.next, $1.key) }.prefix(
      Self.maximumAddresses / 2)
    for (address, _) in oldest { addresses[address] = nil }
  }

  private static func pause(after failures: Int) -> Int64 {
    failures == 0 ? 0 : min(pauses.longest, pauses.first << Int64(min(failures - 1, 20)))
  }
}
