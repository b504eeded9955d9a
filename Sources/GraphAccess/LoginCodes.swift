// Tests: LoginCodesTests.swift
import Crypto
import GraphModel

/// The codes with which browsers log in, each once and within a minute.
///
/// They are in memory only, as hashes: a code is found in a time that does not depend on how much of it is right, and a
/// dump of the memory has none.
public struct LoginCodes: Sendable {
  /// A login that a code allows.
  public struct Login: Equatable, Sendable {
    /// The id of the user.
    public var user: String
    /// The time at which the token expires with which the code was requested; nil for never.
    public var expires: Timestamp?

    /// A login of a user.
    public init(user: String, expires: Timestamp?) { (self.user, self.expires) = (user, expires) }
  }

  private struct Entry {
    let login: Login
    /// The end of the code, in milliseconds of a monotonic clock.
    let deadline: Int64
  }

  private var entries = [[UInt8]: Entry]()

  /// The time for which a code is valid, in milliseconds.
  public static let lifetime: Int64 = 60_000
  /// The codes of a user at a time; a further one replaces the oldest.
  static let maximumOfUser = 8
  /// The codes at a time.
  static let maximum = 1_000

  /// No codes.
  public init() {}

  /// Makes a code.
  /// - Parameters:
  ///   - now: the time in milliseconds of a monotonic clock.
  ///   - random: returns random bits of a cryptographic generator.
  /// - Returns: nil if there are too many.
  public mutating func add(_ login: Login, now: Int64, random: () -> UInt64) -> String? {
    entries = entries.filter { $0.value.deadline > now }
    let own = entries.filter { UTF8Comparison.equal($0.value.login.user, login.user) }
    if own.count >= Self.maximumOfUser, let oldest = own.min(by: { $0.value.deadline < $1.value.deadline }) {
      entries[oldest.key] = nil
    }
    guard entries.count < Self.maximum else { return nil }
    let bits = [random(), random()]
    let code = Base32.text(bits.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } })
    entries[Self.hash(code)] = Entry(login: login, deadline: now + Self.lifetime)
    return code
  }

  /// Removes a code, which is then used.
  /// - Returns: nil if the code is wrong, used or expired.
  public mutating func remove(_ code: String, now: Int64) -> Login? {
    guard let entry = entries.removeValue(forKey: Self.hash(code)), entry.deadline > now else { return nil }
    return entry.login
  }

  private static func hash(_ code: String) -> [UInt8] { Array(SHA256.hash(data: Array(code.utf8))) }
}
