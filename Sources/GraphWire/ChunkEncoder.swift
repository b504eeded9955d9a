import GraphModel

/// Builds the frames of a chunked answer one by one. An answer of any size needs one chunk's memory.
public struct ChunkEncoder: Sendable {
  private let request: UInt64
  /// The number of bytes from which a chunk is full.
  private let chunkSize: Int
  private var body: BinaryWriter
  private var count: UInt64 = 0
  private var isFinished = false

  /// An empty answer to `request`.
  /// - Parameters:
  ///   - columns: for an answer in rows; the first chunk contains them.
  ///   - chunkSize: the number of bytes from which a chunk is full. The simulation makes it small, so that answers have
  ///     several chunks.
  public init(request: UInt64, columns: [RowColumn] = [], chunkSize: Int = ProtocolLimits.chunkSize) {
    self.request = request
    self.chunkSize = chunkSize
    body = BinaryWriter(capacity: chunkSize + 4096)
    for column in columns { body.field(6, column) }
  }

  /// Adds an object, and returns the frame of a full chunk.
  public mutating func append(_ object: ObjectImage) -> [UInt8]? {
    body.field(1, object)
    return added()
  }

  /// Adds an object or a row, and returns the frame of a full chunk.
  /// - Parameter encoding: the encoding of the object, if it is known.
  /// - Throws: `Refusal` for a row that is too large for a frame.
  public mutating func append(_ part: FetchElement, encoding: [UInt8]? = nil) throws(Refusal) -> [UInt8]? {
    switch part {
    case .object(let object):
      guard let encoding else { return append(object) }
      assert(encoding == object.binary, "an object is sent as it is encoded")
      body.field(1, encoding, always: true)
      return added()
    case .row(let values):
      let size = body.bytes.count
      body.row(5, values)
      guard body.bytes.count - size <= ProtocolLimits.maximumRowSize else {
        throw Refusal(
          .limit, "a row has \(body.bytes.count - size) bytes; at most \(ProtocolLimits.maximumRowSize) are allowed")
      }
      return added()
    }
  }

  private mutating func added() -> [UInt8]? {
    assert(!isFinished, "nothing follows the last chunk")
    count += 1
    return body.bytes.count >= chunkSize ? endChunk() : nil
  }

  /// The last frame.
  /// - Parameter damage: the damaged objects that the answer lacks.
  public mutating func finish(at token: Token, damage: DamageNotice = DamageNotice()) -> [UInt8] {
    finish(FetchCompletion(at: token, count: Int(count), damage: damage))
  }

  /// The last frame of a window's rows.
  /// - Parameters:
  ///   - total: the number of rows of the query before limit and offset.
  ///   - damage: the damaged objects that the rows lack.
  public mutating func finish(at token: Token, total: UInt64, damage: DamageNotice = DamageNotice()) -> [UInt8] {
    body.rowCount(30, total)
    return finish(at: token, damage: damage)
  }

  /// The last frame, with everything that ends the answer.
  public mutating func finish(_ end: FetchCompletion) -> [UInt8] {
    assert(!isFinished, "an answer has one last chunk")
    assert(end.count >= 0, "an answer has a number of objects or rows")
    isFinished = true
    body.field(2, true)
    body.field(3, end.at)
    body.field(4, UInt64(end.count))
    if let next = end.next { body.field(7, next.bytes) }
    if let explanation = end.explanation { body.field(8, explanation) }
    if !end.damage.isEmpty { body.field(31, end.damage) }
    return endChunk()
  }

  private mutating func endChunk() -> [UInt8] {
    var frame = BinaryWriter(capacity: body.bytes.count + 32)
    frame.bytes = [0, 0, 0, 0]
    frame.field(1, request)
    frame.field(5, body.bytes, always: true)
    assert(frame.bytes.count > ProtocolLimits.headerSize + body.bytes.count, "the frame contains the complete chunk")
    Frame.setLength(&frame.bytes)
    body.bytes.removeAll(keepingCapacity: true)
    return frame.bytes
  }
}
