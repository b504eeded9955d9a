/// Encodes protobuf directly into bytes. Schema/Wire/graph.proto defines the format; tests compare the bytes with
/// those of another implementation.
public struct BinaryWriter: Sendable {
  /// The bytes written so far.
  public var bytes: [UInt8]

  /// Creates an empty writer that reserves `capacity` bytes.
  public init(capacity: Int = 0) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// Appends a varint, seven bits per byte, lowest first, without a field key.
  @inlinable
  public mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  // MARK: Fields. A scalar that is zero or empty is left out, as proto3 does, unless it stands in a oneof.

  /// A varint.
  /// - Parameter always: whether to write a zero, too; for fields that are optional or part of a oneof.
  @inlinable
  public mutating func field(_ number: Int, _ value: UInt64, always: Bool = false) {
    guard value != 0 || always else { return }
    varint(UInt64(number << 3))
    varint(value)
  }

  /// A varint of two's complement: a negative number takes ten bytes.
  @inlinable
  public mutating func field(_ number: Int, _ value: Int64, always: Bool = false) {
    field(number, UInt64(bitPattern: value), always: always)
  }

  /// A varint: 1 for true.
  @inlinable
  public mutating func field(_ number: Int, _ value: Bool, always: Bool = false) {
    field(number, UInt64(value ? 1 : 0), always: always)
  }

  /// A zigzag-encoded signed number.
  @inlinable
  public mutating func signed(_ number: Int, _ value: Int64, always: Bool = false) {
    field(number, UInt64(bitPattern: (value << 1) ^ (value >> 63)), always: always)
  }

  /// Eight bytes, least significant first.
  public mutating func fixed(_ number: Int, _ value: UInt64, always: Bool = false) {
    guard value != 0 || always else { return }
    varint(UInt64(number << 3 | 1))
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// A string as UTF-8.
  public mutating func field(_ number: Int, _ value: String, always: Bool = false) {
    let utf8 = value.utf8
    guard !utf8.isEmpty || always else { return }
    varint(UInt64(number << 3 | 2))
    varint(UInt64(utf8.count))
    bytes.append(contentsOf: utf8)
  }

  /// Raw bytes.
  public mutating func field(_ number: Int, _ value: [UInt8], always: Bool = false) {
    guard !value.isEmpty || always else { return }
    varint(UInt64(number << 3 | 2))
    varint(UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  /// A nested message. Its length is unknown beforehand, so one byte is reserved for it; a message of 128 bytes or
  /// more, which is rare, is moved to make space for a longer prefix.
  @inlinable
  public mutating func message(_ number: Int, _ body: (inout BinaryWriter) -> Void) {
    varint(UInt64(number << 3 | 2))
    let place = bytes.count
    bytes.append(0)
    body(&self)
    let length = bytes.count - place - 1
    if length < 0x80 {
      bytes[place] = UInt8(length)
    } else {
      setLongLength(length, at: place)
    }
  }

  @usableFromInline
  mutating func setLongLength(_ length: Int, at place: Int) {
    assert(length >= 0x80, "a short length fits into the reserved byte")
    var rest = length
    var end = place
    while rest >= 0x80 {
      bytes.append(0)
      end += 1
      rest >>= 7
    }
    bytes.withUnsafeMutableBytes { bytes in
      let message = UnsafeRawBufferPointer(rebasing: bytes[(place + 1)..<(place + 1 + length)])
      UnsafeMutableRawBufferPointer(rebasing: bytes[(end + 1)..<(end + 1 + length)]).copyMemory(from: message)
      var rest = length
      for index in place..<end {
        bytes[index] = UInt8(rest & 0x7F) | 0x80
        rest >>= 7
      }
      bytes[end] = UInt8(rest)
    }
  }
}
