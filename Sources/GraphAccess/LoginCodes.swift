// Tests: LoginCodesTests.swift
import Crypto
import GraphModel

/// The one-time codes with which browsers log in. A code is valid once, and for a minute.
///
/// The table is in memory only and contains hashes: the time of a lookup does not depend on how much of a guessed code
/// is right, and a memory dump contains no codes.
public struct LoginCodes: Sendable {
  /// A login that a code allows.
  public struct Login: Equatable, Sendable {
    /// The id of the user.
    public var user: String
    /// The token that allows the login; nil if the machine's owner does.
    public var token: TokenSelector?
    /// The expiry of that token; nil for never.
    public var expires: Timestamp?

    /// A login of a user.
    public init(user: String, token: TokenSelector?, expires: Timestamp?) {
      (self.user, self.token, self.expires) = (user, token, expires)
    }
  }

  private struct Entry {
    let login: Login
    /// The time at which the code expires, in milliseconds of a monotonic clock.
    let deadline: Int64
  }

  private var entries = [[UInt8]: Entry]()

  /// The time for which a code is valid, in milliseconds.
  public static let lifetime: Int64 = 60_000
  /// The maximum number of codes per user; a further one replaces the oldest.
  static let maximumOfUser = 8
  /// The maximum number of codes of all users.
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

  /// Uses up a code and returns its login.
  /// - Returns: nil if the code is wrong, used or expired.
  public mutating func remove(_ code: String, now: Int64) -> Login? {
    guard let entry = entries.removeValue(forKey: Self.hash(code)), entry.deadline > now else { return nil }
    return entry.login
  }

  private static func hash(_ code: String) -> [UInt8] { Array(SHA256.hash(data: Array(code.utf8))) }
}
