/// Files live queries so that a commit touches only those that it could change.
///
/// A query is filed once for each concrete entity that it can return: under the value of its most selective equality,
/// else in an interval tree over one ordered property, else among the general ones of the entity. Each concrete
/// change asks with the object before and after; what is found is a superset, which the predicate then decides.
public struct LiveQueryIndex: Sendable {
  private struct Shelf {
    var byObject = [ObjectID: Set<UInt64>]()
    var byValue = [PropertyNumber: [Value: Set<UInt64>]]()
    var byRange = [PropertyNumber: IntervalTree]()
    var general = Set<UInt64>()
  }

  private enum Place {
    case objects([ObjectID])
    case values(Property, [Value])
    case range(Property, low: Value?, high: Value?)
    case general
  }

  private let model: Model
  private var shelves = [EntityNumber: Shelf]()

  /// An index of no queries.
  public init(model: Model) { self.model = model }

  /// Files a query under `number`, which is its owner's choice.
  public mutating func insert(_ query: LiveQuery, number: UInt64) {
    forEachShelf(of: query) { shelf, place in
      switch place {
      case .objects(let ids): for id in ids { shelf.byObject[id, default: []].insert(number) }
      case .values(let property, let values):
        for value in values { shelf.byValue[property.number, default: [:]][value, default: []].insert(number) }
      case .range(let property, let low, let high):
        shelf.byRange[property.number, default: IntervalTree()].insert(.init(low: low, high: high, number: number))
      case .general: shelf.general.insert(number)
      }
    }
  }

  /// Takes a query out; both arguments as it was filed.
  public mutating func remove(_ query: LiveQuery, number: UInt64) {
    forEachShelf(of: query) { shelf, place in
      switch place {
      case .objects(let ids):
        for id in ids {
          shelf.byObject[id]?.remove(number)
          if shelf.byObject[id]?.isEmpty == true { shelf.byObject[id] = nil }
        }
      case .values(let property, let values):
        for value in values {
          shelf.byValue[property.number]?[value]?.remove(number)
          if shelf.byValue[property.number]?[value]?.isEmpty == true { shelf.byValue[property.number]?[value] = nil }
        }
        if shelf.byValue[property.number]?.isEmpty == true { shelf.byValue[property.number] = nil }
      case .range(let property, let low, let high):
        shelf.byRange[property.number]?.remove(.init(low: low, high: high, number: number))
        if shelf.byRange[property.number]?.isEmpty == true { shelf.byRange[property.number] = nil }
      case .general: shelf.general.remove(number)
      }
    }
  }

  /// The numbers of the queries that the change could matter to, ascending, without duplicates.
  public func candidates(for change: ObjectChange) -> [UInt64] {
    guard let shelf = shelves[change.id.entity] else { return [] }
    var found = Array(shelf.general)
    if let numbers = shelf.byObject[change.id] { found += numbers }
    for (property, table) in shelf.byValue {
      guard let property = model.property(property) else { continue }
      let before = change.before.map { $0[property] }
      let after = change.after.map { $0[property] }
      if let before, let numbers = table[before] { found += numbers }
      if let after, after != before, let numbers = table[after] { found += numbers }
    }
    for (property, tree) in shelf.byRange {
      guard let property = model.property(property) else { continue }
      let before = change.before.map { $0[property] }
      let after = change.after.map { $0[property] }
      if let before { tree.holding(before, into: &found) }
      if let after, after != before { tree.holding(after, into: &found) }
    }
    guard found.count > 1 else { return found }
    found.sort()
    var unique = [found[0]]
    for number in found.dropFirst() where number != unique.last { unique.append(number) }
    return unique
  }

  // MARK: - Filing

  private mutating func forEachShelf(of query: LiveQuery, _ body: (inout Shelf, Place) -> Void) {
    let place = place(for: query.predicate)
    for entity in model.entity(query.entity)?.family ?? [] where model.entity(entity)?.isAbstract == false {
      body(&shelves[entity, default: Shelf()], place)
    }
  }

  /// At most this many values of an `IN` are filed one by one.
  private static let maximumValues = 100

  private func place(for predicate: GraphPredicate) -> Place {
    let parts = if case .and(let parts) = predicate { parts } else { [predicate] }
    var best: (rank: Int, place: Place)?
    func offer(_ rank: Int, _ place: Place) {
      if rank < best?.rank ?? .max { best = (rank, place) }
    }
    for case .comparison(let comparison) in parts {
      guard comparison.quantifier == .one, comparison.options.isEmpty, let path = comparison.path, path.hops.isEmpty
      else { continue }
      var constants = [Value]()
      switch comparison.right {
      case .value(let value): constants = [value]
      case .list(let values): constants = values
      default: continue
      }
      if path.end == .identifier {
        let ids = constants.compactMap(\.objectID)
        if [.equal, .in].contains(comparison.comparator), ids.count <= Self.maximumValues { offer(0, .objects(ids)) }
        continue
      }
      guard case .property(let number) = path.end, let property = model.property(number),
        property.slot != nil
      else { continue }
      switch comparison.comparator {
      case .equal where !isMixed(constants, property), .in where !isMixed(constants, property):
        guard constants.count <= Self.maximumValues else { continue }
        offer(rank(of: property) + (constants.count > 1 ? 1 : 0), .values(property, constants))
      case .less, .lessOrEqual: offer(10, .range(property, low: nil, high: constants.first))
      case .greater, .greaterOrEqual: offer(10, .range(property, low: constants.first, high: nil))
      case .between where constants.count == 2: offer(9, .range(property, low: constants[0], high: constants[1]))
      default: break
      }
    }
    return best?.place ?? .general
  }

  /// A whole number compared with a fraction has another hash.
  private func isMixed(_ constants: [Value], _ property: Property) -> Bool {
    property.attribute?.kind == .integer && constants.contains { if case .double = $0 { true } else { false } }
  }

  /// The fewer objects are likely to share a value, the lower.
  private func rank(of property: Property) -> Int {
    guard let attribute = property.attribute else { return 4 }
    if model.entities.contains(where: { $0.uniquenessConstraints.contains([property.number]) }) { return 2 }
    return attribute.kind == .bool || attribute.kind == .enumeration ? 7 : 5
  }
}
