// Tests: LongChainsTests.swift
import GraphModel

/// Lists of values. SQLite looks up the name of each numbered argument among those of all others, so 20,000 arguments
/// take ten seconds. A long list therefore consists of literals.
extension PredicateSQL {
  /// The number of a statement's arguments from which lists are written as literals.
  static let maximumListArguments = 100

  /// Whether a list of so many values is short enough for arguments.
  func isShort(_ count: Int) -> Bool { arguments.count + count <= Self.maximumListArguments }

  /// Returns a list's values, separated by commas; nil if it would have too many arguments.
  mutating func list(_ values: [Value]) -> String? {
    assert(!values.contains(.null), "a null is a condition of its own")
    if isShort(values.count) { return values.map { argument($0) }.joined(separator: ", ") }
    let literals = values.map(\.literal)
    guard counts(literals.count { $0 == nil }) else { return nil }
    return zip(literals, values).map { literal, value in
      if let literal { literal } else { argument(value) }
    }.joined(separator: ", ")
  }
}

extension Value {
  /// The stored form as a literal of SQL; nil for a value that only an argument represents exactly.
  fileprivate var literal: String? {
    switch self {
    case .bool(let value): value ? "1" : "0"
    // The digits of the smallest integer, without its sign, exceed 64 bits.
    case .integer(let value), .date(let value): value == .min ? nil : "\(value)"
    case .string(let text): Self.quoted(text)
    case .decimal(let value): Self.blob(value.orderedBytes)
    case .uuid(let id): Self.blob(id)
    case .object(let id): Self.blob(id.key)
    case .data(let bytes): Self.blob(bytes)
    // SQLite may read a decimal fraction as another number than Swift does.
    case .null, .double, .objects: nil
    }
  }

  /// A string between quotation marks; nil for one with a NUL, which ends a statement.
  private static func quoted(_ text: String) -> String? {
    var bytes = [UInt8]()
    bytes.reserveCapacity(text.utf8.count + 2)
    let mark = UInt8(ascii: "'")
    bytes.append(mark)
    // By bytes: a mark with a combining accent is one character, and ends the literal as any other mark does.
    for byte in text.utf8 {
      if byte == 0 { return nil }
      if byte == mark { bytes.append(mark) }
      bytes.append(byte)
    }
    bytes.append(mark)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func blob(_ id: UniqueID) -> String {
    withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { blob($0) }
  }

  private static func blob(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text = Array("x'".utf8)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    text.append(UInt8(ascii: "'"))
    return String(decoding: text, as: UTF8.self)
  }
}
