/// A key of a live query in the index. This is the values of its most selective equality, or a word of a search, a
/// part of a text, or a range of an ordered expression; an OR has keys for each of its sides. A lookup returns a
/// superset, which the predicate then filters.
enum IndexKey: Hashable {
  case values(IndexedExpression, [Value])
  case range(IndexedExpression, low: Value?, high: Value?)
  /// The text contains a word with this prefix.
  case term(IndexedExpression, String)
  /// The text, folded with these options, contains this folded, nonempty substring.
  case substring(IndexedExpression, String, StringOptions)

  /// The most values of an `IN` that are indexed individually.
  static let maximumValues = 100
  /// The most keys of a query.
  static let maximumKeys = 8

  /// The keys under which every matching object is found, without duplicates. Nil if only the predicate itself can
  /// decide.
  /// - Parameter canRead: whether the index can read an expression's values.
  static func all(
    of predicate: GraphPredicate, model: Model, where canRead: @escaping (IndexedExpression) -> Bool = { _ in true }
  ) -> [IndexKey]? {
    IndexKeyExtractor(model: model, canRead: canRead).best(for: predicate, prefix: [])?.keys
  }

  /// The key of all values that satisfy a comparison, regardless of its quantifier. Nil if only the comparison itself
  /// can decide.
  static func key(of comparison: GraphPredicate.Comparison, model: Model) -> IndexKey? {
    var comparison = comparison
    comparison.quantifier = .any
    if case .subquery = comparison.left { return nil }
    return IndexKeyExtractor(model: model) { _ in true }.best(for: .comparison(comparison), prefix: [])?.keys.first
  }

  var expression: IndexedExpression {
    switch self {
    case .values(let expression, _), .range(let expression, _, _), .term(let expression, _),
      .substring(let expression, _, _):
      expression
    }
  }
}

/// Finds the keys of a predicate.
private struct IndexKeyExtractor {
  struct RankedKeys {
    /// An estimate of the number of matching objects and the cost of reading the values; lower is better.
    var rank: Int
    var keys: [IndexKey]
  }

  let model: Model
  let canRead: (IndexedExpression) -> Bool

  /// - Parameter prefix: in a subquery, the hops from the query's object to the evaluated one.
  func best(for predicate: GraphPredicate, prefix: [PropertyNumber]) -> RankedKeys? {
    switch predicate {
    case .always: return nil
    case .never: return RankedKeys(rank: 0, keys: [])
    case .not(let inner): return best(forNot: inner, prefix: prefix)
    case .and(let parts): return mostSelective(of: parts.map { best(for: $0, prefix: prefix) })
    case .or(let parts): return union(parts) { best(for: $0, prefix: prefix) }
    case .comparison(let comparison): return keys(of: comparison, prefix)
    }
  }

  /// The keys of a negation. As there are two truth values only, a comparison's negation is a comparison, if the
  /// language has one.
  private func best(forNot predicate: GraphPredicate, prefix: [PropertyNumber]) -> RankedKeys? {
    switch predicate {
    case .always: return RankedKeys(rank: 0, keys: [])
    case .never: return nil
    case .not(let inner): return best(for: inner, prefix: prefix)
    case .and(let parts): return union(parts) { best(forNot: $0, prefix: prefix) }
    case .or(let parts): return mostSelective(of: parts.map { best(forNot: $0, prefix: prefix) })
    case .comparison(var comparison):
      switch (comparison.quantifier, comparison.comparator) {
      case (.one, .notEqual): comparison.comparator = .equal
      case (.all, .notEqual): (comparison.quantifier, comparison.comparator) = (.any, .equal)
      case (.none, _): comparison.quantifier = .any
      default: return nil
      }
      return keys(of: comparison, prefix)
    }
  }

  /// The most selective candidate, which is enough as all must hold; the first of equals.
  private func mostSelective(of candidates: [RankedKeys?]) -> RankedKeys? {
    candidates.compactMap(\.self).min { $0.rank < $1.rank }
  }

  /// The candidates for all parts, as any may hold.
  private func union(_ parts: [GraphPredicate], _ best: (GraphPredicate) -> RankedKeys?) -> RankedKeys? {
    var all = RankedKeys(rank: 0, keys: [])
    for part in parts {
      guard let candidate = best(part) else { return nil }
      all.rank = max(all.rank, candidate.rank + 1)
      for key in candidate.keys where !all.keys.contains(key) { all.keys.append(key) }
      guard all.keys.count <= IndexKey.maximumKeys else { return nil }
    }
    return all
  }

