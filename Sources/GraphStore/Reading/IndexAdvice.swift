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
    if found.isEmpty, request.limit != nil, let key = request.sort.first, key.collation == nil, key.path.hops.isEmpty {
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
