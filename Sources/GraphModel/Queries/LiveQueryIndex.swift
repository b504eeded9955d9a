/// An index of live queries by the values they can match. A commit only evaluates queries that it could affect.
///
/// For each concrete entity that it can return, a query is indexed under the first of these that applies: the values
/// of its most selective equality, a word of a search, a part of a text, an interval over an ordered property. An OR
/// is indexed under one of these for each of its sides; all other queries are in the entity's general list. A change
/// is looked up with the object before and after; the result is a superset that the predicates then filter.
public struct LiveQueryIndex: Sendable {
  private let model: Model
  /// The index of each concrete entity, by key; the property is nil for the object's own id.
  private var entityIndexes = [EntityNumber: EntityQueryIndex<Property?>]()

  /// Creates an empty index.
  public init(model: Model) { self.model = model }

  /// Adds a query under `number`, which the caller chooses.
  public mutating func insert(_ query: LiveQuery, number: UInt64) {
    let keys = keys(for: query.predicate)
    for entity in entities(of: query) {
      entityIndexes[entity, default: EntityQueryIndex()].insert(number, under: keys) { [model] in $0.property(in: model)
      }
    }
  }

  /// Removes a query; the arguments must be those of its insertion.
  public mutating func remove(_ query: LiveQuery, number: UInt64) {
    let keys = keys(for: query.predicate)
    for entity in entities(of: query) {
      entityIndexes.modifyIfPresent(entity, removingIf: \.isEmpty) { $0.remove(number, under: keys) }
    }
  }

  /// The numbers of the queries that the change could affect, ascending, without duplicates.
  public func candidates(for change: ObjectChange) -> [UInt64] {
    guard let index = entityIndexes[change.id.entity] else { return [] }
    var found = Array(index.general)
    for (property, queries) in index.expressions.values {
      guard let property else {
        queries.appendMatches(of: .object(change.id), to: &found)
        continue
      }
      let before = change.before.map { $0[property] }
      let after = change.after.map { $0[property] }
      if let before { queries.appendMatches(of: before, to: &found) }
      if let after, after != before { queries.appendMatches(of: after, to: &found) }
    }
    guard found.count > 1 else { return found }
    found.sort()
    var unique = [found[0]]
    for number in found.dropFirst() where number != unique.last { unique.append(number) }
    return unique
  }

  // MARK: - Keys

  private func entities(of query: LiveQuery) -> [EntityNumber] {
    model.family(of: query.entity).filter { model.entity($0)?.isAbstract == false }
  }

  /// The keys that an image alone provides: the object's id and its stored properties.
  private func keys(for predicate: GraphPredicate) -> [IndexKey]? {
    IndexKey.all(of: predicate, model: model) { expression in
      // Without a path to follow, a calculation is not cheaper than the predicate that contains it.
      guard let path = expression.path else { return false }
      return path.hops.isEmpty && (path.end == .identifier || expression.property(in: model)?.slot != nil)
    }
  }
}

extension IndexedExpression {
  /// The property at the end of the path; nil for the object's id, and for a calculation.
  fileprivate func property(in model: Model) -> Property? {
    if case .property(let number)? = path?.end { model.property(number) } else { nil }
  }
}
