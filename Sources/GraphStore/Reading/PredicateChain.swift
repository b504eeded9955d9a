import GraphModel

/// Long chains of OR and AND, made shorter: `a == 1 OR a == 2 OR …` is one `a IN {1, 2, …}`, and `a != 1 AND a != 2 AND …`
/// is no `a IN {…}`. SQLite looks a list's values up in a tree, and leads an index by them, where it would take time that
/// grows with the square of a chain's length.
enum PredicateChain {
  /// Shorter ones are left as they are.
  static let minimumLength = 16

  static func or(_ parts: [GraphPredicate]) -> [GraphPredicate] {
    gathered(parts) { comparison in
      switch (comparison.quantifier, comparison.comparator) {
      case (.one, .equal), (.one, .in), (.any, .equal), (.any, .in): true
      default: false
      }
    } whole: {
      .comparison($0)
    }
  }

  static func and(_ parts: [GraphPredicate]) -> [GraphPredicate] {
    gathered(parts) {
      $0.quantifier == .one && $0.comparator == .notEqual
    } whole: {
      .not(.comparison($0))
    }
  }

  /// What is compared, and how.
  private struct Subject: Hashable {
    let quantifier: GraphPredicate.Quantifier
    let left: GraphExpression
    let options: StringOptions
  }

  /// - Parameters:
  ///   - isTaken: whether a comparison becomes a part of a list.
  ///   - whole: what a list says.
  private static func gathered(
    _ parts: [GraphPredicate], where isTaken: (GraphPredicate.Comparison) -> Bool,
    whole: (GraphPredicate.Comparison) -> GraphPredicate
  ) -> [GraphPredicate] {
    guard parts.count >= minimumLength else { return parts }
    var lists = [(comparison: GraphPredicate.Comparison, values: [Value], place: Int)]()
    var known = [Subject: Int]()
    var kept = [GraphPredicate?]()
    for part in parts {
      guard case .comparison(let comparison) = part, isTaken(comparison), let values = comparison.right.constants else {
        kept.append(part)
        continue
      }
      let subject = Subject(quantifier: comparison.quantifier, left: comparison.left, options: comparison.options)
      if let list = known[subject] {
        lists[list].values += values
      } else {
        known[subject] = lists.count
        lists.append((comparison, values, kept.count))
        kept.append(nil)
      }
    }
    for (comparison, values, place) in lists {
      var comparison = comparison
      comparison.comparator = .in
      comparison.right = .list(values)
      kept[place] = whole(comparison)
    }
    return kept.compactMap(\.self)
  }
}

extension GraphExpression {
  /// The constants on the right side of an equality or an `IN`; nil where one is calculated.
  fileprivate var constants: [Value]? {
    switch self {
    case .value(let value): [value]
    case .list(let values): values
    case .expressions, .path, .arithmetic, .function, .subquery, .variable: nil
    }
  }
}
