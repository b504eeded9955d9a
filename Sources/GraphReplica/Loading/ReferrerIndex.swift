import GraphModel

/// Who names whom through a to-one or a stored to-many, among the objects of a context: what a to-many is read from that
/// is stored at its other end. Made for a property when it is first asked for, thrown away when anything changes: reading
/// the members of a thousand objects looks at all that is held once, not a thousand times.
struct ReferrerIndex {
  private var edition = 0
  private var referrers = [PropertyNumber: [ObjectID: [ObjectID]]]()

  /// In the order of their ids.
  mutating func referrers(to id: ObjectID, through property: Property, in context: ObjectContext) -> [ObjectID] {
    if edition != context.edition.number { (edition, referrers) = (context.edition.number, [:]) }
    if let known = referrers[property.number] { return known[id] ?? [] }
    var all = [ObjectID: [ObjectID]]()
    for state in context.held where !state.isDeleted && state.entity.property(property.number) != nil {
      for other in state.value(property).objectIDs { all[other, default: []].append(state.id) }
    }
    referrers[property.number] = all
    return all[id] ?? []
  }
}
