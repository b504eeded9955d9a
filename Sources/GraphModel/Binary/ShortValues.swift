// Tests: ShortValuesTests.swift

/// Nested messages of short values, built in memory that is appended to a writer as a whole.
///
/// An append to an array checks whether its buffer is shared and large enough. For a value of a few bytes these checks
/// take most of the time of its encoding.
struct ShortValues {
  /// The text of a short value has at most this many bytes, so that each length takes one byte.
  static let longestText = 125
  /// The upper bound of a message with its key and length: a text with two keys and two lengths.
  static let longestMessage = longestText + 4

  private let memory: UnsafeMutableBufferPointer<UInt8>
  private(set) var count = 0

  /// - Parameter memory: the bytes to write to, which stay valid while this value is used.
  init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

  /// Whether a further value has space.
  var hasSpace: Bool { count + Self.longestMessage <= memory.count }

  /// The written bytes.
  var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: memory[..<count]) }

  mutating func removeAll() { count = 0 }

  /// Writes a field with a value.
  /// - Returns: whether the value is short; if not, nothing was written.
  mutating func append(_ number: UInt8, _ value: borrowing Value) -> Bool {
    assert(number < 16, "the key of the field takes one byte")
    assert(hasSpace, "a short value has space")
    let start = count
    byte(number << 3 | 2)
    byte(0)
    switch value {
    case .null: break
    case .bool(let value):
      byte(1 << 3)
      byte(value ? 1 : 0)
    case .integer(let value): signed(2, value)
    case .double(let value): fixed(3, value.bitPattern)
    case .date(let value): signed(6, value)
    case .object(let id): append(9, id)
    case .string(let text):
      guard text.utf8.count <= Self.longestText, append(5, text) else { return discard(start) }
    case .decimal, .uuid, .data, .objects: return discard(start)
    }
    memory[start + 1] = UInt8(count - start - 2)
    return true
  }

  private mutating func discard(_ start: Int) -> Bool {
    count = start
    return false
  }

  @inline(__always)
  private mutating func byte(_ value: UInt8) {
    memory[count] = value
    count += 1
  }

  @inline(__always)
  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      byte(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    byte(UInt8(truncatingIfNeeded: rest))
  }

  @inline(__always)
  private mutating func signed(_ number: UInt8, _ value: Int64) {
    byte(number << 3)
    varint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }

  @inline(__always)
  private mutating func fixed(_ number: UInt8, _ value: UInt64) {
    byte(number << 3 | 1)
    let place = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(memory)[count..<(count + 8)])
    place.storeBytes(of: value.littleEndian, as: UInt64.self)
    count += 8
  }

  /// Writes a field with an id.
  @inline(__always)
  mutating func append(_ number: UInt8, _ id: ObjectID) {
    byte(number << 3 | 2)
    let start = count
    byte(0)
    // Zeros are left out.
    if id.key.high != 0 { fixed(1, id.key.high) }
    if id.key.low != 0 { fixed(2, id.key.low) }
    if id.entity != 0 {
      byte(3 << 3)
      varint(UInt64(id.entity))
    }
    memory[start] = UInt8(count - start - 1)
  }

  /// - Returns: false for a text that is not stored as UTF-8.
  @inline(__always)
  private mutating func append(_ number: UInt8, _ text: String) -> Bool {
    let (memory, first) = (memory, count + 2)
    let size = text.utf8.withContiguousStorageIfAvailable { utf8 in
      _ = UnsafeMutableBufferPointer(rebasing: memory[first..<(first + utf8.count)]).initialize(from: utf8)
      return utf8.count
    }
    guard let size else { return false }
    byte(number << 3 | 2)
    byte(UInt8(size))
    count += size
    return true
  }
}

extension BinaryWriter {
  /// The bytes of an id's field: two keys and lengths, two halves, and an entity.
  private static let longestID = 32

  /// A nested id, as `message(_:_:)` writes it.
  public mutating func field(_ number: Int, _ id: ObjectID) {
    // The key of the field takes one byte.
    guard number < 16 else { return message(number) { id.encode(to: &$0) } }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.longestID) { memory in
      var short = ShortValues(memory)
      short.append(UInt8(number), id)
      append(&short)
    }
  }

  /// Nested values, each as `message(_:_:)` writes it.
  mutating func fields(_ number: Int, _ values: [Value]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1_024) { memory in
      var short = ShortValues(memory)
      // Iterates in place, which avoids a retain and release per value.
      values.withUnsafeBufferPointer { values in
        for index in values.indices {
          if !short.hasSpace { append(&short) }
          if short.append(UInt8(number), values[index]) { continue }
          append(&short)
          field(number, values[index])
        }
      }
      append(&short)
    }
  }

  private mutating func append(_ short: inout ShortValues) {
    bytes.append(contentsOf: short.bytes)
    short.removeAll()
  }
}
