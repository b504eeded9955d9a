/// An object, and the property through which others refer to it.
struct ReferrerKey: Hashable {
  let id: ObjectID
  let property: PropertyNumber
}

/// A cache over a source for the duration of a commit. Many paths lead to the same objects, and many queries use the
/// same path. Referrers of new objects come from the commit itself, without a query. Every answer is charged to the
/// budget.
final class CachingImageSource: ImageSource {
  let changedReferences: ChangedReferences
  let budget: EvaluationBudget
  private let source: any ImageSource
  private let insertedIDs: Set<ObjectID>
  private var images = [ObjectID: ObjectImage?]()
  private var referrers = [ReferrerKey: [ObjectID]]()
  private var counts = [ReferrerKey: Int]()

  init(_ source: any ImageSource, _ changes: [ObjectChange], model: Model, budget: EvaluationBudget) {
    self.budget = budget
    self.source = source
    changedReferences = ChangedReferences(changes, model: model)
    insertedIDs = Set(changes.lazy.filter { $0.before == nil }.map(\.id))
  }

  var isExhausted: Bool { budget.isExhausted }

  func image(of id: ObjectID) -> ObjectImage? {
    budget.charge(1)
    if let known = images[id] { return known }
    budget.chargeStoreQuery()
    let image = source.image(of: id)
    images[id] = .some(image)
    return image
  }

  /// The image of a root, without a charge: its path was charged, or the object itself changed.
  func root(_ id: ObjectID) -> ObjectImage? {
    if let known = images[id] { return known }
    let image = source.image(of: id)
    images[id] = .some(image)
    return image
  }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    let found = findReferrers(to: id, through: property)
    budget.charge(1 + found.count)
    return found
  }

  private func findReferrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    let relation = ReferrerKey(id: id, property: property.number)
    if let known = referrers[relation] { return known }
    let found: [ObjectID]
    if insertedIDs.contains(id) {
      found = changedReferences.referrers(through: property).after[id, default: []].sorted()
    } else {
      budget.chargeStoreQuery()
      found = source.referrers(to: id, through: property)
    }
    referrers[relation] = found
    return found
  }

  func referrerCount(to id: ObjectID, through property: Property) -> Int {
    budget.charge(1)
    guard !insertedIDs.contains(id) else {
      return changedReferences.referrers(through: property).after[id, default: []].count
    }
    let relation = ReferrerKey(id: id, property: property.number)
    if let known = counts[relation] { return known }
    budget.chargeStoreQuery()
    let count = source.referrerCount(to: id, through: property)
    counts[relation] = count
    return count
  }
}
