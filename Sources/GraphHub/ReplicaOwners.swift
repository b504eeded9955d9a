// Tests: HelloTests.swift
import GraphModel
import GraphWire

/// The principals of the replica ids that sessions use.
///
/// A replica id is half of the key of its transactions: the store answers a known key with the first outcome. An id
/// therefore belongs to one principal, the author of its newest commit. This table has the ids that are in use,
/// including ids without commits. The welcome adds an entry, and the end of its last session removes it, or the answer
/// to the last commit of that session.
///
/// A lookup that began before an entry is removed may not have found its commits, so the entry counts until then.
struct ReplicaOwners {
  private struct Owner {
    let principal: String
    var sessions: Int
  }

  private var owners = [UniqueID: Owner]()
  /// The replicas of sessions that have ended, with the numbers of their commits in flight.
  private var ended = [SessionID: (replica: UniqueID, commits: Int)]()
  /// The lookups of replicas in progress, and the principals of the entries that were removed meanwhile.
  private var lookups = 0
  private var removed = [UniqueID: String]()

  /// Binds the replica id of a session to its principal.
  /// - Parameter author: the principal of the id's newest commit in history; nil for none.
  /// - Throws: `Refusal` if the id belongs to another principal.
  mutating func bind(_ replica: UniqueID, to principal: Principal, author: String?) throws(Refusal) {
    for case let owner? in [author, owners[replica]?.principal, removed[replica]]
    where !UTF8Comparison.equal(owner, principal.id) {
      // The other principal is not named: the client may have found or stolen the id.
      throw Refusal(.notAllowed, "the replica id \(replica) belongs to another user; connect with a new random one")
    }
    owners[replica, default: Owner(principal: principal.id, sessions: 0)].sessions += 1
  }

  /// Removes a session that was bound.
  /// - Parameter commits: the number of its commits that are not answered yet.
  mutating func release(_ replica: UniqueID, of session: SessionID, commits: Int) {
    if commits == 0 { return release(replica) }
    assert(ended[session] == nil, "a session ends once")
    ended[session] = (replica, commits)
  }

  /// Counts the answer to a commit of a session, which may have ended.
  mutating func answered(_ session: SessionID) {
    // Mostly no session has ended with commits in flight.
    if !ended.isEmpty, let (replica, commits) = ended[session] {
      ended[session] = commits == 1 ? nil : (replica, commits - 1)
      if commits == 1 { release(replica) }
    }
  }

  private mutating func release(_ replica: UniqueID) {
    guard var owner = owners[replica] else { return assertionFailure("a session that ends was bound to its replica") }
    owner.sessions -= 1
    owners[replica] = owner.sessions == 0 ? nil : owner
    if owner.sessions == 0, lookups > 0 { removed[replica] = owner.principal }
  }

  /// Counts a lookup of a replica that begins.
  mutating func beginLookup() { lookups += 1 }

  /// Counts a lookup that has ended, after its session was bound or not.
  mutating func endLookup() {
    assert(lookups > 0, "a lookup ends once")
    lookups = max(0, lookups - 1)
    if lookups == 0 { removed = [:] }
  }

  var isEmpty: Bool { owners.isEmpty && ended.isEmpty }
}
