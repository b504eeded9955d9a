// Tests: RowDecoderTests.swift
import GraphModel
import GraphReplica

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes the value of one column.
///
/// A number becomes any type of number that represents it exactly, except that a decimal becomes no binary fraction.
struct ColumnDecoder: Decoder, SingleValueDecodingContainer {
  let column: String
  let value: Value
  let codingPath = [any CodingKey]()
  let userInfo = [CodingUserInfoKey: Any]()

  /// The value as a type that represents it directly; nil for any other type.
  func plain<Plain>() -> Plain? {
    switch value {
    case .null, .objects: nil
    case .bool(let plain): plain as? Plain
    case .integer(let number):
      Self.number(number) ?? Double(exactly: number) as? Plain ?? Decimal(number) as? Plain
        ?? DecimalValue(integerLiteral: number) as? Plain
    case .double(let number): number as? Plain ?? Float(exactly: number) as? Plain
    case .decimal(let number): number as? Plain ?? Decimal(string: number.description) as? Plain
    case .string(let text): text as? Plain ?? (Plain.self == URL.self ? URL(string: text) as? Plain : nil)
    case .date(let time): Self.number(time) ?? Self.date(time) as? Plain
    case .uuid(let id): id as? Plain ?? UUID(uuidString: id.hyphenated) as? Plain
    case .data(let bytes): bytes as? Plain ?? Data(bytes) as? Plain
    case .object(let id): id as? Plain
    }
  }

  /// The number as a type of integers, if it is within the type's range.
  private static func number<Plain>(_ number: Int64) -> Plain? {
    func exactly<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? { Number(exactly: number) }
    guard let type = Plain.self as? any FixedWidthInteger.Type else { return nil }
    return exactly(type) as? Plain
  }

  /// A time in microseconds since 1970. A `Date` counts from 2001; so close to today it keeps each microsecond.
  private static func date(_ time: Timestamp) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(time - 978_307_200_000_000) / 1_000_000)
  }

  static func nested(_ column: String) -> RowValueError {
    RowValueError(column: column, message: "the column \(column) has one value: its property can't have properties")
  }

  // MARK: - A single value

  func decodeNil() -> Bool { value.isNull }

  func decode<Plain: Decodable>(_ type: Plain.Type) throws -> Plain {
    if let plain: Plain = plain() { return plain }
    let mismatch = RowValueError(column: column, expected: "\(type)", found: value)
    // A type without a form of its own would ask for its value again, without end.
    if Self.primitives.contains(ObjectIdentifier(type)) { throw mismatch }
    do {
      return try type.init(from: self)
    } catch is DecodingError {
      throw mismatch
    }
  }

  private static let primitives: Set<ObjectIdentifier> = [
    ObjectIdentifier(Bool.self), ObjectIdentifier(String.self), ObjectIdentifier(Double.self),
    ObjectIdentifier(Float.self), ObjectIdentifier(Int.self), ObjectIdentifier(Int8.self),
    ObjectIdentifier(Int16.self), ObjectIdentifier(Int32.self), ObjectIdentifier(Int64.self),
    ObjectIdentifier(UInt.self), ObjectIdentifier(UInt8.self), ObjectIdentifier(UInt16.self),
    ObjectIdentifier(UInt32.self), ObjectIdentifier(UInt64.self), ObjectIdentifier(Decimal.self),
    ObjectIdentifier(Data.self),
  ]

  // MARK: - A property's own type

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw Self.nested(column)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.nested(column) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

// MARK: - Values without a form in Swift

extension DecimalValue: Decodable {
  public init(from decoder: any Decoder) throws {
    self = try Self.decode(from: decoder, "a decimal") { DecimalValue($0) }
  }
}

extension UniqueID: Decodable {
  public init(from decoder: any Decoder) throws {
    self = try Self.decode(from: decoder, "a UUID") { UniqueID(hyphenated: $0) }
  }
}

extension ObjectID: Decodable {
  public init(from decoder: any Decoder) throws {
    // Its text lacks the entity.
    self = try Self.decode(from: decoder, "an object's id, which only rows have") { _ in nil }
  }
}

extension Decodable {
  fileprivate static func decode(
    from decoder: any Decoder, _ name: String, _ parse: (String) -> Self?
  ) throws -> Self {
    let container = try decoder.singleValueContainer()
    guard let value = parse(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(name) is expected")
    }
    return value
  }
}
