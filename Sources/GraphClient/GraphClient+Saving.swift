// Tests: SavingTests.swift, RowSenderTests.swift
import GraphModel
import GraphReplica
import GraphWire
import Tracing

/// Commits: saves of the context, and batches, which change many objects in one commit, all or none. Other commits wait
/// for a batch; docs/operating.md says how long. The context receives its result like any other client's commit.
extension GraphClient {
  /// Saves the context's changes as one transaction and waits until they are on the server's disk.
  /// - Parameters:
  ///   - policy: resolves conflicts with other clients' changes.
  ///   - requirements: conditions on objects that other clients must not have changed; otherwise the save is refused
  ///     under every policy.
  ///   - undo: the group of its undo step; nil for the open or a new group of the context's scope.
  /// - Returns: nil when there was nothing to save.
  /// - Throws: `Refusal`; the edits are unsaved again then. Edits of objects that the server does not know (the rule
  ///   `missing`) are discarded with those objects, and the context's observers are notified.
  @discardableResult
  public func save(
    policy: MergePolicy = .error, requiring requirements: [SaveRequirement] = [], undo: UndoGroup? = nil
  ) async throws -> SaveResult? {
    if let refusal = refusalWithoutServer(policy) { throw refusal }
    guard let id = context.save(policy: policy, requiring: requirements, undo: undo) else { return nil }
    return try await outcome(of: id)
  }

  /// Commits changes that bypass the context, and waits until they are on the server's disk.
  /// - Parameter undo: the group of its undo step; nil makes it a step of its own.
  /// - Throws: `Refusal`. Nothing was written, but after `unavailable` the changes may have been committed.
  @discardableResult
  public func commit(_ changes: [Change], policy: MergePolicy, undo: UndoGroup? = nil) async throws -> SaveResult {
    let id = context.newTransactionID()
    context.handle(.save(Transaction(id: id, policy: policy, undo: undo, changes: changes)))
    return try await outcome(of: id)
  }

  /// Whether the client has made edits that wait for the server.
  package var hasUnsentCommits: Bool {
    unsentAfter != nil && commits.hasSucceeded && companion?.hasQueuedEdits == true
  }

  /// Sends transactions under their own ids, in order, and calls `body` with each outcome as it arrives.
  /// - Parameter body: must not use the client.
  package func send(
    _ events: [(id: TransactionID, event: ReplicaEvent)],
    body: @escaping (TransactionID, Result<SaveResult, Refusal>) -> Void
  ) {
    guard state != .closed else {
      for (id, _) in events { body(id, .failure(Self.nothingSent)) }
      return
    }
    for (id, event) in events {
      commits.add(for: id) { body(id, $0) }
      context.handle(event)
    }
    perform()
  }

  func outcome(of id: TransactionID) async throws -> SaveResult {
    guard state != .closed else { throw Self.nothingSent }
    return try await instruments.measure(.save, describe: Self.describe) {
      try await withCheckedThrowingContinuation { continuation in
        commits.add(continuation, for: id)
        perform()
      }
    }
  }

  /// Saves the context's current changes as one transaction, and calls `body` with the outcome, after the current turn
  /// of the actor.
  /// - Returns: false when there was nothing to save; `body` is not called then.
  @discardableResult
  public func save(
    policy: MergePolicy = .error, undo: UndoGroup? = nil, actor: isolated any Actor = #isolation,
    body: @escaping (Result<SaveResult, Refusal>) -> Void
  ) -> Bool {
    func report(_ outcome: Result<SaveResult, Refusal>) {
      Task {
        _ = actor
        body(outcome)
      }
    }
    if let refusal = refusalWithoutServer(policy) {
      report(.failure(refusal))
      return true
    }
    guard let id = context.save(policy: policy, undo: undo) else { return false }
    if state == .closed {
      report(.failure(Self.nothingSent))
    } else {
      let measurement = instruments.begin(.save)
      // Added before the end of the turn, because the client then sends the transaction and may refuse it.
      commits.add(for: id) { outcome in
        switch outcome {
        case .success(let result): measurement?.finish { Self.describe(result, &$0) }
        case .failure(let refusal): measurement?.finish(throwing: refusal)
        }
        report(outcome)
      }
    }
    return true
  }

  /// Describes a commit in the attributes of its span.
  private static func describe(_ result: SaveResult, _ attributes: inout SpanAttributes) {
    attributes["graph.revision"] = result.committed.revision
    attributes["graph.objects"] = result.objects.count
    attributes["graph.conflicts"] = result.committed.conflicts.count
  }

  private static let nothingSent = Refusal(.unavailable, "the connection is closed; nothing was sent")

  /// While there is no connection, refuses edits that break a rule on their own; they stay unsaved. Otherwise the
  /// server would refuse the queued save long after the user made the edits.
  private func refusalWithoutServer(_ policy: MergePolicy) -> Refusal? {
    state == .connected || state == .closed ? nil : context.foreseenRefusal(policy: policy)
  }

  // MARK: - Batches

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
  ///   - id: the id of an earlier request for the same batch; the batch is then committed only once.
  ///   - progress: called from time to time.
  /// - Throws: `Refusal`. Nothing was written, but after `unavailable` the batch may have been committed.
  @discardableResult
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

