/// The graph before a transaction, derived from the graph after it by taking the changed objects' earlier images. A
/// class, because it caches its results.
final class PreCommitImageSource: ImageSource {
  private let after: CachingImageSource
  private let changedReferences: ChangedReferences
  private let changes: [ObjectID: ObjectChange]
  private var referrers = [ReferrerKey: [ObjectID]]()

  init(_ changes: [ObjectChange], after: CachingImageSource) {
    self.after = after
    changedReferences = after.changedReferences
    self.changes = Dictionary(changes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func change(of id: ObjectID) -> ObjectChange? { changes[id] }

  var isExhausted: Bool { after.isExhausted }

  func image(of id: ObjectID) -> ObjectImage? {
    guard let change = changes[id] else { return after.image(of: id) }
    after.budget.charge(1)
    return change.before
  }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    let relation = ReferrerKey(id: id, property: property.number)
    if let known = referrers[relation] {
      after.budget.charge(1 + known.count)
      return known
    }
    let found = findReferrers(to: id, through: property)
    referrers[relation] = found
    return found
  }

  private func findReferrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    let unchanged = isDeleted(id) ? [] : after.referrers(to: id, through: property).filter { changes[$0] == nil }
    let changed = changedReferences.referrers(through: property).before[id, default: []]
    return changed.isEmpty ? unchanged : (unchanged + changed).sorted()
  }

  /// Counts without listing the unchanged referrers.
  func referrerCount(to id: ObjectID, through property: Property) -> Int {
    let changed = changedReferences.referrers(through: property)
    let now = isDeleted(id) ? 0 : after.referrerCount(to: id, through: property) - changed.after[id, default: []].count
    return now + changed.before[id, default: []].count
  }

  /// Whether the transaction deleted the object. All of its referrers have then changed, so the store need not be
  /// queried.
  private func isDeleted(_ id: ObjectID) -> Bool { changes[id].map { $0.after == nil } == true }
}

/// The references of the objects that a transaction changed, before and after, by property. Computed on first use.
final class ChangedReferences {
  typealias ReferrersBeforeAndAfter = (before: [ObjectID: [ObjectID]], after: [ObjectID: [ObjectID]])

  private let changes: [ObjectChange]
  private let model: Model
  private var known = [PropertyNumber: ReferrersBeforeAndAfter]()

  init(_ changes: [ObjectChange], model: Model) { (self.changes, self.model) = (changes, model) }

  func referrers(through property: Property) -> ReferrersBeforeAndAfter {
    if let known = known[property.number] { return known }
    var sides = ReferrersBeforeAndAfter([:], [:])
    for change in changes where model.entity(change.id.entity)?.property(property.number) != nil {
      for target in change.before.objectIDs(of: property) { sides.before[target, default: []].append(change.id) }
      for target in change.after.objectIDs(of: property) { sides.after[target, default: []].append(change.id) }
    }
    known[property.number] = sides
    return sides
  }
}
