import GraphModel
import GraphWire

/// Batches: rows are kept until the batch that they belong to is asked for; the batch itself goes the way of a commit, tells
/// how far it is, and ends with the session that asked for it.
extension Hub {
  /// Rows of a batch that has not been asked for.
  struct KeptRows {
    let id: TransactionID
    let ticket: Ticket
    var count: Int
    /// Messages that are not answered.
    var unanswered: Int
  }

  // MARK: - Rows

  /// At once, not in the order of the requests that wait: what they belong to comes after them.
  mutating func keep(_ rows: BatchRows, _ id: SessionID, _ request: UInt64, _ actions: inout [HubAction]) {
    guard let session = sessions[id] else { return }
    if session.rows?.id != rows.id {
      dropRows(of: id, &actions)
      let ticket = ticket()
      tickets[ticket] = .rows(id)
      session.rows = KeptRows(id: rows.id, ticket: ticket, count: 0, unanswered: 0)
    }
    guard let kept = session.rows else { return }
    let refusal: Refusal? =
      if rows.id.replica != session.replica {
        Refusal(.notAllowed, "the batch's replica is not the one of hello")
      } else if kept.count + rows.rows.count > Batch.maximumObjects {
        Refusal(.limit, "a batch has at most \(Batch.maximumObjects) rows; split it")
      } else if kept.unanswered >= ProtocolLimits.maximumUnansweredRows {
        Refusal(.limit, "more than \(ProtocolLimits.maximumUnansweredRows) messages of rows are not answered")
      } else {
        nil
      }
    if let refusal {
      dropRows(of: id, &actions)
      return send(answer(refusal, request), to: id, &actions)
    }
    session.rows?.count += rows.rows.count
    session.rows?.unanswered += 1
    actions.append(.keepRows(kept.ticket, rows.rows, request: request))
  }

  mutating func rowsKept(
    _ ticket: Ticket, _ request: UInt64, _ result: Result<Int, Refusal>, _ actions: inout [HubAction]
  ) {
    guard case .rows(let id)? = tickets[ticket], sessions[id]?.rows?.ticket == ticket else { return }
    switch result {
    case .success(let count):
      sessions[id]?.rows?.unanswered -= 1
      send(ToClient(request, .progress(BatchProgress(done: count, total: 0, changed: 0))), to: id, &actions)
    case .failure(let refusal):
      dropRows(of: id, &actions)
      send(answer(refusal, request), to: id, &actions)
    }
  }

  private mutating func dropRows(of id: SessionID, _ actions: inout [HubAction]) {
    guard let kept = sessions[id]?.rows else { return }
    sessions[id]?.rows = nil
    tickets[kept.ticket] = nil
    actions.append(.dropRows(kept.ticket))
  }

  // MARK: - The batch

  mutating func batch(
    _ request: BatchRequest, _ id: SessionID, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    var rows: Ticket?
    if case .insert(_, let count) = request.operation { rows = try keptRows(request.id, count, id) }
    try start(try batch(request), rows, id, number, &actions)
  }

  /// The rows of a batch, all of them. Sent again after its answer was lost, it needs none: the store knows what became of
  /// it.
  private func keptRows(_ batch: TransactionID, _ count: UInt64, _ id: SessionID) throws -> Ticket? {
    guard let kept = sessions[id]?.rows, kept.id == batch else { return nil }
    guard kept.unanswered == 0, UInt64(kept.count) == count else {
      throw Refusal(
        .malformed,
        "the batch is of \(count) rows; \(kept.count) have been sent, \(kept.unanswered) messages of "
          + "them are not answered yet")
    }
    return kept.ticket
  }

  /// A whole graph goes the way of a batch.
  mutating func importGraph(
    _ request: ImportRequest, _ id: SessionID, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    let rows = try keptRows(request.id, request.rows, id)
    let batch = Batch(id: request.id, entity: 0, operation: .restore(rows: Int(clamping: request.rows)))
    try start(batch, rows, id, number, &actions)
  }

  private mutating func start(
    _ batch: Batch, _ rows: Ticket?, _ id: SessionID, _ number: UInt64, _ actions: inout [HubAction]
  ) throws {
    let run = BatchRun(batch, author: try author(of: id))
    try run.batch.check(in: model)
    guard let ticket = commit(.batch(run), rows: rows, bytes: 0, id, number, &actions) else { return }
    sessions[id]?.batches.insert(ticket)
    if let rows {
      // They are the batch's now, and go with it.
      tickets[rows] = nil
      sessions[id]?.rows = nil
    }
  }

  private func batch(_ request: BatchRequest) throws -> Batch {
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

  mutating func batchProgressed(_ ticket: Ticket, _ progress: BatchProgress, _ actions: inout [HubAction]) {
    guard let (id, request, _) = commits[ticket] else { return }
    send(ToClient(request, .progress(progress)), to: id, &actions)
  }

  /// The session is gone: nobody is there to be answered.
  mutating func releaseBatches(of id: SessionID, _ actions: inout [HubAction]) {
    dropRows(of: id, &actions)
    for ticket in sessions[id]?.batches.sorted() ?? [] { actions.append(.cancelBatch(ticket)) }
  }

  // MARK: - Who hears of it

  /// Every live query that a commit could have touched starts again, where its changes are too many to be told.
  mutating func reset(
    _ id: SessionID, after record: CommitRecord, _ summary: ChangeSummary, _ actions: inout [HubAction]
  ) {
    guard let session = sessions[id], session.isLive else { return }
    for (number, reader) in session.readers.sorted(by: { $0.key < $1.key }) {
      guard case .live = reader.state, reader.through < record.revision, queries.couldMatter(summary, to: number) else {
        continue
      }
      reset(number, of: id, "one commit changed \(summary.count) objects, too many to be told one by one", &actions)
    }
  }
}
