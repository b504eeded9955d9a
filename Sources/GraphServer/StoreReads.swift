import GraphHub
import GraphModel
import GraphWire

/// The reads that a hub asks for, run on a reader's thread.
struct StoreReads: Sendable {
  let store: any GraphStoring

  /// Reads objects or the log into `stream`, frame by frame.
  func run(_ request: ReadRequest, _ number: UInt64, into stream: ReadStream) {
    do {
      switch request {
      case .objects(let fetch): try objects(fetch, number, stream)
      case .graph: try graph(number, stream)
      case .log(let after, let limit, let through):
        try log(after: after, limit: limit, through: through, number, stream)
      case .undoState(let author, let scope):
        let state = try store.undoState(of: author, scope: scope)
        try stream.put(Frame.encode(ToClient(number, .undoState(state))))
        stream.finish(.success(try store.head))
      }
    } catch is ReadStream.Cancelled {
    } catch {
      stream.finish(.failure(Self.refusal(error)))
    }
  }

  private func objects(_ fetch: FetchRequest, _ number: UInt64, _ stream: ReadStream) throws {
    var columns = [RowColumn]()
    if case .rows(let rows) = fetch.result { columns = rows.description(in: store.model) }
    var encoder = ChunkEncoder(request: number, columns: columns)
    let end = try store.answer(fetch) { part in
      if let frame = try encoder.append(part) { try stream.put(frame) }
    }
    try stream.put(encoder.finish(end))
    stream.finish(.success(end.at))
  }

  private func graph(_ number: UInt64, _ stream: ReadStream) throws {
    var encoder = ChunkEncoder(request: number)
    let at = try store.export { at, objects in
      try stream.put(Frame.encode(ToClient(number, .exportHead(ExportHead(at: at, objects: UInt64(objects))))))
    } _: { image in
      if let frame = encoder.append(image) { try stream.put(frame) }
    }
    try stream.put(encoder.finish(at: at))
    stream.finish(.success(at))
  }

  /// So many object changes of history are read for one log, and about so many bytes.
  static let maximumLogChanges = 200_000
  static let maximumLogBytes = 256 << 20

  private func log(
    after: Revision, limit: Int, through: Revision?, _ number: UInt64, _ stream: ReadStream
  ) throws {
    let head = try store.head
    let end = min(through ?? head.revision, head.revision)
    let start = min(max(after, end - Revision(limit)), end)
    let commits = try store.commits(
      after: start, through: end, maximumChanges: Self.maximumLogChanges, maximumBytes: Self.maximumLogBytes)
    var chunk = [CommitEntry]()
    var size = 0
    for commit in commits.reversed() {
      var entry = CommitEntry(commit)
      if commit.approximateSize > ProtocolLimits.maximumFrameSize / 2 {
        // Too large for a frame with its objects: their ids remain.
        for index in entry.changes.indices {
          entry.changes[index].object = nil
          entry.changes[index].edits = []
        }
      }
      chunk.append(entry)
      size += commit.approximateSize
      if size >= ProtocolLimits.chunkSize {
        try stream.put(Frame.encode(ToClient(number, .log(chunk, last: false))))
        (chunk, size) = ([], 0)
      }
    }
    try stream.put(Frame.encode(ToClient(number, .log(chunk, last: true))))
    stream.finish(.success(head))
  }

  func history(after: Revision, through: Revision, limits: HubLimits) -> Result<[CommitRecord], Refusal> {
    do {
      return .success(
        try store.commits(
          after: after, through: through, maximumChanges: limits.historyChanges, maximumBytes: limits.historyBytes))
    } catch {
      return .failure(Self.refusal(error))
    }
  }

  static func refusal(_ error: any Error) -> Refusal {
    switch error {
    case let refusal as Refusal: refusal
    case let failure as StoreFailure: Refusal(.unavailable, failure.description)
    default: Refusal(.unavailable, "the store can't be read: \(error)")
    }
  }
}
