// Tests: OneToOneTests.swift, FaultTests.swift
import GraphModel

/// An index from an object to the held objects that refer to it by a to-one or a stored to-many. The index answers
/// reads of to-manys that are stored at their other end.
///
/// It is built for a property on first use and discarded on any change: reading the members of a thousand objects
/// scans the held objects once, not a thousand times. A context has two, because its own view and the server's differ
/// wherever something is unsaved.
struct ReferrerIndex {
  /// The values that are indexed.
  enum Side {
    /// The context's values, with unsaved edits and without deleted objects.
    case seen
    /// The server's values, as far as the context has received them.
    case stored
  }

  private let side: Side
  private var changeNumber = 0
  private var referrers = [PropertyNumber: [ObjectID: [ObjectID]]]()

  init(_ side: Side) { self.side = side }

  /// The referring objects, in the order of their ids. An object that the context no longer holds may be among them,
  /// because releases are not reported.
  mutating func referrers(to id: ObjectID, through property: Property, in context: ObjectContext) -> [ObjectID] {
    if changeNumber != context.changeCounter.number { (changeNumber, referrers) = (context.changeCounter.number, [:]) }
    if let known = referrers[property.number] { return known[id, default: []] }
    var all = [ObjectID: [ObjectID]]()
    for state in context.unsortedStates where state.entity.property(property.number) != nil {
      for other in targets(of: state, property) { all[other, default: []].append(state.id) }
    }
    all = all.mapValues { $0.sorted() }
    referrers[property.number] = all
    return all[id, default: []]
  }

  private func targets(of state: ObjectState, _ property: Property) -> [ObjectID] {
    switch side {
    case .seen: return state.isDeleted ? [] : state.value(property).objectIDs
    case .stored:
      guard let stored = state.stored else { return [] }
      return stored[property].objectIDs
    }
  }
}
