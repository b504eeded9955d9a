// Tests: HubTests.swift
import DequeModule
import GraphModel
import GraphWire

/// The hub's state of one connection.
///
/// It has references to everything that the session has registered, so that all of it is released when the session
/// ends, for any reason.
///
/// A class, because a delta visits a thousand sessions, and copying so many fields would cost more than the visit.
/// Only the hub holds references to its sessions.
final class Session {
  enum Phase {
    case awaitingHello
    /// The hello was accepted; its credential is being verified. `request` is the number of the hello.
    indirect case authenticating(Hello, request: UInt64)
    /// The store looks the replica of the hello up.
    indirect case findingReplica(Hello, request: UInt64, Principal)
    case open
    /// The session has been closed by the hub; its further messages are ignored.
    case closing
  }

  /// The revision up to which the session has received deltas.
  enum Progress {
    /// Everything through the hub's head.
    case current
    /// Everything through this revision; the rest comes from the ring or from history.
    case behind(Revision)
  }

  /// One of the session's live queries.
  struct Subscription {
    enum State {
      /// The store is checking the resume token.
      case recognizing(StoreRequestID, since: Revision)
      /// The first result is being read.
      case loading(StoreRequestID)
      /// A window waits for its order to be read, or for space in the session's backlog.
      case waiting
      case live
    }

    var state: State
    /// The client's result, or deltas already sent, contain everything up to this revision.
    var through: Revision
    /// The number of the subscribing request, which chunks repeat.
    var request: UInt64
  }

  /// The rights of the session, and the revision since which it has them.
  struct Access {
    /// The number of the token that the session uses; nil for none.
    var token: UInt64?
    /// The strongest role.
    var role: Role
    /// The rights for writes; nil for all.
    var rights: Rights?
    /// The objects that the session sees; nil for all.
    var visibility: Visibility?
    /// The generation of the rights.
    var generation: Int64 = 0
    /// The session resumes no state up to this revision, because that state may have been read with other rights.
    var since: Revision = 0
    /// The present numbers of the live queries that were renumbered when the rights changed, by their former numbers. A
    /// message that the client sent before it knew of the change names the former number.
    private(set) var renumbered = [UInt64: UInt64]()

    mutating func renumber(_ query: UInt64, as number: UInt64) {
      for (former, present) in renumbered where present == query { renumbered[former] = number }
      renumbered[query] = number
    }

    /// Records that a number is given to a query of the client. It may have been that of an earlier one, before the
    /// rights changed.
    mutating func assign(_ number: UInt64) { renumbered[number] = nil }
  }

  /// Bytes sent to the session and not yet written to its socket.
  private struct UnwrittenBytes {
    /// The number that each session may have in any case. The limit of its user counts what exceeds it, so a commit to
    /// a thousand readers who keep up visits none of their users.
    let guaranteed: Int
    var count = 0

    var excess: Int { max(0, count - guaranteed) }
  }

  // A delta visits these of a thousand sessions. They are next to each other in memory, so that it waits for few parts
  // of it.
  let id: SessionID
  var phase = Phase.awaitingHello
  var progress = Progress.current
  var readers = [UInt64: Subscription]()
  private var unwritten: UnwrittenBytes {
    didSet {
      let change = unwritten.excess - oldValue.excess
      if change != 0 { user?.countBacklog(change) }
    }
  }
  var lastActivity: Int64
  var isPaused = false
  /// The sessions of the same user; nil for the machine's owner, and before the hello is accepted.
  var user: UserSessions?

  /// The principal for which the session acts; nil before its hello is accepted.
  var principal: Principal?
  let peer: Peer
  /// The rights of the session.
  var access: Access
  var replica = UniqueID.zero
  /// Whether `ReplicaOwners` counts the session.
  var isBound = false
  /// The reason why the session's commits are refused: the store could not look up its replica.
  var commitRefusal: Refusal?
  /// The lens of a client with an older version of the model; nil for the server's version.
  var lens: ModelLens?
  /// The highest revision of an advance sent to the other queries while the newest query catches up. No advance below
  /// it is sent: it would make the new query visible at a revision that the others have passed.
  var advancedThrough: Revision = 0

  /// Commits from history that are being sent to the session.
  var replay = Deque<CommitRecord>()
  var historyTicket: StoreRequestID?
  var commitsInFlight = 0 { didSet { user?.countCommits(commitsInFlight - oldValue) } }
  /// Tickets of the batches among the commits in flight.
  var batches = Set<StoreRequestID>()
  /// The approximate size of the transactions received and not answered yet.
  var commitBytes = 0 { didSet { user?.countCommitBytes(commitBytes - oldValue) } }
  /// Requests that wait for earlier commits or reads: a fetch sent after a save sees that save.
  var waiting = Deque<ToServer>()
  /// Reads in progress, by request.
  private(set) var reads = [UInt64: StoreRequestID]()
  /// The revision at which a loaded query becomes visible, if the hub has not reached it yet.
  var pendingAdvance: Revision?
  var lastRequest: UInt64 = 0

  init(_ id: SessionID, _ peer: Peer, lastActivity: Int64, guaranteedBacklog: Int) {
    (self.id, self.peer, self.lastActivity) = (id, peer, lastActivity)
    unwritten = UnwrittenBytes(guaranteed: guaranteedBacklog)
    // Without accounts, a client of the network acts for the owner; with accounts, its token decides.
    let role: Role = if case .user = peer { .editor } else { .owner }
    access = Access(role: role)
  }

  var token: UInt64? { access.token }
  var role: Role { access.role }
  var rights: Rights? { access.rights }
  var visibility: Visibility? { access.visibility }

  /// The read request, reduced to the objects that the session may see, and translated by its lens.
  func perspective(of request: ReadRequest) -> ReadRequest {
    let reduced = if let visibility { ReadRequest.reduced(request, to: visibility) } else { request }
    return lens.map { .translated(reduced, through: $0) } ?? reduced
  }

  /// The number under which a query of the client is registered now.
  func presentNumber(of query: UInt64) -> UInt64 { access.renumbered[query, default: query] }

  /// Whether the hello of a client of the network was accepted without a token.
  var actsWithoutToken: Bool {
    guard peer == .network, token == nil else { return false }
    switch phase {
    case .findingReplica, .open: return true
    // The credential of a client that is being authenticated is compared with the accounts of now.
    case .awaitingHello, .authenticating, .closing: return false
    }
  }

  var isLive: Bool { if case .open = phase { true } else { false } }

  var isBehind: Bool { if case .behind = progress { true } else { false } }

  /// Bytes sent to the session and not yet written to its socket.
  var backlog: Int {
    get { unwritten.count }
    set { unwritten.count = newValue }
  }

  /// The bytes of the backlog that the limit of the user counts.
  var excessBacklog: Int { unwritten.excess }

  /// Whether some window has not received its first rows.
  var waitsForWindow: Bool { readers.values.contains { if case .waiting = $0.state { true } else { false } } }

  // MARK: - Reads in progress

  func beginRead(_ request: UInt64, _ ticket: StoreRequestID) {
    assert(reads[request] == nil, "a request reads once at a time")
    reads[request] = ticket
    user?.countReads(1)
  }

  /// - Returns: the ticket of the read; nil if no read answers the request.
  @discardableResult
  func endRead(_ request: UInt64) -> StoreRequestID? {
    guard let ticket = reads.removeValue(forKey: request) else { return nil }
    user?.countReads(-1)
    return ticket
  }
}

extension Collection<Session> {
  /// By ascending id, so that actions are in a deterministic order.
  func inOrder() -> [Session] { sorted { $0.id < $1.id } }
}
