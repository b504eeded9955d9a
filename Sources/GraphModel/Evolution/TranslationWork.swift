// Tests: LensGrowthTests.swift
/// The work of translating the texts of one request, which the server's event loop does.
///
/// A unit takes about a microsecond of a release build: the parser needs one for each token, and one for 16 bytes of a
/// long string. A step needs three for five tokens. The work is counted before it is done, because a step that adds
/// mappings may make a text many times longer.
package struct TranslationWork: Sendable {
  /// The most units for a request, so that other clients wait for less than 50 ms.
  package static let maximum = 40_000
  private static let bytesPerUnit = 16
  /// The bytes of a mapping's name or function for each token, about.
  private static let bytesPerAddedToken = 5
  /// The mapping bytes that are certainly too many. Larger growth need not be measured exactly.
  static let maximumGrowth = maximum * bytesPerAddedToken

  private var units = 0
  private var tokens = 0
  private var bytes = 0

  /// Creates a counter for a request.
  package init() {}

  /// Whether the request has too much work, with the printing and the second parsing of the current text.
  var isTooMuch: Bool { units + endUnits > Self.maximum }

  private var endUnits: Int { tokens + tokens / 4 + bytes / Self.bytesPerUnit }

  /// Adds the parsing of a text, whose steps follow.
  mutating func begin(_ text: String) {
    (tokens, bytes) = (Self.tokens(in: text), text.utf8.count)
    units += tokens + bytes / Self.bytesPerUnit
  }

  /// Adds a step of the current text.
  /// - Parameter growth: the bytes by which it makes the text longer.
  mutating func step(growth: Int = 0) {
    precondition(growth >= 0, "a step makes a text longer, or leaves it as it is")
    tokens += growth / Self.bytesPerAddedToken
    bytes += growth
    units += tokens / 5 * 3
  }

  /// Adds the printing and the second parsing of the current text.
  mutating func finish() {
    units += endUnits
    (tokens, bytes) = (0, 0)
  }

  /// The tokens of a text, about. A string is one.
  private static func tokens(in text: String) -> Int {
    var (count, quote) = (1, UInt8(0))
    var (isEscaped, isInWord) = (false, false)
    for byte in text.utf8 {
      if quote != 0 {
        if !isEscaped, byte == quote { quote = 0 }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        continue
      }
      let isWord = isWord(byte)
      if isWord ? !isInWord : byte != UInt8(ascii: " ") { count += 1 }
      isInWord = isWord
      if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") { quote = byte }
    }
    return count
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A, 0x80...0xFF: true
    default: false
    }
  }
}
