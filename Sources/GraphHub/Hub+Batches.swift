import GraphModel
import GraphWire

/// Batches. The server keeps the rows that a client sends until the client requests the batch that they belong to.
/// The batch itself is committed like a transaction, reports its progress, and is cancelled when its session ends.
extension Hub {
  /// Rows that a client has sent for a batch that it has not requested yet.
  struct StagedRows {
    let id: TransactionID
    let ticket: StoreRequestID
    private(set) var count = 0
    /// Messages of rows that the server has not acknowledged yet.
    private(set) var unanswered = 0

    init(id: TransactionID, ticket: StoreRequestID) { (self.id, self.ticket) = (id, ticket) }

    /// Counts a message with this number of rows.
    mutating func add(rows: Int) {
      count += rows
      unanswered += 1
      assert(count <= Batch.maximumObjects && unanswered <= ProtocolLimits.maximumUnansweredRows)
    }

    /// Counts the acknowledgment of a message.
    mutating func acknowledge() {
      assert(unanswered > 0, "a message is acknowledged once")
      unanswered -= 1
    }
  }

  // MARK: - Rows

  /// Stages rows immediately, ahead of the waiting requests: the batch that needs them is requested later.
  mutating func stageRows(_ rows: BatchRows, _ session: Session, _ request: UInt64, _ actions: inout [HubAction]) {
    var staged: StagedRows
    if let earlier = session.rows, earlier.id == rows.id {
      staged = earlier
    } else {
      dropRows(of: session, &actions)
      staged = StagedRows(id: rows.id, ticket: ticket())
      tickets[staged.ticket] = .rows(session)
      session.rows = staged
    }
    let refusal: Refusal? =
      if rows.id.replica != session.replica {
        Refusal(.notAllowed, "the batch's replica is not the replica of hello")
      } else if staged.count + rows.rows.count > Batch.maximumObjects {
        Refusal(.limit, "a batch has at most \(Batch.maximumObjects) rows; split it")
      } else if staged.unanswered >= ProtocolLimits.maximumUnansweredRows {
        Refusal(.limit, "more than \(ProtocolLimits.maximumUnansweredRows) messages with rows are not answered")
      } else {
        nil
      }
    if let refusal {
      dropRows(of: session, &actions)
      return refuse(request, refusal, session, &actions)
    }
    staged.add(rows: rows.rows.count)
    session.rows = staged
    actions.append(.keepRows(staged.ticket, rows.rows, request: request))
  }

  mutating func rowsKept(
    _ ticket: StoreRequestID, _ request: UInt64, _ result: Result<Int, Refusal>, _ actions: inout [HubAction]
  ) {
    // Rows that were dropped meanwhile have no ticket.
    guard case .rows(let session)? = tickets[ticket] else { return }
    guard var staged = session.rows, staged.ticket == ticket else {
      return assertionFailure("the ticket of rows is removed with them")
    }
    switch result {
    case .success(let count):
      staged.acknowledge()
      session.rows = staged
      send(ToClient(request, .progress(BatchProgress(done: count, total: 0, changed: 0))), to: session, &actions)
    case .failure(let refusal):
      dropRows(of: session, &actions)
      refuse(request, refusal, session, &actions)
    }
  }

  private mutating func dropRows(of session: Session, _ actions: inout [HubAction]) {
    guard let staged = session.rows else { return }
    session.rows = nil
    tickets[staged.ticket] = nil
    actions.append(.dropRows(staged.ticket))
  }

  // MARK: - The batch

  mutating func startBatch(
    _ request: BatchRequest, _ session: Session, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    var rows: StoreRequestID?
    if case .insert(_, let count) = request.operation { rows = try stagedRows(request.id, count, session) }
    try start(try makeBatch(request), rows, session, number, &actions)
  }

  /// The ticket of a batch's rows, once all of them are staged; nil when the session has none for this batch.
  ///
  /// A batch that is resent because its answer was lost needs no rows: the store has its outcome.
  private func stagedRows(_ batch: TransactionID, _ count: UInt64, _ session: Session) throws -> StoreRequestID? {
    guard let staged = session.rows, staged.id == batch else { return nil }
    guard staged.unanswered == 0, UInt64(staged.count) == count else {
      throw Refusal(
        .malformed,
        "the batch has \(count) rows; \(staged.count) have been sent, \(staged.unanswered) messages with "
          + "rows are not answered yet")
    }
    return staged.ticket
  }

  /// Imports a whole graph as a batch.
  mutating func importGraph(
    _ request: ImportRequest, _ session: Session, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    let rows = try stagedRows(request.id, request.rows, session)
    let batch = Batch(id: request.id, entity: 0, operation: .restore(rows: Int(clamping: request.rows)))
    try start(batch, rows, session, number, &actions)
  }

  private mutating func start(
    _ batch: Batch, _ rows: StoreRequestID?, _ session: Session, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    let run = BatchJob(batch, author: try author(of: session))
    try run.batch.check(in: model)
    guard let ticket = requestCommit(.batch(run), rows: rows, bytes: 0, session, number, &actions) else { return }
    session.batches.insert(ticket)
    if let rows {
      // The rows belong to the batch from now on and are released with it.
      tickets[rows] = nil
      session.rows = nil
    }
  }

  private func makeBatch(_ request: BatchRequest) throws -> Batch {
    let entity = try entity(request.entity)
    let operation: Batch.Operation
    switch request.operation {
    case .update(let predicate, let assignments):
      operation = .update(
        try self.predicate(predicate, entity), try assignments.map { try assignment($0, entity) })
    case .delete(let predicate): operation = .delete(try self.predicate(predicate, entity))
    case .insert(let properties, let rows): operation = .insert(properties, rows: Int(clamping: rows))
    }
    return Batch(id: request.id, policy: request.policy, entity: request.entity, operation: operation)
  }

  private func assignment(_ assignment: BatchRequest.Assignment, _ entity: Entity) throws -> Batch.Assignment {
    switch assignment.source {
    case .value(let value): return Batch.Assignment(assignment.property, .value(value))
    case .expression(let text):
      let expression: GraphExpression
      do {
        expression = try GraphExpression(parsing: text, entity: entity, model: model)
      } catch {
        throw Refusal(.malformed, "the expression can't be read at \(error)")
      }
      return Batch.Assignment(assignment.property, expression.bound(now: time))
    }
  }

  mutating func batchProgressed(_ ticket: StoreRequestID, _ progress: BatchProgress, _ actions: inout [HubAction]) {
    // The session may have ended before its batch has.
    guard let (id, request, _) = commits[ticket], let session = sessions[id] else { return }
    send(ToClient(request, .progress(progress)), to: session, &actions)
  }

  /// Drops the staged rows and cancels the batches of a session that has ended.
  mutating func releaseBatches(of session: Session, _ actions: inout [HubAction]) {
    dropRows(of: session, &actions)
    for ticket in session.batches.sorted() { actions.append(.cancelBatch(ticket)) }
  }

  // MARK: - Summarized commits

  /// Resets every live query that the commit could have touched, when the commit has too many changes to send.
  mutating func reset(
    _ session: Session, after record: CommitRecord, _ summary: ChangeSummary, _ actions: inout [HubAction]
  ) {
    guard session.isLive else { return }
    for (number, reader) in session.readers.sorted(by: { $0.key < $1.key }) {
      guard case .live = reader.state, reader.through < record.revision, queries.mayAffect(summary, to: number) else {
        continue
      }
      reset(number, of: session, "one commit changed \(summary.count) objects, too many to send one by one", &actions)
    }
  }
}
