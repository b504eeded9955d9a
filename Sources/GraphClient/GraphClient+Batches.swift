import GraphModel
import GraphReplica
import GraphWire

/// Many objects changed by the server in one commit, all or none. Other commits wait meanwhile; docs/operating.md says
/// how long. The context hears of it as of anybody's commit.
extension GraphClient {
  /// A batch that is on the server's disk.
  public struct BatchSaved: Sendable {
    /// Its revision; of one that changed nothing, and so is no commit, the one that the store has.
    public var committed: Committed
    /// How many objects were changed, those that a delete took along included; nil for one that had been committed
    /// before under the same id.
    public var changed: Int?
  }

  /// An id for a batch that is to be asked for again when the connection is lost.
  public func newTransactionID() -> TransactionID { context.newTransactionID() }

  /// Gives all objects that match new values.
  /// - Parameters:
  ///   - entity: objects of it and of all that inherit from it.
  ///   - set: constants, or expressions such as `salary * 1.1` over the object as it was.
  ///   - id: for a batch that was asked for before: it is committed once.
  ///   - progress: told now and then how far it is.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been.
  public func batchUpdate(
    _ entity: Entity, where predicate: GraphPredicate = .always,
    set assignments: [(property: Property, to: BatchRequest.Assignment.Source)], id: TransactionID? = nil,
    progress: (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchSaved {
    let wire = assignments.map { BatchRequest.Assignment($0.property.number, $0.to) }
    return try await run(
      BatchRequest(
        id: id ?? newTransactionID(), entity: entity.number,
        operation: .update(predicate: text(of: predicate), wire)), progress)
  }

  /// Deletes all objects that match, with what the model's delete rules take along.
  /// - Parameters:
  ///   - entity: objects of it and of all that inherit from it.
  ///   - id: for a batch that was asked for before: it is committed once.
  ///   - progress: told now and then how far it is.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been.
  public func batchDelete(
    _ entity: Entity, where predicate: GraphPredicate = .always, id: TransactionID? = nil,
    progress: (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchSaved {
    try await run(
      BatchRequest(
        id: id ?? newTransactionID(), entity: entity.number, operation: .delete(predicate: text(of: predicate))),
      progress)
  }

  /// Makes objects of rows.
  /// - Parameters:
  ///   - properties: what each row has a value for, in this order; the others get their defaults.
  ///   - rows: taken as the server keeps them, so that no side holds all.
  ///   - policy: what becomes of a row that meets a unique key.
  ///   - id: for a batch that was asked for before: it is committed once. The rows are sent again all the same.
  ///   - progress: told now and then how far it is; `total` is 0 while rows are on their way.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been. A violation names
  ///   its row by the temporary id, from 1. What `rows` throws ends the batch.
  public func batchInsert<Rows: AsyncSequence>(
    _ entity: Entity, _ properties: [Property], rows: Rows, policy: MergePolicy = .error, id: TransactionID? = nil,
    progress: (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchSaved where Rows.Element == [Value] {
    var outgoing = RowSender(self, id: id ?? newTransactionID())
    for try await row in rows {
      if let kept = try await outgoing.append(row) { progress(BatchProgress(done: kept, total: 0, changed: 0)) }
    }
    return try await insert(entity, properties, &outgoing, policy, progress)
  }

  /// The same, of rows that are at hand.
  public func batchInsert<Rows: Sequence>(
    _ entity: Entity, _ properties: [Property], rows: Rows, policy: MergePolicy = .error, id: TransactionID? = nil,
    progress: (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchSaved where Rows.Element == [Value] {
    var outgoing = RowSender(self, id: id ?? newTransactionID())
    for row in rows {
      if let kept = try await outgoing.append(row) { progress(BatchProgress(done: kept, total: 0, changed: 0)) }
    }
    return try await insert(entity, properties, &outgoing, policy, progress)
  }

  private func insert(
    _ entity: Entity, _ properties: [Property], _ outgoing: inout RowSender, _ policy: MergePolicy,
    _ progress: (BatchProgress) -> Void
  ) async throws -> BatchSaved {
    try await outgoing.finish()
    return try await run(
      BatchRequest(
        id: outgoing.id, policy: policy, entity: entity.number,
        operation: .insert(properties: properties.map(\.number), rows: UInt64(outgoing.count))), progress)
  }

  private func text(of predicate: GraphPredicate) -> String {
    predicate == .always ? "" : predicate.text(in: context.model)
  }

  private func run(_ batch: BatchRequest, _ progress: (BatchProgress) -> Void) async throws -> BatchSaved {
    var hasRows = false
    if case .insert = batch.operation { hasRows = true }
    return try await run(.batch(batch), hasRows: hasRows, progress)
  }

  /// Asks for what is answered by progress and a commit, and asks again under the same id where the answer was lost with
  /// the connection: it is committed once.
  /// - Parameter hasRows: rows went before it. They went with the connection, too: the server refuses it, unless it has
  ///   committed it.
  func run(_ question: Question, hasRows: Bool, _ progress: (BatchProgress) -> Void) async throws -> BatchSaved {
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
        throw Refusal(.unavailable, "the connection was lost before anything was committed: send it again")
      }
    }
  }

  private func answer(to question: Question, _ progress: (BatchProgress) -> Void) async throws -> BatchSaved {
    let reply = ask(question)
    var changed: Int?
    while let answer = try await reply.nextAnswer() {
      switch answer {
      case .progress(let step):
        changed = step.changed
        progress(step)
      case .saved(let saved): return BatchSaved(committed: saved.committed, changed: changed)
      default: break
      }
    }
    throw Refusal(.unavailable, "the server gave no answer to a batch")
  }
}

/// Sends rows some at a time, and no more than the server keeps up with.
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

  /// - Returns: how many rows the server has, when it has just said so.
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

  /// Returns when the server has all of them.
  mutating func finish() async throws {
    if !rows.isEmpty { _ = try await send() }
    while !unanswered.isEmpty { _ = try await answer() }
  }
}
