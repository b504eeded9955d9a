// Tests: ServerIDTests.swift
import GraphModel

/// Objects that a replica has made without its server, and that the server knows under ids of its own.
extension ObjectContext {
  /// Gives objects the ids that the server has assigned. Instances, unsaved edits and results of live queries stay, and
  /// queries that name the objects follow them under the new ids. Observers receive one change.
  /// - Parameter ids: by the id that the context knows; ids of other objects are ignored.
  package func assign(_ ids: [ObjectID: ObjectID]) {
    let known = ids.filter { state($0.key) != nil && $0.key != $0.value }
    if known.isEmpty { return }
    precondition(parent == nil, "a server assigns ids to the objects of a client's own context")
    for (old, new) in known.sorted(by: { $0.key < $1.key }) {
      guard let state = state(old) else { continue }
      assignPermanentID(to: state, CommitResult.IDAssignment(temporary: old, permanent: new))
      removeIfClean(self.state(new) ?? state)
    }
    for state in dirty.values { state.replace(known) }
    for child in children { child.context?.replaceParentIDs(known) }
    var change = ObjectsDidChange()
    change.identified = known
    for state in heldStates {
      guard var stored = state.stored, stored.refers(to: known) else { continue }
      stored.replace(known, in: state.entity)
      state.stored = stored
      change.refreshed.append(state.id)
    }
    for query in results.keys.sorted() { assign(known, in: query, &change) }
    replica.assign(known)
    change.departed = known.keys.sorted()
    change.inserted = known.values.sorted()
    post(change)
  }

  /// Renames the members of a query's result.
  private func assign(_ ids: [ObjectID: ObjectID], in query: QueryID, _ change: inout ObjectsDidChange) {
    let members = results[query, default: [:]].keys.filter { ids[$0] != nil }
    if members.isEmpty { return }
    change.queries.insert(query)
    for old in members {
      guard let new = ids[old], let state = state(new) else { continue }
      results.modify(query) { result in
        result[old] = nil
        result[new] = state
      }
    }
    windows.modifyIfPresent(query) { window in window.rows = window.rows.map { ids[$0] ?? $0 } }
  }
}

extension Replica {
  /// Names objects by their new ids in the predicates of queries, which are sent again with the next connection.
  mutating func assign(_ ids: [ObjectID: ObjectID]) {
    queries.modifyAll { followed in followed.assign(ids) }
  }
}

extension ObjectImage {
  fileprivate func refers(to ids: [ObjectID: ObjectID]) -> Bool {
    ids[id] != nil || values.contains { $0.objectIDs.contains { ids[$0] != nil } }
  }

  /// Replaces the object's own id, and those of objects to which it refers.
  fileprivate mutating func replace(_ ids: [ObjectID: ObjectID], in entity: Entity) {
    if let new = ids[id] { id = new }
    for property in entity.storedProperties {
      switch self[property] {
      case .object(let other): if let new = ids[other] { self[property] = .object(new) }
      case .objects(let others):
        let renamed = others.map { ids[$0] ?? $0 }
        // The members of an unordered relationship ascend.
        self[property] = .objects(property.relationship?.isOrdered == true ? renamed : renamed.sorted())
      default: break
      }
    }
  }
}
