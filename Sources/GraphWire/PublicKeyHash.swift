/// The SHA-256 hash of a server's public key: of its DER-encoded SubjectPublicKeyInfo, as HTTP's pins have it.
///
/// Its text is `sha256:` and 64 hexadecimal digits. A certificate can be renewed with the same key and keeps its hash.
public struct PublicKeyHash: Hashable, Sendable, CustomStringConvertible {
  private let bytes: [UInt8]

  private static let prefix = "sha256:"
  private static let size = 32

  /// The reason why a text is not a hash.
  public struct ParseError: Error, Hashable, CustomStringConvertible {
    public let description: String
  }

  /// The hash of a public key.
  /// - Parameter keyInfo: the DER encoding of its SubjectPublicKeyInfo.
  public init(ofKeyInfo keyInfo: [UInt8]) {
    bytes = SHA256.hash(keyInfo)
    assert(bytes.count == Self.size, "a hash has 32 bytes")
  }

  /// Parses the text of a hash; the case of letters does not matter.
  public init(parsing text: String) throws(ParseError) {
    func fail(_ reason: String) -> ParseError {
      ParseError(
        description: "\"\(text)\" is not the hash of a key: \(reason); stickiesd certificate --show prints it")
    }
    guard text.lowercased().hasPrefix(Self.prefix) else { throw fail("it begins with sha256:") }
    let digits = text.utf8.dropFirst(Self.prefix.utf8.count).map(Self.value(ofDigit:))
    guard digits.count == 2 * Self.size else {
      throw fail("it has \(2 * Self.size) digits after sha256:, this one has \(digits.count)")
    }
    var bytes = [UInt8]()
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else {
        throw fail("its digits are 0 to 9 and a to f")
      }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }

  private static func value(ofDigit digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  public var description: String {
    let digits = Array("0123456789abcdef")
    return Self.prefix + String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xf)]] })
  }
}
