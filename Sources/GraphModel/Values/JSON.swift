/// A JSON document that preserves its text form. Members keep their order and numbers their digits, as error messages
/// for model files and attributes of type `json` require. Documents are equal if their text is, so strings and names
/// compare by bytes, and `0.10` is not `0.1`.
public indirect enum JSON: Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number without fraction and exponent that fits into 64 bits.
  case integer(Int64)
  /// Any other number that a double prints unchanged.
  case double(Double)
  /// A number that neither of the two prints unchanged: `1.0`, `-0`, `0.10`, one with twenty digits.
  case number(String)
  /// A string, without quotes and escapes.
  case string(String)
  /// Elements of any kind, in order.
  case array([JSON])
  /// Members, in the order of the text.
  case object([Member])

  /// A name and its value; names are unique in a parsed object.
  public struct Member: Sendable {
    /// The name, without quotes and escapes.
    public var name: String
    /// The value; may be null.
    public var value: JSON

    /// Creates a member of an object.
    public init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// The first member with this name; nil if there is none, or if this is not an object.
  public subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { UTF8Comparison.equal($0.name, name) }?.value
  }

  /// The string; nil for anything else.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  /// The boolean; nil for anything else.
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The integer; nil for anything else, including `1.0`.
  public var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// The whole number with this value: `58.0` and `5.8e1` are 58, because JSON has one type of numbers. Nil for a
  /// fraction, for a number beyond 64 bits, and for anything else.
  package var wholeValue: Int64? {
    switch self {
    case .integer(let value): return value
    case .double, .number:
      // The digits of the text decide: a double has too few of them for 9007199254740993.0.
      guard let decimal = DecimalValue(text), decimal.digits.count <= decimal.exponent,
        decimal.exponent <= 19
      else { return nil }
      return Int64(decimal.description)
    default: return nil
    }
  }
  /// The number as the nearest double; nil for anything else, and for a number that is too large.
  public var doubleValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .number(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
    default: nil
    }
  }
  /// The number without regard to its text: `-0` is `0`, and `1.0` is a double.
  var measured: JSON {
    guard case .number(let text) = self else { return self }
    return Int64(text).map(JSON.integer) ?? doubleValue.map(JSON.double) ?? self
  }
  /// The elements; nil for anything else.
  public var arrayValue: [JSON]? { if case .array(let value) = self { value } else { nil } }
  /// The members in order; nil for anything but an object.
  public var members: [Member]? { if case .object(let value) = self { value } else { nil } }
}

extension JSON: Hashable {
  public static func == (left: JSON, right: JSON) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.number(let a), .number(let b)): UTF8Comparison.equal(a, b)
    case (.string(let a), .string(let b)): UTF8Comparison.equal(a, b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .number(let text), .string(let text): UTF8Comparison.hash(text, into: &hasher)
    case .array(let elements): hasher.combine(elements)
    case .object(let members): hasher.combine(members)
    }
  }
}

extension JSON.Member: Hashable {
  public static func == (left: JSON.Member, right: JSON.Member) -> Bool {
    UTF8Comparison.equal(left.name, right.name) && left.value == right.value
  }

  public func hash(into hasher: inout Hasher) {
    UTF8Comparison.hash(name, into: &hasher)
    hasher.combine(value)
  }
}

// MARK: - Writing

extension JSON {
  /// The document on one line, without spaces. Control characters are escaped, all others are plain UTF-8.
  public var text: String {
    var bytes = [UInt8]()
    write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends `text` in UTF-8.
  public func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): bytes.append(contentsOf: String(value).utf8)
    case .double(let value):
      // A double without a fraction prints as an integer, as JSON has a single number type.
      if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 {
        bytes.append(contentsOf: String(whole).utf8)
      } else {
        bytes.append(contentsOf: (value.isFinite ? "\(value)" : "null").utf8)
      }
    case .number(let text): bytes.append(contentsOf: text.utf8)
    case .string(let value): Self.write(value, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.write(member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ string: String, to bytes: inout [UInt8]) {
    let hex = Array("0123456789abcdef".utf8)
    bytes.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
      case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case 0x0D: bytes.append(contentsOf: "\\r".utf8)
      case 0x09: bytes.append(contentsOf: "\\t".utf8)
      case 0..<0x20, 0x7F:
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(hex[Int(byte >> 4)])
        bytes.append(hex[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
