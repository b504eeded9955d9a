import GraphModel

/// Which attributes an index would help, as far as condition and order tell.
enum IndexAdvice {
  /// `Entity.attribute` of the entity that declares it, in the order in which they are met.
  static func attributes(for request: FetchRequest, in model: Model) -> [String] {
    candidates(request, model).filter { !$0.isIndexed }.map(\.name)
  }

  /// Those that have an index already. SQLite may think the order of ids the cheaper way.
  static func indexedAttributes(for request: FetchRequest, in model: Model) -> [String] {
    candidates(request, model).filter(\.isIndexed).map(\.name)
  }

  /// Whether nothing but a limit on one side, above or below, could use an index. SQLite takes a quarter of all objects to
  /// lie beyond it, and reads them in the order of ids all the same, unless the fetch is sorted by the attribute.
  static func isOneSided(_ request: FetchRequest, in model: Model) -> Bool {
    var sides = [PropertyNumber: Set<Bool>]()
    var others = false
    func visit(_ predicate: GraphPredicate) {
      switch predicate {
      case .and(let parts): for part in parts { visit(part) }
      case .comparison(let comparison):
        guard let path = comparison.path, canUseIndex(comparison) else { return }
        guard path.level == 0, path.hops.isEmpty, case .property(let number) = path.end else { return others = true }
        switch comparison.comparator {
        case .less, .lessOrEqual: sides[number, default: []].insert(false)
        case .greater, .greaterOrEqual: sides[number, default: []].insert(true)
        default: others = true
        }
      // Each part of an OR needs an index of its own.
      case .or: others = true
      case .always, .never, .not: break
      }
    }
    visit(request.predicate)
    guard !others, !sides.isEmpty, sides.values.allSatisfy({ $0.count == 1 }) else { return false }
    guard let key = request.sort.first, key.isByStoredValue, key.path.hops.isEmpty,
      case .property(let number) = key.path.end
    else { return true }
    return sides[number] == nil
  }

  private static func candidates(_ request: FetchRequest, _ model: Model) -> [(name: String, isIndexed: Bool)] {
    var found = [(name: String, isIndexed: Bool)]()
    func add(_ path: GraphPredicate.Path) {
      guard path.level == 0, case .property(let number) = path.end, let property = model.property(number),
        let attribute = property.attribute, let owner = model.entity(property.owner)
      else { return }
      let isKey = owner.uniquenessConstraints.contains { $0.first == number }
      let name = "\(owner.name).\(property.name)"
      if !found.contains(where: { $0.name == name }) { found.append((name, attribute.isIndexed || isKey)) }
    }
    func visit(_ predicate: GraphPredicate) {
      switch predicate {
      case .and(let parts), .or(let parts): for part in parts { visit(part) }
      case .comparison(let comparison):
        if let path = comparison.path, canUseIndex(comparison) { add(path) }
      case .always, .never, .not: break
      }
    }
    visit(request.predicate)
    // An order helps where only its beginning is read.
    if found.isEmpty, request.limit != nil, let key = request.sort.first, key.isByStoredValue, key.path.hops.isEmpty {
      add(key.path)
    }
    return found
  }

  private static func canUseIndex(_ comparison: GraphPredicate.Comparison) -> Bool {
    guard comparison.options.isEmpty, comparison.quantifier == .one || comparison.quantifier == .any else {
      return false
    }
    switch (comparison.comparator, comparison.right) {
    case (.equal, .value), (.less, .value), (.lessOrEqual, .value), (.greater, .value), (.greaterOrEqual, .value),
      (.beginsWith, .value), (.in, .list), (.between, .list):
      return true
    default: return false
    }
  }
}
