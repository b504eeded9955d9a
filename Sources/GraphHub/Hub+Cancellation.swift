// Tests: CancellationTests.swift
import GraphModel
import GraphWire

/// Cancellation: a client names an earlier request of its connection whose answer it no longer needs.
///
/// A cancelled request still gets its one answer: it is refused as `cancelled`, at once if it waits, reads or follows,
/// and when the writer has stopped if it is a batch. A request that has been answered, and one that cannot be
/// cancelled, are left as they are: the client may have sent the cancellation before the answer arrived.
extension Hub {
  mutating func cancel(_ request: UInt64, _ session: Session, _ actions: inout [HubAction]) {
    let isWithdrawn =
      cancelWaiting(request, session, &actions) || cancelQuery(request, session, &actions)
      || cancelRead(request, session, &actions) || followers.remove(request, of: session)
    if isWithdrawn {
      sender.refuse(request, Refusal(.cancelled, "the request was cancelled"), session, &actions)
      executeWaiting(session, &actions)
    } else if let ticket = session.batches.first(where: { commits[$0]?.request == request }) {
      // The writer answers: it may be committing the batch already.
      actions.append(.cancelBatch(ticket))
    }
  }

  /// - Returns: false if no request of this number waits, or if it cannot be cancelled.
  private mutating func cancelWaiting(_ request: UInt64, _ session: Session, _ actions: inout [HubAction]) -> Bool {
    guard let index = session.waiting.firstIndex(where: { $0.request == request }),
      session.waiting[index].body.canBeCancelled
    else { return false }
    switch session.waiting.remove(at: index).body {
    case .batch(let batch): stagedRows.drop(batch.id, of: session, &requests, &actions)
    case .importGraph(let graph): stagedRows.drop(graph.id, of: session, &requests, &actions)
    default: break
    }
    return true
  }

  /// - Returns: false if no query has this request as its own.
  private mutating func cancelQuery(_ request: UInt64, _ session: Session, _ actions: inout [HubAction]) -> Bool {
    guard let query = session.readers.first(where: { $0.value.request == request })?.key else { return false }
    drop(query, session, &actions)
    return true
  }

  /// - Returns: false if no read answers this request.
  private mutating func cancelRead(_ request: UInt64, _ session: Session, _ actions: inout [HubAction]) -> Bool {
    guard let ticket = session.reads.removeValue(forKey: request) else { return false }
    requests.remove(ticket)
    actions.append(.cancelRead(ticket))
    return true
  }
}

extension ToServer.Body {
  /// Whether a client may cancel the message while it waits. A save is kept by its client until it is answered, and the
  /// end of a query costs nothing.
  fileprivate var canBeCancelled: Bool {
    switch self {
    case .commit, .undo, .restore, .unsubscribe: false
    default: true
    }
  }
}
