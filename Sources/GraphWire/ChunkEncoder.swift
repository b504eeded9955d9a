import GraphModel

/// Builds the frames of a chunked answer object by object, so that a snapshot of any size needs one chunk's memory.
public struct ChunkEncoder: Sendable {
  private let request: UInt64
  private var body = BinaryWriter(capacity: ProtocolLimits.chunkSize + 4096)
  private var count: UInt64 = 0

  /// An answer to `request`, of no objects yet.
  public init(request: UInt64) { self.request = request }

  /// Adds an object; a full chunk is returned as a frame.
  public mutating func append(_ object: ObjectImage) -> [UInt8]? {
    body.field(1, object)
    count += 1
    return body.bytes.count >= ProtocolLimits.chunkSize ? take() : nil
  }

  /// The last frame.
  public mutating func finish(at token: Token) -> [UInt8] {
    body.field(2, true)
    body.field(3, token)
    body.field(4, count)
    return take()
  }

  private mutating func take() -> [UInt8] {
    var frame = BinaryWriter(capacity: body.bytes.count + 32)
    frame.bytes = [0, 0, 0, 0]
    frame.field(1, request)
    frame.field(5, body.bytes, always: true)
    Frame.setLength(&frame.bytes)
    body.bytes.removeAll(keepingCapacity: true)
    return frame.bytes
  }
}
