/// A type with a binary form, the same on the wire and in history.
public protocol BinaryCodable {
  /// Appends the fields; zero and empty fields are left out, as in proto3.
  func encode(to writer: inout BinaryWriter)
  /// Reads fields to the reader's end; unknown ones are skipped.
  /// - Throws: `MalformedMessage` if a field has the wrong type.
  init(from reader: inout BinaryReader) throws(MalformedMessage)
}

extension BinaryCodable {
  /// The encoded message, without a length prefix.
  public var binary: [UInt8] {
    // Without it, most messages would grow their buffer two or three times.
    var writer = BinaryWriter(capacity: 64)
    encode(to: &writer)
    return writer.bytes
  }

  /// Decodes a complete message.
  /// - Throws: `MalformedMessage` if the bytes are not a valid message.
  public init(binary: some Collection<UInt8>) throws(MalformedMessage) {
    var reader = BinaryReader(Array(binary))
    try self.init(from: &reader)
  }
}

extension BinaryWriter {
  /// A nested message; written even if it is empty.
  @inlinable
  public mutating func field(_ number: Int, _ value: some BinaryCodable) {
    message(number) { value.encode(to: &$0) }
  }
}

extension BinaryReader.Field {
  /// The nested message that the field holds.
  public func form<Form: BinaryCodable>(_ type: Form.Type = Form.self) throws(MalformedMessage) -> Form {
    var reader = try reader()
    return try Form(from: &reader)
  }
}

extension Edit {
  /// The most splices of one edit; rebasing compares every pair of splices of two edits.
  public static let maximumSplices = 1_000
}

extension TextSplice {
  /// The upper bound of offsets and lengths; no text is longer.
  public static let maximumOffset = 1 << 32

  /// Refuses numbers whose sum could overflow an `Int`.
  func verify() throws(MalformedMessage) {
    guard offset <= Self.maximumOffset, length <= Self.maximumOffset else {
      throw MalformedMessage("a splice is outside the text")
    }
  }
}

extension BinaryReader.Field {
  /// Decodes a case of an enumeration from its raw number.
  public func choice<Choice: RawRepresentable>() throws(MalformedMessage) -> Choice where Choice.RawValue == UInt8 {
    let number = try unsigned()
    guard let raw = UInt8(exactly: number), let choice = Choice(rawValue: raw) else {
      throw MalformedMessage("\(number) is not a valid \(Choice.self)")
    }
    return choice
  }
}
