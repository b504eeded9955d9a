import GraphModel

/// Who names whom through a to-one or a stored to-many, among the objects of a context: what a to-many is read from that
/// is stored at its other end. Made for a property when it is first asked for, thrown away when anything changes: reading
/// the members of a thousand objects looks at all that is held once, not a thousand times.
///
/// A context has two: what is seen in it and what the server has are different graphs, wherever something is unsaved.
struct ReferrerIndex {
  /// Whose word counts.
  enum Side {
    /// The context's, with what is unsaved, and without what is deleted.
    case seen
    /// The server's, as far as the context has heard it.
    case stored
  }

  private let side: Side
  private var edition = 0
  private var referrers = [PropertyNumber: [ObjectID: [ObjectID]]]()

  init(_ side: Side) { self.side = side }

  /// In the order of their ids. An object that the context holds no more may be among them: nobody says when one goes.
  mutating func referrers(to id: ObjectID, through property: Property, in context: ObjectContext) -> [ObjectID] {
    if edition != context.edition.number { (edition, referrers) = (context.edition.number, [:]) }
    if let known = referrers[property.number] { return known[id] ?? [] }
    var all = [ObjectID: [ObjectID]]()
    for state in context.unsortedStates where state.entity.property(property.number) != nil {
      for other in targets(of: state, property) { all[other, default: []].append(state.id) }
    }
    all = all.mapValues { $0.sorted() }
    referrers[property.number] = all
    return all[id] ?? []
  }

  private func targets(of state: ObjectState, _ property: Property) -> [ObjectID] {
    switch side {
    case .seen: state.isDeleted ? [] : state.value(property).objectIDs
    case .stored: state.stored?[property].objectIDs ?? []
    }
  }
}
