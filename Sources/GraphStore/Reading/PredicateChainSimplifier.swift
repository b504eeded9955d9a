// Tests: LongChainsTests.swift
import GraphModel

/// Shortens long chains of OR and AND to lists.
///
/// `a == 1 OR a == 2 OR …` becomes `a IN {1, 2, …}`, and `a != 1 AND a != 2 AND …` becomes `NOT a IN {…}`. SQLite
/// looks the values of a list up in a tree and can use an index for them, while a chain takes time that grows with
/// the square of its length.
enum PredicateChainSimplifier {
  /// Shorter chains are kept.
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

  /// The left side of a comparison and its kind.
  private struct ComparisonKey: Hashable {
    let quantifier: GraphPredicate.Quantifier
    let left: GraphExpression
    let options: StringOptions
  }

  /// - Parameters:
  ///   - isTaken: whether a comparison becomes part of a list.
  ///   - whole: returns the predicate for a list.
  private static func gathered(
    _ parts: [GraphPredicate], where isTaken: (GraphPredicate.Comparison) -> Bool,
    whole: (GraphPredicate.Comparison) -> GraphPredicate
  ) -> [GraphPredicate] {
    guard parts.count >= minimumLength else { return parts }
    var lists = [(comparison: GraphPredicate.Comparison, values: [Value], place: Int)]()
    var known = [ComparisonKey: Int]()
    var kept = [GraphPredicate?]()
    for part in parts {
      guard case .comparison(let comparison) = part, isTaken(comparison), let values = comparison.right.constants else {
        kept.append(part)
        continue
      }
      let subject = ComparisonKey(quantifier: comparison.quantifier, left: comparison.left, options: comparison.options)
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
  /// The constants on the right side of an equality or an `IN`; nil if one is calculated.
  fileprivate var constants: [Value]? {
    switch self {
    case .value(let value): [value]
    case .list(let values): values
    case .expressions, .path, .arithmetic, .function, .subquery, .variable: nil
    }
  }
}
