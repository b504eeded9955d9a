import GraphModel
import GraphReplica
import GraphWire

/// Export and import of the complete graph. Neither side ever holds all of it.
extension GraphClient {
  /// An export in progress: its head, and its objects in the order of entity numbers and ids.
  @MainActor
  public struct ExportedGraph {
    /// The state of all objects.
    public let at: Token
    /// The number of objects.
    public let count: Int
    private let reply: ReplyStream

    init(_ head: ExportHead, _ reply: ReplyStream) {
      at = head.at
      count = Int(clamping: head.objects)
      self.reply = reply
    }

    /// The next objects; nil after the last.
    public func next() async throws -> [ObjectImage]? { try await reply.nextChunk() }
  }

  /// Reads every object as of one state.
  /// - Throws: `Refusal`.
  public func exportGraph() async throws -> ExportedGraph {
    let reply = ask(.exportGraph)
    guard case .exportHead(let head)? = try await reply.nextAnswer() else {
      throw Refusal(.malformed, "the server sent a graph without a head")
    }
    return ExportedGraph(head, reply)
  }

  /// Imports a complete graph into a store without commits: all of it or nothing, in one commit. Objects keep their
  /// ids and all of their values; they may refer to later ones.
  /// - Parameters:
  ///   - objects: consumed as fast as the server keeps them. Their revisions are ignored.
  ///   - id: of an earlier request for the same import: it is committed once. The objects are sent again in any case.
  ///   - progress: called from time to time; `total` is 0 while objects are being sent.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been. A violation
  ///   names its object by a temporary id, which is the object's position in `objects`, from 1. An error of `objects`
  ///   ends the import.
  public func importGraph<Objects: AsyncSequence>(
    _ objects: Objects, id: TransactionID? = nil, progress: (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchResult where Objects.Element == ObjectImage {
    var outgoing = RowSender(self, id: id ?? newTransactionID())
    for try await object in objects {
      if let kept = try await outgoing.append([.object(object.id)] + object.values) {
        progress(BatchProgress(done: kept, total: 0, changed: 0))
      }
    }
    try await outgoing.finish()
    return try await run(
      .importGraph(ImportRequest(id: outgoing.id, rows: UInt64(outgoing.count))), hasRows: true, progress)
  }
}
