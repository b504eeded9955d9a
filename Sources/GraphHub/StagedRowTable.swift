// Tests: HubBatchTests.swift
import GraphModel
import GraphWire

/// The rows that clients have sent for batches that they have not requested yet.
///
/// The runner keeps the rows themselves; this table counts them. A session has rows for one batch at a time. The entry
/// is removed when the batch starts, when rows of another batch arrive, when the client cancels, or with the session.
struct StagedRowTable {
  private struct Rows {
    let session: Session
    let batch: TransactionID
    let ticket: StoreRequestID
    var count = 0
    /// The requests that the server has not acknowledged yet.
    var unanswered = [UInt64]()
    /// The newest request.
    var newest: UInt64 = 0
  }

  private var staged = [SessionID: Rows]()

  /// Stages the rows of a message.
  /// - Throws: `Refusal`, after which the earlier rows of the batch are dropped.
  mutating func stage(
    _ message: BatchRows, of session: Session, _ request: UInt64, _ requests: inout StoreRequestTable,
    _ actions: inout [HubAction]
  ) throws(Refusal) {
    var rows: Rows
    if let earlier = staged[session.id], earlier.batch == message.id {
      rows = earlier
    } else {
      drop(of: session, &requests, &actions)
      rows = Rows(session: session, batch: message.id, ticket: requests.issue(for: .rows(session)))
    }
    if let refusal = Self.refusal(of: message, after: rows) {
      staged[session.id] = rows
      drop(of: session, &requests, &actions)
      throw refusal
    }
    rows.count += message.rows.count
    rows.unanswered.append(request)
    rows.newest = request
    staged[session.id] = rows
    actions.append(.keepRows(rows.ticket, message.rows, request: request))
  }

  private static func refusal(of message: BatchRows, after rows: Rows) -> Refusal? {
    if message.id.replica != rows.session.replica {
      return Refusal(.notAllowed, "the batch's replica is not the replica of hello")
    }
    if rows.count + message.rows.count > Batch.maximumObjects {
      return Refusal(.limit, "a batch has at most \(Batch.maximumObjects) rows; split it")
    }
    if rows.unanswered.count >= ProtocolLimits.maximumUnansweredRows {
      return Refusal(.limit, "more than \(ProtocolLimits.maximumUnansweredRows) messages with rows are not answered")
    }
    return nil
  }

  /// Counts the acknowledgment of a message.
  mutating func acknowledge(_ request: UInt64, _ ticket: StoreRequestID, of session: Session) {
    guard let index = staged.index(forKey: session.id), staged.values[index].ticket == ticket else {
      return assertionFailure("the ticket of rows is removed with them")
    }
    assert(staged.values[index].unanswered.contains(request), "a message is acknowledged once")
    staged.values[index].unanswered.removeAll { $0 == request }
  }

  /// Drops the rows of a session.
  mutating func drop(
    of session: Session, _ requests: inout StoreRequestTable, _ actions: inout [HubAction]
  ) {
    if let rows = staged.removeValue(forKey: session.id) {
      requests.remove(rows.ticket)
      actions.append(.dropRows(rows.ticket))
    }
  }

  /// Drops the rows to which a request belongs that is the newest one, or not acknowledged.
  /// - Returns: the requests that are not acknowledged; nil if no rows were dropped.
  mutating func drop(
    with request: UInt64, of session: Session, _ requests: inout StoreRequestTable, _ actions: inout [HubAction]
  ) -> [UInt64]? {
    guard let rows = staged[session.id], rows.newest == request || rows.unanswered.contains(request) else { return nil }
    drop(of: session, &requests, &actions)
    return rows.unanswered
  }

  /// Drops the rows of a batch that was cancelled before it started.
  mutating func drop(
    _ batch: TransactionID, of session: Session, _ requests: inout StoreRequestTable, _ actions: inout [HubAction]
  ) {
    if let rows = staged[session.id], rows.batch == batch { drop(of: session, &requests, &actions) }
  }

  /// The ticket of a batch's rows, once all of them are staged; nil when the session has none for this batch.
  ///
  /// A batch that is resent because its answer was lost needs no rows: the store has its outcome.
  func ticket(of batch: TransactionID, _ count: UInt64, _ session: Session) throws(Refusal) -> StoreRequestID? {
    guard let rows = staged[session.id], rows.batch == batch else { return nil }
    guard rows.unanswered.isEmpty, UInt64(rows.count) == count else {
      throw Refusal(
        .malformed,
        "the batch has \(count) rows; \(rows.count) have been sent, \(rows.unanswered.count) messages with "
          + "rows are not answered yet")
    }
    return rows.ticket
  }

  /// Removes the rows of a session whose batch has started: they belong to the batch, and are released with it.
  mutating func handOver(of session: Session, _ requests: inout StoreRequestTable) {
    guard let rows = staged.removeValue(forKey: session.id) else {
      return assertionFailure("a batch takes rows that are staged")
    }
    requests.remove(rows.ticket)
  }
}
