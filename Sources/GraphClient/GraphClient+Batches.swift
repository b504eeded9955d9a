import GraphModel
import GraphReplica
import GraphWire

/// Batches: the server changes many objects in one commit, all or none. Other commits wait meanwhile;
/// docs/operating.md says how long. The context receives the result like any other client's commit.
extension GraphClient {
  /// A batch that is on the server's disk.
  public struct BatchResult: Sendable {
    /// The commit; for a batch that changed nothing, and so made no commit, the store's newest one.
    public var committed: CommitResult
    /// The number of changed objects, cascaded deletes included. Nil for a batch that had already been committed
    /// under the same id.
    public var changed: Int?
  }

  /// An id for a batch that should be requested again when the connection is lost.
  public func newTransactionID() -> TransactionID { context.newTransactionID() }

  /// Sets new values in all objects that match.
  /// - Parameters:
  ///   - entity: objects of it and of all that inherit from it.
  ///   - set: constants, or expressions such as `salary * 1.1` over the object before the change.
  ///   - id: of an earlier request for the same batch: it is committed once.
  ///   - progress: called from time to time.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been.
  public func batchUpdate(
    _ entity: Entity, where predicate: GraphPredicate = .always,
    set assignments: [(property: Property, to: BatchRequest.Assignment.Source)], id: TransactionID? = nil,
    progress: (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchResult {
    let wire = assignments.map { BatchRequest.Assignment($0.property.number, $0.to) }
    return try await run(
      BatchRequest(
        id: id ?? newTransactionID(), entity: entity.number,
        operation: .update(predicate: text(of: predicate), wire)), progress)
  }

  /// Deletes all objects that match, and those that the model's delete rules cascade to.
  /// - Parameters:
  ///   - entity: objects of it and of all that inherit from it.
  ///   - id: of an earlier request for the same batch: it is committed once.
  ///   - progress: called from time to time.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been.
  public func batchDelete(
    _ entity: Entity, where predicate: GraphPredicate = .always, id: TransactionID? = nil,
    progress: (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchResult {
    try await run(
      BatchRequest(
        id: id ?? newTransactionID(), entity: entity.number, operation: .delete(predicate: text(of: predicate))),
      progress)
  }

  /// Inserts objects from rows.
  /// - Parameters:
  ///   - properties: the properties that each row has values for, in this order; the others get their defaults.
  ///   - rows: consumed as fast as the server keeps them, so that neither side holds all.
  ///   - policy: resolves a row whose unique key already exists.
  ///   - id: of an earlier request for the same batch: it is committed once. The rows are sent again in any case.
  ///   - progress: called from time to time; `total` is 0 while rows are being sent.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been. A violation
  ///   names its row by the temporary id, from 1. An error of `rows` ends the batch.
  public func batchInsert<Rows: AsyncSequence>(
    _ entity: Entity, _ properties: [Property], rows: Rows, policy: MergePolicy = .error, id: TransactionID? = nil,
    progress: (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchResult where Rows.Element == [Value] {
    var outgoing = RowSender(self, id: id ?? newTransactionID())
    for try await row in rows {
      if let kept = try await outgoing.append(row) { progress(BatchProgress(done: kept, total: 0, changed: 0)) }
    }
    return try await insert(entity, properties, &outgoing, policy, progress)
  }

  /// Inserts objects from rows in memory.
  public func batchInsert<Rows: Sequence>(
    _ entity: Entity, _ properties: [Property], rows: Rows, policy: MergePolicy = .error, id: TransactionID? = nil,
    progress: (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchResult where Rows.Element == [Value] {
    var outgoing = RowSender(self, id: id ?? newTransactionID())
    for row in rows {
      if let kept = try await outgoing.append(row) { progress(BatchProgress(done: kept, total: 0, changed: 0)) }
    }
    return try await insert(entity, properties, &outgoing, policy, progress)
  }

  private func insert(
    _ entity: Entity, _ properties: [Property], _ outgoing: inout RowSender, _ policy: MergePolicy,
    _ progress: (BatchProgress) -> Void
  ) async throws -> BatchResult {
    try await outgoing.finish()
    return try await run(
      BatchRequest(
        id: outgoing.id, policy: policy, entity: entity.number,
        operation: .insert(properties: properties.map(\.number), rows: UInt64(outgoing.count))), progress)
  }

  private func text(of predicate: GraphPredicate) -> String {
    predicate == .always ? "" : predicate.text(in: context.model)
  }

  private func run(_ batch: BatchRequest, _ progress: (BatchProgress) -> Void) async throws -> BatchResult {
    var hasRows = false
    if case .insert = batch.operation { hasRows = true }
    return try await run(.batch(batch), hasRows: hasRows, progress)
  }

  /// Sends a request that is answered by progress and a commit. If the answer is lost with the connection, the
  /// request is repeated under the same id, so that it is committed once.
  /// - Parameter hasRows: rows were sent before it. They are lost with the connection, too: the server refuses the
  ///   repeated request, unless it has committed it.
  func run(_ question: ReplicaRequest, hasRows: Bool, _ progress: (BatchProgress) -> Void) async throws -> BatchResult {
    batches += 1
    defer {
      batches -= 1
      forgetOutcomeDeadline()
    }
    do {
      return try await answer(to: question, progress)
    } catch let refusal as Refusal where refusal == Replica.lostConnection {
      await reconnection()
      do {
        return try await answer(to: question, progress)
      } catch let refusal as Refusal where refusal.code == .unavailable {
        throw Self.unknownOutcome
      } catch let refusal as Refusal where hasRows && refusal.code == .malformed {
        throw Refusal(.unavailable, "the connection was lost before anything was committed: send the batch again")
      }
    }
  }

  private func answer(to question: ReplicaRequest, _ progress: (BatchProgress) -> Void) async throws -> BatchResult {
    let reply = ask(question)
    var changed: Int?
    while let answer = try await reply.nextAnswer() {
      switch answer {
      case .progress(let step):
        changed = step.changed
        progress(step)
      case .saved(let saved): return BatchResult(committed: saved.committed, changed: changed)
      default: break
      }
    }
    throw Refusal(.unavailable, "the server did not answer the batch")
  }
}

/// Sends rows in parts, no faster than the server keeps them.
@MainActor
struct RowSender {
  let id: TransactionID
  private(set) var count = 0
  private let client: GraphClient
  private var rows = [[Value]]()
  private var size = 0
  private var unanswered = [ReplyStream]()

  private static let maximumRows = 1_000
  private static let maximumBytes = 256 << 10
  private static let window = 2

  init(_ client: GraphClient, id: TransactionID) {
    self.client = client
    self.id = id
  }

  /// Adds a row, and sends a part when it is full.
  /// - Returns: the number of rows that the server keeps, if it has just confirmed it.
  mutating func append(_ row: [Value]) async throws -> Int? {
    rows.append(row)
    count += 1
    size += row.reduce(32) { $0 + $1.approximateSize }
    guard rows.count >= Self.maximumRows || size >= Self.maximumBytes else { return nil }
    return try await send()
  }

  private mutating func send() async throws -> Int? {
    let kept = unanswered.count < Self.window ? nil : try await answer()
    unanswered.append(client.ask(.batchRows(BatchRows(id: id, rows: rows))))
    (rows, size) = ([], 0)
    return kept
  }

  private mutating func answer() async throws -> Int? {
    let first = unanswered.removeFirst()
    guard case .kept(let count)? = try await first.nextAnswer() else { return nil }
    return count
  }

  /// Returns when the server keeps all rows.
  mutating func finish() async throws {
    if !rows.isEmpty { _ = try await send() }
    while !unanswered.isEmpty { _ = try await answer() }
  }
}
