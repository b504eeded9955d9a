extension Value {
  /// Converts JSON to a value of an attribute. Dates are in RFC 3339, decimals strings or numbers, data in base64,
  /// UUIDs with hyphens. Nil if the JSON is not a value of that kind; `null` is always accepted here.
  public init?(json: JSON, kind: Attribute.Kind, cases: [String] = []) {
    // Documents preserve a number's text, and whole numbers are exact.
    switch (kind, kind == .json || kind == .integer ? json : json.measured) {
    case (_, .null): self = .null
    case (.bool, .bool(let value)): self = .bool(value)
    case (.integer, let number):
      guard let value = number.wholeValue else { return nil }
      self = .integer(value)
    case (.double, .integer(let value)): self = .double(Double(value))
    case (.double, .double(let value)) where value.isFinite: self = .double(value)
    case (.decimal, .string(let text)):
      guard let value = DecimalValue(text) else { return nil }
      self = .decimal(value)
    case (.decimal, .integer(let number)):
      guard let value = DecimalValue("\(number)") else { return nil }
      self = .decimal(value)
    case (.string, .string(let text)), (.text, .string(let text)): self = .string(text)
    case (.uri, .string(let text)):
      guard Value.isURI(text) else { return nil }
      self = .string(text)
    case (.enumeration, .string(let text)):
      guard cases.contains(where: { UTF8Comparison.equal($0, text) }) else { return nil }
      self = .string(text)
    case (.date, .string(let text)):
      guard let value = RFC3339.timestamp(text) else { return nil }
      self = .date(value)
    case (.uuid, .string(let text)):
      guard let value = UniqueID(hyphenated: text) else { return nil }
      self = .uuid(value)
    case (.data, .string(let text)):
      guard let value = Base64.bytes(text) else { return nil }
      self = .data(value)
    case (.json, let document) where document.depth <= JSON.maximumDepth: self = .string(document.text)
    default: return nil
    }
  }

  /// The value in JSON; `kind` is nil for relationships.
  public func json(kind: Attribute.Kind?) -> JSON {
    switch self {
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .decimal(let value): .string(value.description)
    case .string(let value): kind == .json ? (try? JSON(parsing: value)) ?? .string(value) : .string(value)
    case .date(let value): .string(RFC3339.text(value))
    case .uuid(let value): .string(value.hyphenated)
    case .data(let value): .string(Base64.text(value))
    case .object(let id): .string(id.description)
    case .objects(let ids): .array(ids.map { .string($0.description) })
    }
  }

  /// Whether the text has a scheme, a colon, and no spaces or control characters. RFC 3986 requires this of every
  /// scheme.
  static func isURI(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0, (bytes[0] | 0x20) >= 0x61,
      (bytes[0] | 0x20) <= 0x7A
    else { return false }
    let scheme = bytes[..<colon].allSatisfy { byte in
      (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
    }
    return scheme && bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }
}

extension UniqueID {
  /// The text form with hyphens, `123e4567-e89b-12d3-a456-426614174000`.
  public var hyphenated: String {
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      text += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
    return text
  }

  /// Parses 32 hexadecimal digits in five groups, in either case; nil for any other text.
  public init?(hyphenated text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
    let digits = Array(parts.joined().utf8)
    var bytes = [UInt8]()
    for index in stride(from: 0, to: 32, by: 2) {
      guard digits[index] != UInt8(ascii: "+"), digits[index] != UInt8(ascii: "-"),
        let byte = UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    self.init(bytes: bytes)
  }
}

/// Base64 with the standard alphabet and padding.
public enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Encodes the bytes, without line breaks.
  public static func text(_ bytes: [UInt8]) -> String {
    var text = [UInt8]()
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      bits <<= UInt32(8 * (3 - group.count))
      for digit in 0..<4 {
        let isPadding = digit > group.count
        text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> UInt32(18 - 6 * digit)) & 63])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes the text; nil if it is invalid.
  public static func bytes(_ text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count % 4 == 0 else { return nil }
    let padding = characters.suffix(2).count { $0 == UInt8(ascii: "=") }
    var bytes = [UInt8]()
    var bits: UInt32 = 0
    for (index, character) in characters.enumerated() {
      let isPadding = index >= characters.count - padding
      guard let digit = isPadding ? 0 : alphabet.firstIndex(of: character) else { return nil }
      bits = bits << 6 | UInt32(digit)
      if index % 4 == 3 {
        bytes += [
          UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8), UInt8(truncatingIfNeeded: bits),
        ]
        bits = 0
      }
    }
    guard padding < 2 || characters.last == UInt8(ascii: "=") else { return nil }
    return Array(bytes.dropLast(padding))
  }
}
