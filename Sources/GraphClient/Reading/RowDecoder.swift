// Tests: RowDecoderTests.swift
import GraphModel
import GraphReplica

/// Decodes a row as a `Decodable` type: properties by the names of columns, or the only column as a single value.
///
/// A property without a column is an error even if it is optional: with a misspelled name it would always be nil.
struct RowDecoder: Decoder {
  let row: FetchedRow
  let codingPath = [any CodingKey]()
  let userInfo = [CodingUserInfoKey: Any]()

  /// - Throws: `RowValueError`, or an error of the type's own decoding without a column.
  static func decode<Row: Decodable>(_ type: Row.Type, from row: FetchedRow) throws -> Row {
    let decoder = RowDecoder(row: row)
    // A value with a form of its own, such as a `Date`, does not ask for a container that this decoder has.
    if let only = decoder.onlyColumn, let value: Row = only.plain() { return value }
    return try type.init(from: decoder)
  }

  private var onlyColumn: ColumnDecoder? {
    guard row.columns.count == 1, let column = row.columns.first, let value = row[column.name] else { return nil }
    return ColumnDecoder(column: column.name, value: value)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowContainer(row: row))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw RowValueError(column: "", message: "a row is decoded by the names of its columns, not as a list")
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    guard let onlyColumn else {
      throw RowValueError(
        column: "", message: "a single value is decoded from one column, and the row has \(row.columns.count)")
    }
    return onlyColumn
  }
}

/// The columns of a row by their names.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let row: FetchedRow
  let codingPath = [any CodingKey]()

  var allKeys: [Key] { row.columns.compactMap { Key(stringValue: $0.name) } }

  // Without a column `decodeNil` throws.
  func contains(_ key: Key) -> Bool { true }

  private func column(_ key: Key) throws -> ColumnDecoder {
    guard let value = row[key.stringValue] else {
      let names = row.columns.map(\.name).joined(separator: ", ")
      throw RowValueError(
        column: key.stringValue,
        message: "there is no column \(key.stringValue), only \(names): name it with AS \(key.stringValue)")
    }
    return ColumnDecoder(column: key.stringValue, value: value)
  }

  func decodeNil(forKey key: Key) throws -> Bool { try column(key).decodeNil() }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try column(key).decode(type) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try column(key).decode(type) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try column(key).decode(type) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try column(key).decode(type) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try column(key).decode(type) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try column(key).decode(type) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try column(key).decode(type) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try column(key).decode(type) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try column(key).decode(type) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try column(key).decode(type) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try column(key).decode(type) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try column(key).decode(type) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try column(key).decode(type) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try column(key).decode(type) }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try column(key).decode(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw ColumnDecoder.nested(key.stringValue) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw ColumnDecoder.nested(key.stringValue)
  }

  func superDecoder() throws -> any Decoder { RowDecoder(row: row) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try column(key) }
}
