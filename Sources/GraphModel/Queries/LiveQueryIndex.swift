/// Files live queries so that a commit touches only those that it could change.
///
/// A query is filed for each concrete entity that it can return: under the value of its most selective equality, else
/// under a word of a search, else under a part of a text, else in an interval tree over one ordered property, one that is an OR
/// in these ways for each of its sides, else among the general ones of the entity. Each concrete change asks with the object
/// before and after; what is found is a superset, which the predicate then decides.
public struct LiveQueryIndex: Sendable {
  private let model: Model
  /// Of each concrete entity; a path without a property is the object's own id.
  private var shelves = [EntityNumber: QueryShelves<Property?>]()

  /// An index of no queries.
  public init(model: Model) { self.model = model }

  /// Files a query under `number`, which is its owner's choice.
  public mutating func insert(_ query: LiveQuery, number: UInt64) {
    let places = places(for: query.predicate)
    for entity in entities(of: query) {
      shelves[entity, default: QueryShelves()].insert(number, at: places) { [model] in $0.property(in: model) }
    }
  }

  /// Takes a query out; both arguments as it was filed.
  public mutating func remove(_ query: LiveQuery, number: UInt64) {
    let places = places(for: query.predicate)
    for entity in entities(of: query) {
      shelves[entity]?.remove(number, at: places)
      if shelves[entity]?.isEmpty == true { shelves[entity] = nil }
    }
  }

  /// The numbers of the queries that the change could matter to, ascending, without duplicates.
  public func candidates(for change: ObjectChange) -> [UInt64] {
    guard let shelf = shelves[change.id.entity] else { return [] }
    var found = Array(shelf.general)
    for (property, queries) in shelf.subjects.values {
      guard let property else {
        queries.holding(.object(change.id), into: &found)
        continue
      }
      let before = change.before.map { $0[property] }
      let after = change.after.map { $0[property] }
      if let before { queries.holding(before, into: &found) }
      if let after, after != before { queries.holding(after, into: &found) }
    }
    guard found.count > 1 else { return found }
    found.sort()
    var unique = [found[0]]
    for number in found.dropFirst() where number != unique.last { unique.append(number) }
    return unique
  }

  // MARK: - Filing

  private func entities(of query: LiveQuery) -> [EntityNumber] {
    (model.entity(query.entity)?.family ?? []).filter { model.entity($0)?.isAbstract == false }
  }

  /// What an image tells by itself: the object's id and its stored properties.
  private func places(for predicate: GraphPredicate) -> [QueryPlace]? {
    QueryPlace.all(of: predicate, model: model) { subject in
      // A calculation is not faster than the predicate that has it, where nothing is to be followed.
      guard let path = subject.path else { return false }
      return path.hops.isEmpty && (path.end == .identifier || subject.property(in: model)?.slot != nil)
    }
  }
}

extension QuerySubject {
  /// The property at its end; nil for the object's id, and for what is worked out.
  fileprivate func property(in model: Model) -> Property? {
    if case .property(let number)? = path?.end { model.property(number) } else { nil }
  }
}
