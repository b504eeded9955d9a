/// A decimal number: a sign, up to 38 significant digits and a power of ten. It is exact and normalized, so that
/// equal numbers have equal bytes.
///
/// The stored form is a blob whose byte order is the numerical order: SQLite has no decimal type, and text or
/// floating-point columns would sort or round incorrectly.
public struct DecimalValue: Hashable, Comparable, Sendable {
  /// The maximum number of significant digits.
  public static let maximumDigits = 38
  /// The maximum absolute value of the exponent.
  public static let maximumExponent = 6_000

  /// Whether the number is less than zero.
  public let isNegative: Bool
  /// The digits 0–9, most significant first, without leading or trailing zeros; empty for zero.
  public let digits: [UInt8]
  /// The exponent: the value is 0.d₁d₂d₃… × 10^exponent. 0 for zero.
  public let exponent: Int

  /// Creates a normalized number; nil if there are too many digits or the exponent is out of range.
  public init?(isNegative: Bool, digits: [UInt8], exponent: Int) {
    var digits = digits[...]
    var exponent = exponent
    while digits.first == 0 {
      digits.removeFirst()
      exponent -= 1
    }
    while digits.last == 0 { digits.removeLast() }
    guard digits.count <= Self.maximumDigits, digits.isEmpty || abs(exponent) <= Self.maximumExponent,
      digits.allSatisfy({ $0 <= 9 })
    else { return nil }
    self.isNegative = digits.isEmpty ? false : isNegative
    self.digits = Array(digits)
    self.exponent = digits.isEmpty ? 0 : exponent
    assert(self.digits.first != 0 && self.digits.last != 0, "the digits are normalized")
  }

  public static func < (left: DecimalValue, right: DecimalValue) -> Bool {
    left.orderedBytes.lexicographicallyPrecedes(right.orderedBytes)
  }
}

// MARK: - Text

extension DecimalValue: LosslessStringConvertible, CustomStringConvertible {
  /// Parses `-12.50`, `1e6`, `.5`.
  public init?(_ description: String) {
    var rest = Substring(description)
    let isNegative = rest.first == "-"
    if rest.first == "-" || rest.first == "+" { rest.removeFirst() }
    let parts = rest.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
    guard let mantissa = parts.first, let power = parts.count == 2 ? Int(parts[1]) : 0 else { return nil }
    let halves = mantissa.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let whole = halves[0]
    let fraction = halves.count == 2 ? halves[1] : ""
    guard !(whole.isEmpty && fraction.isEmpty), (-2 * Self.maximumExponent...2 * Self.maximumExponent).contains(power)
    else { return nil }
    var digits = [UInt8]()
    for byte in (whole + fraction).utf8 {
      guard byte >= 0x30, byte <= 0x39, digits.count < 10_000 else { return nil }
      digits.append(byte - 0x30)
    }
    self.init(isNegative: isNegative, digits: digits, exponent: whole.utf8.count + power)
  }

  /// Plain notation if it is short, otherwise with an exponent.
  public var description: String {
    guard !digits.isEmpty else { return "0" }
    let text = digits.map(String.init).joined()
    let sign = isNegative ? "-" : ""
    if exponent > 40 || exponent < -10 {
      let fraction = text.dropFirst()
      return "\(sign)\(text.prefix(1))\(fraction.isEmpty ? "" : ".")\(fraction)e\(exponent - 1)"
    }
    if exponent <= 0 { return "\(sign)0.\(String(repeating: "0", count: -exponent))\(text)" }
    if exponent >= digits.count { return sign + text + String(repeating: "0", count: exponent - digits.count) }
    return "\(sign)\(text.prefix(exponent)).\(text.dropFirst(exponent))"
  }
}

// MARK: - Ordered bytes

extension DecimalValue {
  /// The order-preserving encoding: a byte for the sign, two for the exponent, digits + 1, and a final 0. For
  /// negative numbers all bytes but the first are inverted.
  public var orderedBytes: [UInt8] {
    guard !digits.isEmpty else { return [1] }
    let biased = UInt16(exponent + 0x4000)
    let magnitude = [UInt8(biased >> 8), UInt8(biased & 0xFF)] + digits.map { $0 + 1 } + [0]
    return isNegative ? [0] + magnitude.map { ~$0 } : [2] + magnitude
  }

  /// Decodes `orderedBytes`; nil for other bytes.
  public init?(orderedBytes bytes: [UInt8]) {
    switch bytes.first {
    case 1 where bytes.count == 1: self.init(isNegative: false, digits: [], exponent: 0)
    case 0, 2:
      let magnitude = bytes.dropFirst().map { bytes[0] == 0 ? ~$0 : $0 }
      guard magnitude.count >= 4, magnitude.last == 0 else { return nil }
      let digits = magnitude[2..<(magnitude.count - 1)]
      guard digits.allSatisfy({ $0 >= 1 && $0 <= 10 }), digits.first != 1, digits.last != 1 else { return nil }
      let exponent = Int(magnitude[0]) << 8 + Int(magnitude[1]) - 0x4000
      self.init(isNegative: bytes[0] == 0, digits: digits.map { $0 - 1 }, exponent: exponent)
    default: return nil
    }
  }
}