  /// Sets new values in all objects of a class that match a predicate, which the compiler checks:
  /// `set: [(model.property(Person.self, \.remote), .value(.bool(true)))]`.
  @discardableResult
  public func batchUpdate<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate,
    set assignments: [(property: Property, to: BatchRequest.Assignment.Source)]
  ) async throws -> BatchResult {
    try await batchUpdate(try entity(of: type), where: GraphPredicate(type, where: predicate), set: assignments)
  }

  /// Deletes all objects that match, and those that the model's delete rules cascade to.
  /// - Parameters:
  ///   - entity: objects of it and of all that inherit from it.
  ///   - id: the id of an earlier request for the same batch; the batch is then committed only once.
  ///   - progress: called from time to time.
  /// - Throws: `Refusal`. Nothing was written, but after `unavailable` the batch may have been committed.
  @discardableResult
  public func batchDelete(
    _ entity: Entity, where predicate: GraphPredicate = .always, id: TransactionID? = nil,
    progress: (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchResult {
    try await run(
      BatchRequest(
        id: id ?? newTransactionID(), entity: entity.number, operation: .delete(predicate: text(of: predicate))),
      progress)
  }

  /// Deletes all objects of a class that match a predicate, which the compiler checks.
  @discardableResult
  public func batchDelete<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate
  ) async throws -> BatchResult {
    try await batchDelete(try entity(of: type), where: GraphPredicate(type, where: predicate))
  }

  /// Inserts objects from rows.
  /// - Parameters:
  ///   - properties: the properties that each row has values for, in this order; the others get their defaults.
  ///   - rows: read only as fast as the server stores them, so that neither side has all in memory.
  ///   - policy: resolves a row whose unique key already exists.
  ///   - id: the id of an earlier request for the same batch; the batch is then committed only once. The rows are
  ///     always sent again.
  ///   - progress: called from time to time; `total` is 0 while rows are being sent.
  /// - Throws: `Refusal`. Nothing was written, but after `unavailable` the batch may have been committed. A violation
  ///   names its row by the temporary id, from 1. An error of `rows` ends the batch.
  @discardableResult
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
  @discardableResult
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
  func run(_ request: ToServer.Body, hasRows: Bool, _ progress: (BatchProgress) -> Void) async throws -> BatchResult {
    commits.beginBatch()
    defer {
      commits.endBatch()
      usedUndoStack?.refresh()
    }
    return try await instruments.measure(.save, describe: Self.describe) {
      try await runOnce(request, hasRows: hasRows, progress)
    }
  }

  private func runOnce(
    _ request: ToServer.Body, hasRows: Bool, _ progress: (BatchProgress) -> Void
  ) async throws -> BatchResult {
    do {
      return try await batchResult(of: request, progress)
    } catch let refusal as Refusal where refusal == Replica.lostConnection {
      // A cancelled task does not learn the outcome, and its request is not sent again.
      do {
        try await waitForReconnection()
        try Task.checkCancellation()
      } catch { throw Self.unknownOutcome }
      do {
        return try await batchResult(of: request, progress)
      } catch let refusal as Refusal where refusal.code == .unavailable {
        throw Self.unknownOutcome
      } catch let refusal as Refusal where hasRows && refusal.code == .malformed {
        throw Refusal(.unavailable, "the connection was lost before anything was committed: send the batch again")
      }
    }
  }

  private static func describe(_ result: BatchResult, _ attributes: inout SpanAttributes) {
    attributes["graph.revision"] = result.committed.revision
    if let changed = result.changed { attributes["graph.objects"] = changed }
  }

  private func batchResult(of request: ToServer.Body, _ progress: (BatchProgress) -> Void) async throws -> BatchResult {
    let reply = openReply(to: request)
    var changed: Int?
    while let part = try await reply.nextPart() {
      switch part {
      case .progress(let step):
        changed = step.changed
        progress(step)
      case .committed(let committed, _, _, _): return BatchResult(committed: committed, changed: changed)
      default: throw Replica.unexpectedReply
      }
    }
    throw ReplyStream.incomplete
  }

  // MARK: - The complete graph

  /// An export in progress: its head, and its objects in the order of entity numbers and ids.
  public struct ExportedGraph {
    /// The state of all objects.
    public let at: Token
    /// The number of objects, damaged ones included.
    public let count: Int
    private let reply: ReplyStream

    init(_ head: ExportHead, _ reply: ReplyStream) {
      at = head.at
      count = Int(clamping: head.objects)
      self.reply = reply
    }

    /// The next objects; nil after the last.
    public func next() async throws -> [ObjectImage]? { try await reply.nextChunk() }

    /// The damaged objects, which are missing; known after the last object.
    public var damage: DamageNotice { reply.damage }
  }

  /// Reads every object as of one state.
  /// - Parameter omitsDamage: whether damaged objects are omitted; `damage` of the graph names them. Otherwise the last
  ///   chunk throws `unavailable`.
  /// - Throws: `Refusal`.
  public func exportGraph(omitsDamage: Bool = false) async throws -> ExportedGraph {
    let reply = openReply(to: .exportGraph)
    reply.omitsDamage = omitsDamage
    guard let head = try await reply.next({ if case .exportHead(let head) = $0 { head } else { nil } }) else {
      throw ReplyStream.incomplete
    }
    return ExportedGraph(head, reply)
  }

  /// Imports a complete graph into a store without commits: all of it or nothing, in one commit. Objects keep their
  /// ids and all of their values; they may refer to later ones.
  /// - Parameters:
  ///   - objects: read only as fast as the server stores them, so that neither side has all in memory. Their revisions
  ///     are ignored.
  ///   - id: the id of an earlier request for the same import; the import is then committed only once. The objects are
  ///     always sent again.
  ///   - progress: called from time to time; `total` is 0 while objects are being sent.
  /// - Throws: `Refusal`. Nothing was written, but after `unavailable` the import may have been committed. A violation
  ///   names its object by a temporary id, which is the object's position in `objects`, from 1. An error of `objects`
  ///   ends the import.
  @discardableResult
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