  private func keys(of comparison: GraphPredicate.Comparison, _ prefix: [PropertyNumber]) -> RankedKeys? {
    // With ANY one of the path's values is in the list or the range.
    guard comparison.quantifier == .one || comparison.quantifier == .any else { return nil }
    var constants = [Value]()
    switch comparison.right {
    case .value(let value): constants = [value]
    case .list(let values): constants = values
    default: return nil
    }
    if case .subquery(0, let hops, let inner) = comparison.left {
      return Self.requiresMatch(comparison.comparator, constants) ? best(for: inner, prefix: prefix + hops) : nil
    }
    guard let expression = IndexedExpression(comparison.left, after: prefix), canRead(expression) else { return nil }
    guard comparison.options.isEmpty else { return keys(ofFolded: comparison, expression, constants) }
    // An integer and an equal double have different hashes, and a calculated constant may not have the path's type
    // yet.
    let type = expression.type(in: model)
    var isMixed = false
    if expression.path == nil {
      constants = constants.map(IndexedExpression.calculated)
    } else if type == .double {
      constants = constants.map { value in
        guard case .integer(let whole) = value else { return value }
        let fraction = Double(whole)
        if Int64(exactly: fraction) != whole { isMixed = true }
        return .double(fraction)
      }
    } else if type == .integer {
      isMixed = constants.contains { if case .double = $0 { true } else { false } }
    }
    func range(_ rank: Int, _ low: Value?, _ high: Value?) -> RankedKeys {
      RankedKeys(rank: rank, keys: [.range(expression, low: low, high: high)])
    }
    switch comparison.comparator {
    case .equal where !isMixed, .in where !isMixed && constants.count <= IndexKey.maximumValues:
      return RankedKeys(
        rank: rank(of: expression) + (constants.count > 1 ? 1 : 0), keys: [.values(expression, constants)])
    case .less, .lessOrEqual: return range(20, nil, constants.first)
    case .greater, .greaterOrEqual: return range(20, constants.first, nil)
    case .between where constants.count == 2: return range(19, constants[0], constants[1])
    case .beginsWith where !expression.isIdentifier, .matches where !expression.isIdentifier:
      guard let text = constants.first?.stringValue else { return nil }
      let prefix = comparison.comparator == .matches ? RegularExpression.literalBeginning(of: text) : text
      // The byte order of strings is the order of their scalars.
      guard !prefix.isEmpty else { return nil }
      return range(18, .string(prefix), prefix.firstBeyondPrefix.map(Value.string))
    case .search:
      // All words must occur; the longest is the most selective.
      guard let words = constants.first?.stringValue?.words, let word = words.max(by: { $0.utf8.count < $1.utf8.count })
      else { return nil }
      return RankedKeys(rank: 17, keys: [.term(expression, word)])
    case .contains, .endsWith, .like: return keys(ofFolded: comparison, expression, constants)
    default: return nil
    }
  }

  /// The keys for a substring: for text comparators, and for an equality or prefix with `[options]`.
  private func keys(
    ofFolded comparison: GraphPredicate.Comparison, _ expression: IndexedExpression, _ constants: [Value]
  ) -> RankedKeys? {
    // One key per comparison, because `PathQueryMatcher` compares the number of keys with the number of paths.
    guard !expression.isIdentifier, constants.count == 1 else { return nil }
    let rank: Int
    switch comparison.comparator {
    case .equal, .in: rank = self.rank(of: expression) + 2
    case .contains, .beginsWith, .endsWith, .like: rank = 18
    default: return nil
    }
    guard let text = constants[0].stringValue?.folded(comparison.options) else { return nil }
    let part = comparison.comparator == .like ? TextSearch.longestPart(ofPattern: text) : text
    guard !part.isEmpty else { return nil }
    return RankedKeys(rank: rank, keys: [.substring(expression, part, comparison.options)])
  }

  /// Whether every count that satisfies the comparison is at least 1.
  private static func requiresMatch(_ comparator: GraphPredicate.Comparator, _ constants: [Value]) -> Bool {
    func isAtLeast(_ least: Int64, _ value: Value?) -> Bool {
      if case .integer(let number)? = value { number >= least } else { false }
    }
    switch comparator {
    case .greater: return isAtLeast(0, constants.first)
    case .greaterOrEqual, .equal, .between: return isAtLeast(1, constants.first)
    case .notEqual: return constants.first == .integer(0)
    case .in: return constants.allSatisfy { isAtLeast(1, $0) }
    default: return false
    }
  }

  private func rank(of expression: IndexedExpression) -> Int {
    // A calculation reads more than a path; a range is even less selective.
    guard let path = expression.path else { return 16 }
    let prefix = min(path.hops.count, 4)
    switch path.end {
    case .identifier: return prefix
    case .count, .aggregate: return 12 + prefix
    case .property(let number):
      guard let attribute = model.property(number)?.attribute else { return 4 + prefix }
      if model.entities.contains(where: { $0.uniquenessConstraints.contains([number]) }) { return 2 + prefix }
      return (attribute.kind == .bool || attribute.kind == .enumeration ? 11 : 5) + prefix
    }
  }
}

extension IndexedExpression {
  /// Whether the expression's values are ids.
  fileprivate var isIdentifier: Bool { path?.end == .identifier }
}

extension String {
  /// The smallest string, in scalar order, above all strings with this prefix; nil if there is none.
  fileprivate var firstBeyondPrefix: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      // The surrogates after U+D7FF are not scalars.
      guard last.value < 0x10_FFFF, let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else {
        continue
      }
      scalars.append(next)
      return String(String.UnicodeScalarView(scalars))
    }
    return nil
  }
}
