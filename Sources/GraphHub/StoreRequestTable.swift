// Tests: HubTests.swift
import GraphModel
import GraphWire

/// The requests to the store that await their answers, by ticket.
///
/// An entry is removed by the answer, or earlier when its result is no longer needed. Commits have tickets too;
/// `CommitsInFlight` knows their receivers.
struct StoreRequestTable {
  /// The receiver of an answer. The requests of a session are removed when it ends.
  enum Receiver {
    case read(Session, request: UInt64)
    case load(Session, query: UInt64)
    case history(Session)
    case recognize(Session, query: UInt64)
    case statistics(Session, request: UInt64)
    case browserCode(Session, request: UInt64)
    case rows(Session)
    case order(UInt64)
  }

  private var receivers = [StoreRequestID: Receiver]()
  private var lastTicket: UInt64 = 0

  /// The number of reads that await their answers. Rows that are kept for a batch are no read.
  var readCount: Int { receivers.values.count { if case .rows = $0 { false } else { true } } }

  /// A ticket for a request to the writer.
  mutating func issue() -> StoreRequestID {
    lastTicket += 1
    return StoreRequestID(lastTicket)
  }

  mutating func issue(for receiver: Receiver) -> StoreRequestID {
    let ticket = issue()
    receivers[ticket] = receiver
    return ticket
  }

  /// - Returns: nil when the result is no longer needed.
  @discardableResult
  mutating func remove(_ ticket: StoreRequestID) -> Receiver? { receivers.removeValue(forKey: ticket) }

  /// Whether a read of objects or of history, which is not a live query's, answers a request.
  func isAnswer(_ ticket: StoreRequestID) -> Bool { if case .read? = receivers[ticket] { true } else { false } }

  // MARK: - Receivers of one kind

  /// The order that is filled under this ticket; nil when it was removed.
  func order(_ ticket: StoreRequestID) -> UInt64? {
    switch receivers[ticket] {
    case .order(let number)?: return number
    case nil: return nil
    default: return mismatch()
    }
  }

  /// The session whose rows are kept under this ticket; nil when they were dropped.
  func session(ofRows ticket: StoreRequestID) -> Session? {
    switch receivers[ticket] {
    case .rows(let session)?: return session
    case nil: return nil
    default: return mismatch()
    }
  }

  /// Removes the session that waits for a part of history; nil when it has ended or catches up from another revision.
  mutating func removeHistory(_ ticket: StoreRequestID) -> Session? {
    switch remove(ticket) {
    case .history(let session)?: return session
    case nil: return nil
    default: return mismatch()
    }
  }

  /// Removes the query that waits for the check of its token; nil when it was dropped.
  mutating func removeRecognition(_ ticket: StoreRequestID) -> (session: Session, query: UInt64)? {
    switch remove(ticket) {
    case .recognize(let session, let query)?: return (session, query)
    case nil: return nil
    default: return mismatch()
    }
  }

  /// Records that another query waits for the check of a token.
  mutating func moveRecognition(_ ticket: StoreRequestID, to query: UInt64, of session: Session) {
    let former = receivers.updateValue(.recognize(session, query: query), forKey: ticket)
    assert(former != nil, "a query waits for the check of its token")
  }

  /// Removes the request that waits for the statistics; nil when its session has ended.
  mutating func removeStatistics(_ ticket: StoreRequestID) -> (session: Session, request: UInt64)? {
    switch remove(ticket) {
    case .statistics(let session, let request)?: return (session, request)
    case nil: return nil
    default: return mismatch()
    }
  }

  /// Removes the request that waits for a browser's code; nil when its session has ended.
  mutating func removeBrowserCode(_ ticket: StoreRequestID) -> (session: Session, request: UInt64)? {
    switch remove(ticket) {
    case .browserCode(let session, let request)?: return (session, request)
    case nil: return nil
    default: return mismatch()
    }
  }

  private func mismatch<Receiver>() -> Receiver? {
    assertionFailure("a ticket is answered by what it requested")
    return nil
  }
}
