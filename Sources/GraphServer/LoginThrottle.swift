// Tests: LoginThrottleTests.swift

/// Slows down failed logins from one address: each further failure is answered twice as late as the one before, and
/// the answers wait for each other. An entry counts until its last answer was sent a while ago.
///
/// Only failures wait, never a valid token: its user may share the address with an attacker, behind a router, a proxy
/// or a tunnel, and must not be locked out. Nothing is lost by it: a verifier has 256 bits, so no rate of guesses finds
/// one, and the pauses only keep an attacker from using the server's time.
struct LoginThrottle {
  private struct Address {
    var failures: Int
    /// The time, in milliseconds, of the last answer.
    var lastAnswer: Int64
  }

  private var addresses = [String: Address]()

  /// The longest pause in milliseconds.
  static let longestPause: Int64 = 10_000
  /// The first pause in milliseconds, and the time for which failures count after their answer.
  private static let pauses: (first: Int64, memory: Int64) = (100, 60_000)
  /// The addresses that are remembered; beyond it the oldest failures are forgotten.
  static let maximumAddresses = 10_000

  /// Records that a credential from an address was refused.
  /// - Parameter now: the time in milliseconds of a monotonic clock.
  /// - Returns: the time in milliseconds after which to answer; nil if too many answers to the address are waiting.
  ///   Such a failure is answered after `longestPause`.
  mutating func recordFailure(_ address: String, now: Int64) -> Int64? {
    var entry = Address(failures: 0, lastAnswer: now)
    if let known = addresses[address], known.lastAnswer + Self.pauses.memory > now {
      entry = known
    } else if addresses.count >= Self.maximumAddresses {
      forget(now)
    }
    let answer = max(now, entry.lastAnswer + Self.pause(after: entry.failures))
    assert(answer >= now, "an answer is not in the past")
    guard answer - now <= Self.longestPause else { return nil }
    addresses[address] = Address(failures: entry.failures + 1, lastAnswer: answer)
    return answer - now
  }

  private mutating func forget(_ now: Int64) {
    addresses = addresses.filter { $0.value.lastAnswer + Self.pauses.memory > now }
    // At least half is forgotten, so that not every failure examines all addresses.
    let surplus = addresses.count - Self.maximumAddresses / 2
    if surplus <= 0 { return }
    let oldest = addresses.sorted { ($0.value.lastAnswer, $0.key) < ($1.value.lastAnswer, $1.key) }.prefix(surplus)
    for (address, _) in oldest { addresses[address] = nil }
  }

  private static func pause(after failures: Int) -> Int64 {
    failures == 0 ? 0 : min(longestPause, pauses.first << Int64(min(failures - 1, 20)))
  }
}
