// Tests: HelloTests.swift
import GraphModel
import GraphWire

/// The principals of the replica ids that sessions use.
///
/// A replica id is half of the key of its transactions: the store answers a known key with the first outcome. An id
/// therefore belongs to one principal, the author of its newest commit. This table has the ids of open sessions, some
/// of which have committed nothing. The welcome adds an entry, and the end of its last session removes it.
struct ReplicaOwners {
  private struct Owner {
    let principal: String
    var sessions: Int
  }

  private var owners = [UniqueID: Owner]()

  /// Binds the replica id of a session to its principal.
  /// - Parameter author: the principal of the id's newest commit in history; nil for none.
  /// - Throws: `Refusal` if the id belongs to another principal.
  mutating func bind(_ replica: UniqueID, to principal: Principal, author: String?) throws(Refusal) {
    for case let owner? in [author, owners[replica]?.principal] where !UTF8Comparison.equal(owner, principal.id) {
      // The other principal is not named: the client may have found or stolen the id.
      throw Refusal(.notAllowed, "the replica id \(replica) belongs to another user; connect with a new random one")
    }
    owners[replica, default: Owner(principal: principal.id, sessions: 0)].sessions += 1
  }

  /// Removes a session that was bound.
  mutating func release(_ replica: UniqueID) {
    guard var owner = owners[replica] else { return assertionFailure("a session that ends was bound to its replica") }
    owner.sessions -= 1
    owners[replica] = owner.sessions == 0 ? nil : owner
  }

  var isEmpty: Bool { owners.isEmpty }
}
