import GraphModel
import GraphReplica
import GraphWire

/// The whole graph, out and in. Neither side ever holds all of it.
extension GraphClient {
  /// A graph on its way: its head, and its objects in the order of entity numbers and ids.
  @MainActor
  public struct ExportedGraph {
    /// The state that all of it is of.
    public let at: Token
    /// How many objects there are.
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
      throw Refusal(.malformed, "the server sent a graph without its head")
    }
    return ExportedGraph(head, reply)
  }

  /// Makes a whole graph in a store without a commit, all of it or nothing, in one commit. Objects keep their ids and all
  /// of their values; they may name others that come later.
  /// - Parameters:
  ///   - objects: taken as the server keeps them. Their revisions mean nothing.
  ///   - id: for an import that was asked for before: it is committed once. The objects are sent again all the same.
  ///   - progress: told now and then how far it is; `total` is 0 while objects are on their way.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been. A violation names
  ///   its object by a temporary id: which one it was of those that were sent, from 1. What `objects` throws ends the
  ///   import.
  public func importGraph<Objects: AsyncSequence>(
    _ objects: Objects, id: TransactionID? = nil, progress: (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchSaved where Objects.Element == ObjectImage {
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
