// Tests: TokenRecordTests.swift
import GraphModel

/// The row of a token, which does not contain the secret.
public struct TokenRecord: Hashable, Sendable {
  /// The public part of the token.
  public var selector: TokenSelector
  /// The SHA-256 of the verifier.
  var digest: [UInt8]
  /// The user of the token.
  public var user: AccessUser
  /// The purpose of the token, as its user describes it.
  public var label: String
  /// Whether a browser has the token as a cookie.
  public var isBrowser: Bool
  /// The token with which the browser logged in; nil for a token of a program, and for a browser that the machine's
  /// owner logged in.
  public var parent: TokenSelector?
  /// The time at which it was made.
  public var created: Timestamp
  /// The time at which it expires; nil for never.
  public var expires: Timestamp?
  /// The time of its last use, to about a minute; nil for never.
  public var lastUsed: Timestamp?
  /// The time at which it was revoked; nil if it was not.
  public var revoked: Timestamp?

  /// The reason why a token can no longer be used; nil if it can.
  public func end(at now: Timestamp) -> Refusal? {
    if user.isRemoved { return .userRemoved }
    if revoked != nil { return .tokenRevoked }
    if let expires, now >= expires {
      return Refusal(.notAllowed, "the token expired at \(RFC3339.text(expires)); log in with a new one")
    }
    return nil
  }

  /// Verifies a token against the record with its selector.
  ///
  /// An unknown selector and a wrong verifier take the same time, and all bytes of the digests are compared. Only a
  /// client that has the complete token is informed why the token is no longer valid.
  /// - Parameter record: nil if no token has the selector.
  /// - Returns: the record.
  static func verify(_ token: AccessToken, _ record: TokenRecord?, now: Timestamp) throws(Refusal) -> TokenRecord {
    let expected = if let record { record.digest } else { [UInt8](repeating: 0, count: AccessToken.verifierSize) }
    let isEqual = haveEqualBytes(token.digest, expected)
    guard let record, isEqual else {
      throw Refusal(.notAllowed, "the token is not valid here; was it made for another server?")
    }
    if let end = record.end(at: now) { throw end }
    return record
  }

  /// Compares bytes in a time that depends on their number only.
  private static func haveEqualBytes(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    var difference: UInt8 = 0
    for index in one.indices { difference |= one[index] ^ other[index] }
    return difference == 0
  }
}
