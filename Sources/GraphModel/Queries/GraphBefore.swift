/// The graph before a transaction, seen from the graph after it: what the transaction changed is as it was, all else is
/// where it is. A class: it keeps what it has worked out.
final class GraphBefore: ImageSource {
  private let after: any ImageSource
  private let model: Model
  private let order: [ObjectChange]
  private let changes: [ObjectID: ObjectChange]
  /// Who referred to whom among the changed objects, before and after, by property; made when first asked for.
  private var referrers = [PropertyNumber: (before: [ObjectID: [ObjectID]], after: [ObjectID: Int])]()

  init(_ changes: [ObjectChange], after: any ImageSource, model: Model) {
    self.after = after
    self.model = model
    order = changes
    self.changes = Dictionary(changes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func change(of id: ObjectID) -> ObjectChange? { changes[id] }

  func image(of id: ObjectID) -> ObjectImage? {
    if let change = changes[id] { return change.before }
    return after.image(of: id)
  }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    let unchanged = after.referrers(to: id, through: property).filter { changes[$0] == nil }
    let changed = changedReferrers(through: property).before[id] ?? []
    return changed.isEmpty ? unchanged : (unchanged + changed).sorted()
  }

  /// The many that did not change need not be listed to be counted.
  func referrerCount(to id: ObjectID, through property: Property) -> Int {
    let changed = changedReferrers(through: property)
    return after.referrerCount(to: id, through: property) + (changed.before[id]?.count ?? 0) - (changed.after[id] ?? 0)
  }

  private func changedReferrers(
    through property: Property
  ) -> (before: [ObjectID: [ObjectID]], after: [ObjectID: Int]) {
    if let known = referrers[property.number] { return known }
    var before = [ObjectID: [ObjectID]]()
    var after = [ObjectID: Int]()
    for change in order where model.entity(change.id.entity)?.property(property.number) != nil {
      for target in change.before?[property].objectIDs ?? [] { before[target, default: []].append(change.id) }
      for target in change.after?[property].objectIDs ?? [] { after[target, default: 0] += 1 }
    }
    referrers[property.number] = (before, after)
    return (before, after)
  }
}

/// A source whose answers are kept for the time of one commit: many paths lead to the same objects.
final class KeptSource: ImageSource {
  private let source: any ImageSource
  private var images = [ObjectID: ObjectImage?]()

  init(_ source: any ImageSource) { self.source = source }

  func image(of id: ObjectID) -> ObjectImage? {
    if let known = images[id] { return known }
    let image = source.image(of: id)
    images[id] = .some(image)
    return image
  }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    source.referrers(to: id, through: property)
  }

  func referrerCount(to id: ObjectID, through property: Property) -> Int {
    source.referrerCount(to: id, through: property)
  }
}
