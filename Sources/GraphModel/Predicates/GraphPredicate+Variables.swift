/// Finding the variables of a template that a program may set to nil. As the compiler does for typed predicates, nil
/// is only allowed in `==` and `!=` comparisons with an optional value.
extension GraphPredicate {
  /// - Parameter names: the variables' names, one for each use.
  func nullableVariables(of names: [String], _ model: Model) -> Set<String> {
    var places = [String: Int]()
    countNullablePlaces(&places, model)
    for name in names { places[name, default: 0] -= 1 }
    return Set(places.lazy.filter { $0.value == 0 }.map(\.key))
  }

  private func countNullablePlaces(_ places: inout [String: Int], _ model: Model) {
    switch self {
    case .always, .never: break
    case .and(let parts), .or(let parts): for part in parts { part.countNullablePlaces(&places, model) }
    case .not(let inner): inner.countNullablePlaces(&places, model)
    case .comparison(let comparison):
      let isEquality = comparison.comparator == .equal || comparison.comparator == .notEqual
      for (side, other) in [(comparison.left, comparison.right), (comparison.right, comparison.left)] {
        if case .variable(let name, _) = side, isEquality, other.mayBeNull(in: model) {
          places[name, default: 0] += 1
        }
        side.forEachSubquery { $0.countNullablePlaces(&places, model) }
      }
    }
  }
}

extension GraphExpression {
  fileprivate func mayBeNull(in model: Model) -> Bool {
    switch self {
    case .path(let path): path.mayBeNull(in: model)
    case .value(let value): value.isNull
    case .arithmetic, .function: true
    case .list, .expressions, .subquery, .variable: false
    }
  }
}

extension GraphPredicate.Path {
  fileprivate func mayBeNull(in model: Model) -> Bool {
    func isOptional(_ number: PropertyNumber) -> Bool { model.property(number)?.isOptional == true }
    let endsEarly = hops.contains { isOptional($0) && model.property($0)?.relationship?.isToMany == false }
    switch end {
    case .property(let number): return endsEarly || isOptional(number)
    case .identifier, .count: return endsEarly
    case .aggregate(let aggregate, _, _): return endsEarly || aggregate != .sum
    }
  }
}
