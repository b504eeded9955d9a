/// An error in the encoding of a message.
public struct MalformedMessage: Error, Hashable, CustomStringConvertible {
  /// The reason, without message contents; it may be sent to the peer.
  public var reason: String

  /// Creates an error with a reason that a person can read.
  public init(_ reason: String) { self.reason = reason }

  public var description: String { reason }
}

/// Decodes protobuf. Every length is checked against the remaining bytes before anything is allocated for it.
public struct BinaryReader {
  @usableFromInline let bytes: ArraySlice<UInt8>
  @usableFromInline var position: Int

  /// Reads `bytes` without copying them.
  public init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// Reads `bytes` from the first byte on.
  public init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  /// Whether all fields were read.
  public var isAtEnd: Bool { position == bytes.endIndex }

  /// The next field's number and content; nil at the end.
  public mutating func next() throws(MalformedMessage) -> (number: Int, field: Field)? {
    guard !isAtEnd else { return nil }
    let start = position
    let key = try varint()
    // A key has 32 bits; other protobuf decoders refuse overlong keys, too.
    guard position - start <= 5 else { throw MalformedMessage("a field's key has \(position - start) bytes") }
    let number = Int(truncatingIfNeeded: key >> 3)
    guard number >= 1, number < 1 << 29 else { throw MalformedMessage("a field has the invalid number \(key >> 3)") }
    switch key & 7 {
    case 0: return (number, .varint(try varint()))
    case 1:
      guard bytes.endIndex - position >= 8 else { throw MalformedMessage("the message is cut short") }
      var value: UInt64 = 0
      for offset in 0..<8 { value |= UInt64(bytes[position + offset]) << UInt64(8 * offset) }
      position += 8
      return (number, .fixed(value))
    case 2:
      let length = try varint()
      guard length <= UInt64(bytes.endIndex - position) else { throw MalformedMessage("the message is cut short") }
      let end = position + Int(length)
      defer { position = end }
      return (number, .bytes(bytes[position..<end]))
    case 5:
      guard bytes.endIndex - position >= 4 else { throw MalformedMessage("the message is cut short") }
      position += 4
      return (number, .other)
    default: throw MalformedMessage("field \(number) has the invalid wire type \(key & 7)")
    }
  }

  @inlinable
  mutating func varint() throws(MalformedMessage) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < bytes.endIndex {
      let byte = bytes[position]
      position += 1
      if shift == 63, byte > 1 { throw MalformedMessage("a number has more than 64 bits") }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
      if shift > 63 { throw MalformedMessage("a number has more than 64 bits") }
    }
    throw MalformedMessage("the message is cut short")
  }

  /// The content of a field. The accessors throw `MalformedMessage` if the wire type is not the expected one.
  public enum Field {
    /// Wire type 0.
    case varint(UInt64)
    /// Wire type 1, eight bytes.
    case fixed(UInt64)
    /// Wire type 2: bytes, a string or a message.
    case bytes(ArraySlice<UInt8>)
    /// A wire type that no field of the schema has.
    case other

    /// A varint.
    public func unsigned() throws(MalformedMessage) -> UInt64 {
      guard case .varint(let value) = self else { throw MalformedMessage("a number is expected") }
      return value
    }

    /// A varint that fits into 32 bits.
    public func uint32() throws(MalformedMessage) -> UInt32 {
      guard let value = UInt32(exactly: try unsigned()) else { throw MalformedMessage("a number is too large") }
      return value
    }

    /// A varint of two's complement: `int64`.
    public func integer() throws(MalformedMessage) -> Int64 { Int64(bitPattern: try unsigned()) }

    /// A count, an offset or a length: at least 0.
    public func count() throws(MalformedMessage) -> Int {
      let value = try integer()
      guard value >= 0 else { throw MalformedMessage("a count is negative") }
      return Int(value)
    }

    /// A varint; anything but 0 is true.
    public func bool() throws(MalformedMessage) -> Bool { try unsigned() != 0 }

    /// A varint in zigzag form: `sint64`.
    public func zigzag() throws(MalformedMessage) -> Int64 {
      let value = try unsigned()
      return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Eight bytes, least significant first.
    public func fixed64() throws(MalformedMessage) -> UInt64 {
      guard case .fixed(let value) = self else { throw MalformedMessage("a fixed number is expected") }
      return value
    }

    /// The bytes as a slice of the input, not copied.
    public func slice() throws(MalformedMessage) -> ArraySlice<UInt8> {
      guard case .bytes(let slice) = self else { throw MalformedMessage("bytes are expected") }
      return slice
    }

    /// The bytes, copied.
    public func array() throws(MalformedMessage) -> [UInt8] { Array(try slice()) }

    /// The bytes as a string; invalid UTF-8 is refused, not repaired.
    public func string() throws(MalformedMessage) -> String {
      guard let text = String(validating: try slice(), as: UTF8.self) else {
        throw MalformedMessage("a string is not UTF-8")
      }
      return text
    }

    /// Sixteen bytes, most significant first; any other count is refused.
    public func uniqueID() throws(MalformedMessage) -> UniqueID {
      guard let id = UniqueID(bytes: try slice()) else { throw MalformedMessage("an id needs 16 bytes") }
      return id
    }

    /// An id in a field of its own, where empty and absent are the same; both are the zero id.
    public func uniqueIDOrZero() throws(MalformedMessage) -> UniqueID {
      try slice().isEmpty ? .zero : try uniqueID()
    }

    /// An optional id: no bytes mean nil, sixteen zero bytes mean the zero id.
    public func uniqueIDOrNone() throws(MalformedMessage) -> UniqueID? {
      try slice().isEmpty ? nil : try uniqueID()
    }

    /// Skips a message without fields in this version; it must still be valid protobuf.
    public func skipMessage() throws(MalformedMessage) {
      var inner = try reader()
      while try inner.next() != nil {}
    }

    /// A reader of the nested message's fields.
    public func reader() throws(MalformedMessage) -> BinaryReader { BinaryReader(try slice()) }
  }
}
