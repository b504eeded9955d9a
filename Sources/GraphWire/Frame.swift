import GraphModel

/// The framing of messages on a stream. A frame is a length in four bytes, most significant first, then that many
/// bytes.
public enum Frame {
  /// The frame of a message, length included.
  public static func encode(_ message: some BinaryCodable) -> [UInt8] {
    var writer = BinaryWriter(capacity: 256)
    // Appended, because an assigned array would replace the reserved buffer.
    for _ in 0..<ProtocolLimits.headerSize { writer.bytes.append(0) }
    message.encode(to: &writer)
    assert(writer.bytes.count > ProtocolLimits.headerSize, "a message has a body, so its frame is not empty")
    setLength(&writer.bytes)
    return writer.bytes
  }

  /// Writes the length into the first four bytes, which the encoder has reserved.
  public static func setLength(_ frame: inout [UInt8]) {
    precondition(frame.count >= ProtocolLimits.headerSize, "the length has its place at the beginning of a frame")
    let length = UInt32(frame.count - ProtocolLimits.headerSize)
    for index in 0..<ProtocolLimits.headerSize {
      frame[index] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * index))
    }
  }
}

/// Splits a stream into messages: bytes in, message bodies out. It holds at most one frame beyond the bytes that it
/// was given.
public struct FrameDecoder: Sendable {
  private var buffer = [UInt8]()
  private var position = 0
  /// The size in bytes of the largest accepted message, without its length.
  public let maximumFrameSize: Int

  /// A decoder at the beginning of a stream.
  public init(maximumFrameSize: Int = ProtocolLimits.maximumFrameSize) { self.maximumFrameSize = maximumFrameSize }

  /// The capacity in bytes that the buffer keeps: memory of a larger frame is released.
  private static let keptCapacity = 1 << 20

  /// Adds bytes as they arrived, split anywhere.
  public mutating func append(_ bytes: some Sequence<UInt8>) {
    removeReturnedBytes()
    buffer.append(contentsOf: bytes)
  }

  /// Adds bytes as they arrived. Not generic: a server adds some hundred bytes a hundred thousand times per second, and
  /// a generic function is not specialized for another module.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    removeReturnedBytes()
    buffer.append(contentsOf: bytes)
  }

  private mutating func removeReturnedBytes() {
    assert(position <= buffer.count, "only bytes that arrived are split into frames")
    if position > 0, position == buffer.count || position > 1 << 16 {
      buffer.removeSubrange(..<position)
      position = 0
    }
  }

  /// Whether the stream is between two frames.
  public var isAtBoundary: Bool { position == buffer.count }

  /// The number of bytes of an incomplete frame.
  public var unfinishedBytes: Int { buffer.count - position }

  /// The next complete message; nil when more bytes are needed.
  /// - Throws: `MalformedMessage` for a frame that is empty or larger than allowed; the stream is unusable then.
  public mutating func next() throws(MalformedMessage) -> ArraySlice<UInt8>? {
    if position == buffer.count, buffer.capacity > Self.keptCapacity { (buffer, position) = ([], 0) }
    guard buffer.count - position >= ProtocolLimits.headerSize else { return nil }
    let length = buffer[position..<(position + ProtocolLimits.headerSize)].reduce(0) { $0 << 8 | Int($1) }
    guard length > 0 else { throw MalformedMessage("a frame is empty") }
    guard length <= maximumFrameSize else {
      throw MalformedMessage("a frame has \(length) bytes; at most \(maximumFrameSize) are allowed")
    }
    let start = position + ProtocolLimits.headerSize
    guard buffer.count - start >= length else { return nil }
    position = start + length
    assert(position <= buffer.count, "a frame ends within the bytes that arrived")
    return buffer[start..<position]
  }
}
