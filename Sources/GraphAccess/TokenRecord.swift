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
  /// When it was made.
  public var created: Timestamp
  /// The time at which it expires; nil for never.
  public var expires: Timestamp?
  /// The time of its last use, to about a minute; nil for never.
  public var lastUsed: Timestamp?
  /// When it was revoked; nil if it was not.
  public var revoked: Timestamp?

  /// The reason why a token can no longer be used; nil if it can.
  func end(at now: Timestamp) -> Refusal? {
    if user.isRemoved { return Refusal(.notAllowed, "the user of this token was removed") }
    if revoked != nil { return Refusal(.notAllowed, "the token was revoked; log in with a new one") }
    if let expires, now >= expires {
      return Refusal(.notAllowed, "the token expired at \(RFC3339.text(expires)); log in with a new one")
    }
    return nil
  }

  /// Verifies a token against the record that its selector has found.
  ///
  /// It takes the same time for a selector that is not known and for a wrong verifier, and compares all bytes of the
  /// digests. Only the holder of a token learns why it has ended.
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

/// A person or a program with an account.
public struct AccessUser: Hashable, Sendable {
  /// The id, sixteen hexadecimal digits, which never changes and is never used twice.
  public var id: String
  /// The shown name; unique among the users that were not removed.
  public var name: String
  /// When the account was made.
  public var created: Timestamp
  /// Whether the account was removed. Its id stays, because history has it.
  public var isRemoved: Bool
  /// The rights of the user.
  public var role: Role

  /// The principal for whom this user's sessions act.
  public var principal: Principal { Principal(id: Principal.accountPrefix + id, name: name) }

  /// The most bytes of a name.
  public static let maximumNameSize = 256

  /// Checks a name for a new account.
  /// - Throws: `Refusal` that says what is wrong.
  public static func check(name: String) throws(Refusal) {
    let scalars = name.unicodeScalars
    guard !name.isEmpty, name.utf8.count <= maximumNameSize else {
      throw Refusal(.invalid, "a user's name has 1 to \(maximumNameSize) bytes; this one has \(name.utf8.count)")
    }
    guard !scalars.contains(where: { $0.value < 32 || (127..<160).contains($0.value) }) else {
      throw Refusal(.invalid, "a user's name has no control characters")
    }
    guard scalars.first != " ", scalars.last != " " else {
      throw Refusal(.invalid, "a user's name has no space at its beginning or end")
    }
    guard !name.hasPrefix(AccessToken.prefix) else {
      throw Refusal(.invalid, "a user's name can't begin with \(AccessToken.prefix), as a token does")
    }
    guard !Principal.isReserved(name) else {
      throw Refusal(
        .invalid, "a user's name can't begin with \(Principal.accountPrefix) or \(Principal.localUserPrefix)")
    }
  }
}
