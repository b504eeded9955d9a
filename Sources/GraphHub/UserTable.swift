// Tests: UserLimitTests.swift
import DequeModule
import GraphModel

/// The users with open sessions, by the ids of their principals.
///
/// The hello of a session adds it to its user, and its closed connection removes it. The machine's owner is no user
/// here: without accounts, all sessions are the owner's, and nothing is counted.
struct UserTable {
  private let limits: HubLimits
  private var users = [String: UserSessions]()

  init(limits: HubLimits) { self.limits = limits }

  /// Adds a session whose hello was accepted to its user.
  /// - Throws: `Refusal` if the user has too many connections.
  mutating func add(_ session: Session, of principal: Principal) throws(Refusal) {
    assert(session.user == nil, "a session has one user")
    let user = users[principal.id, default: UserSessions(id: principal.id, limits: limits.user)]
    guard user.connections < limits.user.connections else {
      throw Refusal(
        .limit, "a user has at most \(limits.user.connections) connections; close some of yours and connect again")
    }
    users[principal.id] = user
    user.count(session, by: 1)
    session.user = user
  }

  /// Removes a session whose connection has closed.
  mutating func remove(_ session: Session) {
    // The owner's sessions, and sessions that were refused before the count, have no user.
    if let user = session.user {
      session.user = nil
      user.count(session, by: -1)
      if user.connections == 0 {
        assert(user.isIdle, "each session counts the same when it is added and removed")
        users[user.id] = nil
      }
    }
  }

  /// Begins a new second for the presences of each user.
  func beginSecond() { for user in users.values { user.presences = 0 } }

  var isEmpty: Bool { users.isEmpty }
}

/// The use of the server by all open sessions of one user.
///
/// Each session counts its own resources (`Session`), so that no path of the code can omit them. A class, because the
/// sessions of the user share it; only the hub holds references.
final class UserSessions {
  /// The id of the principal.
  let id: String
  private let limits: UserLimits
  fileprivate(set) var connections = 0
  /// Reads in progress.
  private var reads = 0
  private var commits = 0
  private var commitBytes = 0
  /// Bytes sent to the sessions and not yet written to their sockets, beyond what each may have in any case.
  private var backlog = 0
  /// Presences forwarded in this second.
  fileprivate(set) var presences = 0
  /// The estimated steps of the live queries, by session and number.
  private var querySteps = [QueryKey: Int]()
  private var totalSteps = 0
  private var heldReads = HeldSessions()
  private var heldCommits = HeldSessions()
  /// The session that `nextHeld` returned last. It precedes the sessions that still wait.
  private var turn: SessionID?

  private struct QueryKey: Hashable {
    let session: SessionID
    let query: UInt64
  }

  /// Sessions that wait until their user is below a limit, in the order in which they began to wait.
  private struct HeldSessions {
    private var sessions = Deque<Session>()
    private var ids = Set<SessionID>()

    var isEmpty: Bool { sessions.isEmpty }

    mutating func append(_ session: Session) {
      if ids.insert(session.id).inserted { sessions.append(session) }
    }

    mutating func popFirst() -> Session? {
      guard let session = sessions.popFirst() else { return nil }
      ids.remove(session.id)
      return session
    }
  }

  fileprivate init(id: String, limits: UserLimits) { (self.id, self.limits) = (id, limits) }

  fileprivate var isIdle: Bool {
    reads == 0 && commits == 0 && commitBytes == 0 && backlog == 0 && querySteps.isEmpty && totalSteps == 0
  }

  // MARK: - Counting

  func countReads(_ change: Int) {
    reads += change
    assert(reads >= 0, "a read of a user ends once")
  }

  func countCommits(_ change: Int) {
    commits += change
    assert(commits >= 0, "a commit of a user is answered once")
  }

  func countCommitBytes(_ change: Int) { commitBytes += change }

  func countBacklog(_ change: Int) { backlog += change }

  /// Adds a session and its resources to the counts; removes them with -1.
  fileprivate func count(_ session: Session, by sign: Int) {
    connections += sign
    countReads(sign * session.reads.count)
    countCommits(sign * session.commitsInFlight)
    countCommitBytes(sign * session.commitBytes)
    countBacklog(sign * session.excessBacklog)
  }

  // MARK: - Waiting

  private var hasReachedReads: Bool { reads >= limits.reads }
  private var hasReachedCommits: Bool { commits >= limits.commits || commitBytes >= limits.commitBytes }

  /// Whether the session may begin a read. Otherwise it is one of those that `nextHeld` returns later.
  func admitsRead(of session: Session) -> Bool {
    if !hasReachedReads, heldReads.isEmpty || turn == session.id { return true }
    heldReads.append(session)
    return false
  }

  /// Whether the session must be paused until some commits of the user are answered. If so, it is one of those that
  /// `nextHeld` returns later.
  func holdsCommits(of session: Session) -> Bool {
    if !hasReachedCommits { return false }
    heldCommits.append(session)
    return true
  }

  /// The next session that may continue, because the user is below a limit again; nil if there is none.
  func nextHeld() -> Session? {
    var next = hasReachedReads ? nil : heldReads.popFirst()
    if next == nil, !hasReachedCommits { next = heldCommits.popFirst() }
    turn = next?.id
    return next
  }

  // MARK: - Backlog and presence

  /// Whether this number of bytes fits into the backlog of the user's sessions.
  func fits(_ bytes: Int) -> Bool { backlog + bytes <= limits.backlog }

  /// Counts a presence. Returns false if the user has no further one in this second.
  func countPresence() -> Bool {
    guard presences < limits.presences else { return false }
    presences += 1
    return true
  }

  // MARK: - Live queries

  /// Checks whether the user may follow one more query with these steps.
  func checkQuery(steps: Int) throws(Refusal) {
    guard querySteps.count < limits.queries else {
      throw Refusal(.limit, "a user follows at most \(limits.queries) queries, on all connections together")
    }
    guard totalSteps + steps <= limits.querySteps else {
      throw Refusal(
        .limit,
        "the live queries of a user may take \(limits.querySteps) steps for each changed object, and yours take "
          + "\(totalSteps) already: end some of them, use fewer comparisons, or fetch instead")
    }
  }

  func follow(_ query: UInt64, of session: SessionID, steps: Int) {
    let former = querySteps.updateValue(steps, forKey: QueryKey(session: session, query: query))
    assert(former == nil, "a session follows a query once")
    totalSteps += steps
  }

  func unfollow(_ query: UInt64, of session: SessionID) {
    guard let steps = querySteps.removeValue(forKey: QueryKey(session: session, query: query)) else {
      return assertionFailure("each live query of a user was counted")
    }
    totalSteps -= steps
    assert(totalSteps >= 0, "the total counts each query once")
  }
}
