// Tests: HubTests.swift
import GraphModel

/// The commits that were passed to the writer and are not answered yet.
///
/// An entry is kept after its session has ended, because a shutdown waits for all commits.
struct CommitsInFlight {
  /// The request that an answer belongs to.
  struct Origin {
    let session: SessionID
    let request: UInt64
    /// The objects that the session saw at its request; nil for all.
    let visibility: Visibility?
    /// The changes of a transaction, shared with the writer; none for other requests.
    let changes: [Change]
    fileprivate let bytes: Int
  }

  private let limits: HubLimits
  private var origins = [StoreRequestID: Origin]()
  private var bytes = 0

  init(limits: HubLimits) { self.limits = limits }

  var isEmpty: Bool { origins.isEmpty }

  /// - Parameter bytes: the amount that the session's `commitBytes` counts for this transaction.
  mutating func add(
    _ ticket: StoreRequestID, of session: Session, _ request: UInt64, changes: [Change], bytes: Int
  ) {
    origins[ticket] = Origin(
      session: session.id, request: request, visibility: session.visibility, changes: changes, bytes: bytes)
    session.commitsInFlight += 1
    self.bytes += bytes
  }

  /// The request that the ticket's progress belongs to.
  subscript(ticket: StoreRequestID) -> Origin? { origins[ticket] }

  mutating func remove(_ ticket: StoreRequestID) -> Origin? {
    guard let origin = origins.removeValue(forKey: ticket) else { return nil }
    bytes -= origin.bytes
    assert(bytes >= 0, "the total counts each commit in flight once")
    return origin
  }

  /// Counts an answered commit of a session that has not ended.
  func answered(_ origin: Origin, _ ticket: StoreRequestID, of session: Session) {
    session.commitsInFlight -= 1
    session.commitBytes -= origin.bytes
    assert(session.commitsInFlight >= 0 && session.commitBytes >= 0, "a commit is answered once")
    session.batches.remove(ticket)
  }

  /// Whether the session must be paused until some of its commits are answered.
  func haveReachedLimit(of session: Session) -> Bool {
    session.commitsInFlight >= limits.outstandingRequests || session.commitBytes >= limits.sessionCommitBytes
      // A session without commits in flight is never paused for the total: no answer would resume it.
      || session.commitsInFlight > 0 && bytes >= limits.totalCommitBytes
      || session.user?.holdsCommits(of: session) == true
  }
}
