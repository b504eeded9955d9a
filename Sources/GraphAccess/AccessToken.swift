// Tests: AccessTokenTests.swift
import Crypto
import GraphModel

/// A token, which is the secret of one program of a user.
///
/// Its text is `stk_` and three parts in base32: a selector of 64 bits, which finds the token's row; a verifier of 256
/// bits, of which the file stores only the SHA-256; and a checksum of 32 bits. By the checksum, a reader recognizes a
/// cut or mistyped token without a lookup, and a scanner for leaked secrets has no false matches.
public struct AccessToken: Sendable {
  /// The public part, which names the token.
  public let selector: TokenSelector
  private let verifier: [UInt8]

  /// The prefix of every token.
  public static let prefix = "stk_"
  static let verifierSize = 32
  private static let selectorSize = 8
  private static let checksumSize = 4
  /// The number of characters of every token.
  public static let length =
    prefix.utf8.count + Base32.length(ofBytes: selectorSize + verifierSize + checksumSize)

  /// A new token.
  /// - Parameter random: returns random bits of a cryptographic generator.
  public init(random: () -> UInt64) {
    selector = TokenSelector(random())
    verifier = (0..<Self.verifierSize / 8).flatMap { _ in Self.bytes(random()) }
    assert(verifier.count == Self.verifierSize, "a verifier has 256 bits")
  }

  /// Reads a token, with white space around it.
  /// - Throws: `Refusal(.notAllowed)` that says what is wrong, without the text.
  public init(parsing text: String) throws(Refusal) {
    let characters = text.utf8.drop { Self.isSpace($0) }
    let end = characters.lastIndex { !Self.isSpace($0) }.map { characters.index(after: $0) } ?? characters.startIndex
    let token = Substring(text[characters.startIndex..<end])
    guard token.utf8.starts(with: Self.prefix.utf8) else {
      throw Self.refusal("a token begins with \(Self.prefix)")
    }
    guard token.utf8.count == Self.length else {
      throw Self.refusal("it has \(token.utf8.count) characters, and a token has \(Self.length); was it cut?")
    }
    guard let bytes = Base32.bytes(token.utf8.dropFirst(Self.prefix.utf8.count)),
      bytes.count == Self.selectorSize + Self.verifierSize + Self.checksumSize
    else { throw Self.refusal("it has a character that no token has") }
    let content = Array(bytes.dropLast(Self.checksumSize))
    guard Array(bytes.suffix(Self.checksumSize)) == Self.checksum(of: content) else {
      throw Self.refusal("its checksum is wrong; was it mistyped?")
    }
    selector = TokenSelector(content.prefix(Self.selectorSize).reduce(0) { $0 << 8 | UInt64($1) })
    verifier = Array(content.dropFirst(Self.selectorSize))
    assert(verifier.count == Self.verifierSize, "the length of a token was checked")
  }

  /// The complete secret.
  public var secretText: String {
    let content = Self.bytes(selector.number) + verifier
    return Self.prefix + Base32.text(content + Self.checksum(of: content))
  }

  /// The SHA-256 of the verifier.
  var digest: [UInt8] { Array(SHA256.hash(data: verifier)) }

  private static func refusal(_ reason: String) -> Refusal {
    Refusal(.notAllowed, "the token can't be read: \(reason)")
  }

  private static func isSpace(_ character: UInt8) -> Bool { character == 32 || (9...13).contains(character) }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
  }

  private static func checksum(of content: [UInt8]) -> [UInt8] {
    Array(bytes(Checksum.of(content)).suffix(checksumSize))
  }
}

/// Descriptions and dumps of a token do not contain its secret.
extension AccessToken: CustomStringConvertible, CustomReflectable {
  public var description: String { "\(Self.prefix)…(\(selector))" }
  /// The selector alone.
  public var customMirror: Mirror { Mirror(self, children: ["selector": selector]) }
}

/// The public part of a token, in sixteen hexadecimal digits.
public struct TokenSelector: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The number.
  public let number: UInt64

  /// The selector with this number.
  public init(_ number: UInt64) { self.number = number }

  /// Reads sixteen hexadecimal digits; nil for any other text.
  public init?(_ text: String) {
    guard text.utf8.count == 16, !text.hasPrefix("+"), !text.hasPrefix("-"), let number = UInt64(text, radix: 16) else {
      return nil
    }
    self.number = number
  }

  public static func < (left: TokenSelector, right: TokenSelector) -> Bool { left.number < right.number }

  public var description: String {
    let digits = String(number, radix: 16)
    assert(digits.utf8.count <= 16, "64 bits have sixteen digits")
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
