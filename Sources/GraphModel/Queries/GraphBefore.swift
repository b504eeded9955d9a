/// The graph before a transaction, seen from the graph after it: what the transaction changed is as it was, all else is
/// where it is. A class: it keeps what it has worked out.
final class GraphBefore: ImageSource {
  private let after: any ImageSource
  private let changed: ChangedReferrers
  private let changes: [ObjectID: ObjectChange]

  init(_ changes: [ObjectChange], after: any ImageSource, changed: ChangedReferrers) {
    self.after = after
    self.changed = changed
    self.changes = Dictionary(changes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func change(of id: ObjectID) -> ObjectChange? { changes[id] }

  var isExhausted: Bool { after.isExhausted }

  func image(of id: ObjectID) -> ObjectImage? {
    if let change = changes[id] { return change.before }
    return after.image(of: id)
  }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    let unchanged = isGone(id) ? [] : after.referrers(to: id, through: property).filter { changes[$0] == nil }
    let changed = changed.sides(through: property).before[id] ?? []
    return changed.isEmpty ? unchanged : (unchanged + changed).sorted()
  }

  /// The many that did not change need not be listed to be counted.
  func referrerCount(to id: ObjectID, through property: Property) -> Int {
    let changed = changed.sides(through: property)
    let now = isGone(id) ? 0 : after.referrerCount(to: id, through: property) - (changed.after[id]?.count ?? 0)
    return now + (changed.before[id]?.count ?? 0)
  }

  /// Nobody refers to what was deleted: whoever did has changed, and nothing else has to be asked for.
  private func isGone(_ id: ObjectID) -> Bool { changes[id].map { $0.after == nil } ?? false }
}

/// Who referred to whom among the objects that one transaction changed, before and after, by property; each is worked out
/// when it is first asked for.
final class ChangedReferrers {
  typealias Sides = (before: [ObjectID: [ObjectID]], after: [ObjectID: [ObjectID]])

  private let changes: [ObjectChange]
  private let model: Model
  private var known = [PropertyNumber: Sides]()

  init(_ changes: [ObjectChange], model: Model) { (self.changes, self.model) = (changes, model) }

  func sides(through property: Property) -> Sides {
    if let known = known[property.number] { return known }
    var sides = Sides([:], [:])
    for change in changes where model.entity(change.id.entity)?.property(property.number) != nil {
      for target in change.before?[property].objectIDs ?? [] { sides.before[target, default: []].append(change.id) }
      for target in change.after?[property].objectIDs ?? [] { sides.after[target, default: []].append(change.id) }
    }
    known[property.number] = sides
    return sides
  }
}

/// A source whose answers are kept for the time of one commit: many paths lead to the same objects, and many queries take
/// the same path. Who refers to an object that the commit has made is in the commit as well, and not asked for. It answers so
/// many questions and no more: paths over two to-manys can lead from each of a thousand objects to all of them.
final class KeptSource: ImageSource {
  private struct Relation: Hashable {
    let id: ObjectID
    let property: PropertyNumber
  }

  let changed: ChangedReferrers
  private let source: any ImageSource
  private let made: Set<ObjectID>
  private var images = [ObjectID: ObjectImage?]()
  private var referrers = [Relation: [ObjectID]]()
  private var counts = [Relation: Int]()
  /// How many objects may be named and looked at still.
  private(set) var rest: Int

  /// - Parameter most: so many objects are named and looked at.
  init(_ source: any ImageSource, _ changes: [ObjectChange], model: Model, atMost most: Int) {
    rest = most
    self.source = source
    changed = ChangedReferrers(changes, model: model)
    made = Set(changes.lazy.filter { $0.before == nil }.map(\.id))
  }

  var isExhausted: Bool { rest < 0 }

  func image(of id: ObjectID) -> ObjectImage? {
    rest -= 1
    if let known = images[id] { return known }
    let image = source.image(of: id)
    images[id] = .some(image)
    return image
  }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    guard !made.contains(id) else { return (changed.sides(through: property).after[id] ?? []).sorted() }
    let relation = Relation(id: id, property: property.number)
    let found = referrers[relation] ?? source.referrers(to: id, through: property)
    referrers[relation] = found
    rest -= 1 + found.count
    return found
  }

  func referrerCount(to id: ObjectID, through property: Property) -> Int {
    guard !made.contains(id) else { return changed.sides(through: property).after[id]?.count ?? 0 }
    let relation = Relation(id: id, property: property.number)
    let count = counts[relation] ?? source.referrerCount(to: id, through: property)
    counts[relation] = count
    return count
  }
}
