/// Files live queries so that a commit touches only those that it could change.
///
/// A query is filed for each concrete entity that it can return: under the value of its most selective equality, else
/// under a word of a search, else under a part of a text, else in an interval tree over one ordered property, one that is an OR
/// in these ways for each of its sides, else among the general ones of the entity. Each concrete change asks with the object
/// before and after; what is found is a superset, which the predicate then decides.
public struct LiveQueryIndex: Sendable {
  private struct Shelf {
    var byObject = [ObjectID: Set<UInt64>]()
    var byValue = [PropertyNumber: [Value: Set<UInt64>]]()
    var byRange = [PropertyNumber: IntervalTree]()
    var byWord = [PropertyNumber: WordTable]()
    var byPart = [PropertyNumber: PartTable]()
    var general = Set<UInt64>()
  }

  private enum Place {
    case objects([ObjectID])
    case values(Property, [Value])
    case range(Property, low: Value?, high: Value?)
    case word(Property, String)
    case part(Property, String, StringOptions)
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
      case .word(let property, let word):
        shelf.byWord[property.number, default: WordTable()].insert(number, word: word)
      case .part(let property, let part, let options):
        shelf.byPart[property.number, default: PartTable()].insert(number, part: part, options)
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
      case .word(let property, let word):
        shelf.byWord[property.number]?.remove(number, word: word)
        if shelf.byWord[property.number]?.isEmpty == true { shelf.byWord[property.number] = nil }
      case .part(let property, let part, let options):
        shelf.byPart[property.number]?.remove(number, part: part, options)
        if shelf.byPart[property.number]?.isEmpty == true { shelf.byPart[property.number] = nil }
      case .general: shelf.general.remove(number)
      }
    }
  }

  /// The numbers of the queries that the change could matter to, ascending, without duplicates.
  public func candidates(for change: ObjectChange) -> [UInt64] {
    guard let shelf = shelves[change.id.entity] else { return [] }
    var found = Array(shelf.general)
    if let numbers = shelf.byObject[change.id] { found += numbers }
    forEachValue(of: change, in: shelf.byValue) { if let numbers = $0[$1] { found += numbers } }
    forEachValue(of: change, in: shelf.byRange) { $0.holding($1, into: &found) }
    forEachValue(of: change, in: shelf.byWord) { $0.holding($1, into: &found) }
    forEachValue(of: change, in: shelf.byPart) { $0.holding($1, into: &found) }
    guard found.count > 1 else { return found }
    found.sort()
    var unique = [found[0]]
    for number in found.dropFirst() where number != unique.last { unique.append(number) }
    return unique
  }

  /// What is filed for a property, and its value before and after the change, the same one once.
  private func forEachValue<Filed>(
    of change: ObjectChange, in filed: [PropertyNumber: Filed], _ body: (Filed, Value) -> Void
  ) {
    for (property, filed) in filed {
      guard let property = model.property(property) else { continue }
      let before = change.before.map { $0[property] }
      let after = change.after.map { $0[property] }
      if let before { body(filed, before) }
      if let after, after != before { body(filed, after) }
    }
  }

  // MARK: - Filing

  private mutating func forEachShelf(of query: LiveQuery, _ body: (inout Shelf, Place) -> Void) {
    let places = places(for: query.predicate)
    for entity in model.entity(query.entity)?.family ?? [] where model.entity(entity)?.isAbstract == false {
      for place in places { body(&shelves[entity, default: Shelf()], place) }
    }
  }

  private func places(for predicate: GraphPredicate) -> [Place] {
    // What an image tells by itself: the object's id and its stored properties.
    let filed = QueryPlace.all(of: predicate, model: model) { path in
      path.hops.isEmpty && (path.end == .identifier || property(of: path)?.slot != nil)
    }
    return filed?.map(place) ?? [.general]
  }

  private func place(_ filed: QueryPlace) -> Place {
    switch filed {
    case .values(let path, let values):
      guard let property = property(of: path) else { return .objects(values.compactMap(\.objectID)) }
      return .values(property, values)
    case .range(let path, let low, let high):
      return property(of: path).map { .range($0, low: low, high: high) } ?? .general
    case .word(let path, let word): return property(of: path).map { .word($0, word) } ?? .general
    case .part(let path, let part, let options):
      return property(of: path).map { .part($0, part, options) } ?? .general
    }
  }

  private func property(of path: GraphPredicate.Path) -> Property? {
    if case .property(let number) = path.end { model.property(number) } else { nil }
  }
}
