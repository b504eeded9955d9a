// Tests: VisibilityCheckTests.swift
import GraphModel
import GraphWire

/// The check of held objects outside live queries, after the roles of the user or the server's rules have changed.
///
/// The server loads live queries again. It does not know which other objects the program holds, so the context reads
/// those once more by their ids: a missing one counts as deleted, and references show what is visible now. An object
/// that leaves a live query with its next result, or because the query ends before, is checked then. A check that was
/// not answered is repeated on the next connection.
struct VisibilityCheck {
  /// The facts that decide what the user sees, as the server has sent them; nil before the first connection.
  private var facts: Facts?
  /// Live queries whose next results show what is visible with the present roles.
  private var reloading = Set<QueryID>()
  /// The loads that read held objects with the present roles.
  private var loads = Set<LoadID>()
  /// Whether not all held objects have been read with the present roles.
  private var isDue = false
  /// Whether the held objects will be read when the client has caught up: the store has then confirmed the state that
  /// the client holds.
  private(set) var isWaiting = false

  /// The user of a connection with its roles, and a fingerprint of the server's rules.
  private struct Facts: Equatable {
    let principal: String
    var grants: [Welcome.GrantEntry]
    let rules: UInt64
  }

  /// Records the user, the roles and the rules of a new connection.
  /// - Parameter queries: the followed queries.
  mutating func record(_ welcome: Welcome, queries: some Sequence<QueryID>) {
    record(Facts(principal: welcome.principal, grants: welcome.grants, rules: welcome.rules), queries)
  }

  /// Records roles that have changed since the welcome.
  mutating func record(_ grants: [Welcome.GrantEntry], queries: some Sequence<QueryID>) {
    // Roles that a server sends before its first welcome are replaced by it.
    if var facts {
      facts.grants = grants
      record(facts, queries)
    }
  }

  private mutating func record(_ present: Facts, _ queries: some Sequence<QueryID>) {
    // An object that was loaded before the first connection is one of a copy, which the owner keeps current.
    if let former = facts, former != present {
      isDue = true
      reloading.formUnion(queries)
    }
    facts = present
    // Also without a change, if the last check was not answered.
    if isDue { (isWaiting, loads) = (true, []) }
  }

  /// Records that all held objects are read now.
  mutating func start() { isWaiting = false }

  mutating func begin(_ load: LoadID) {
    let isNew = loads.insert(load).inserted
    assert(isNew, "a load begins once")
    isDue = true
  }

  /// Whether a load reads with the present roles.
  func isCurrent(_ load: LoadID) -> Bool { loads.contains(load) }

  /// Records the end of a load; one of earlier roles does not count.
  mutating func end(_ load: LoadID, isAnswered: Bool) {
    // A load that was not answered stays, so that the check is repeated.
    if isAnswered, loads.remove(load) != nil, loads.isEmpty { isDue = false }
  }

  /// Whether the query may show objects that have become invisible.
  func isReloading(_ query: QueryID) -> Bool { reloading.contains(query) }

  /// Whether objects that leave the query with this result may have become invisible.
  mutating func finishReloading(_ query: QueryID) -> Bool { reloading.remove(query) != nil }
}

extension LoadScheduler {
  /// Records the roles and the rules of a connection. The held objects are checked if they have not been read with
  /// these.
  func recordRoles(of welcome: Welcome) { visibility.record(welcome, queries: context.results.keys) }

  /// Records roles that have changed since the welcome, in the same way.
  func recordRoles(_ grants: [Welcome.GrantEntry]) { visibility.record(grants, queries: context.results.keys) }

  /// Begins the check of all held objects, if one is waiting and the client has caught up.
  func startWaitingCheck() {
    if visibility.isWaiting, case .live = context.replica.state {
      visibility.start()
      check(context.heldStates.filter { !context.isFollowed($0.id) })
    }
  }

  /// The objects of a query that have to be checked if it ends now. Ids only, so that nothing keeps them.
  func uncheckedObjects(of query: QueryID) -> [ObjectID] {
    visibility.isReloading(query) ? context.results[query, default: [:]].keys.sorted() : []
  }

  /// Checks the objects that the program still holds of those that have left a query, with its new result or its end.
  func checkDeparted(_ ids: [ObjectID], from query: QueryID) {
    // A check that is waiting finds them.
    if visibility.finishReloading(query), !visibility.isWaiting {
      check(ids.compactMap { context.isFollowed($0) ? nil : context.state($0) })
    }
  }

  private func check(_ states: [ObjectState]) {
    let held = states.filter { $0.stored != nil && !$0.isDeleted && !$0.id.isTemporary }.map(\.id)
    visibility.begin(load(again: held))
  }
}
