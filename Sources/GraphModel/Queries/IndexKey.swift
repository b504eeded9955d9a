/// A key of a live query in the index. This is the values of its most selective equality, or a word of a search, a
/// part of a text, or a range of an ordered subject; an OR has keys for each of its sides. A lookup returns a
/// superset, which the predicate then filters.
enum IndexKey: Hashable {
  case values(IndexedExpression, [Value])
  case range(IndexedExpression, low: Value?, high: Value?)
  /// The text contains a word with this prefix.
  case word(IndexedExpression, String)
  /// The text, folded with these options, contains this folded, nonempty substring.
  case part(IndexedExpression, String, StringOptions)

  /// The most values of an `IN` that are indexed individually.
  static let maximumValues = 100
  /// The most keys of a query.
  static let maximumPlaces = 8

  /// The keys under which every matching object is found, without duplicates. Nil if only the predicate itself can
  /// decide.
  /// - Parameter canRead: whether the index can read a subject's values.
  static func all(
    of predicate: GraphPredicate, model: Model, where canRead: @escaping (IndexedExpression) -> Bool = { _ in true }
  ) -> [IndexKey]? {
    IndexKeyExtractor(model: model, canRead: canRead).best(for: predicate, way: [])?.places
  }

  /// The key of all values that satisfy a comparison, regardless of its quantifier. Nil if only the comparison itself
  /// can decide.
  static func place(of comparison: GraphPredicate.Comparison, model: Model) -> IndexKey? {
    var comparison = comparison
    comparison.quantifier = .any
    if case .subquery = comparison.left { return nil }
    return IndexKeyExtractor(model: model) { _ in true }.best(for: .comparison(comparison), way: [])?.places.first
  }

  var subject: IndexedExpression {
    switch self {
    case .values(let subject, _), .range(let subject, _, _), .word(let subject, _), .part(let subject, _, _): subject
    }
  }
}

/// Finds the keys of a predicate.
private struct IndexKeyExtractor {
  struct RankedKeys {
    /// An estimate of the number of matching objects and the cost of reading the values; lower is better.
    var rank: Int
    var places: [IndexKey]
  }

  let model: Model
  let canRead: (IndexedExpression) -> Bool

  /// - Parameter way: in a subquery, the hops from the query's object to the evaluated one.
  func best(for predicate: GraphPredicate, way: [PropertyNumber]) -> RankedKeys? {
    switch predicate {
    case .always: return nil
    case .never: return RankedKeys(rank: 0, places: [])
    case .not(let inner): return best(forNot: inner, way: way)
    case .and(let parts): return fewest(of: parts.map { best(for: $0, way: way) })
    case .or(let parts): return together(parts) { best(for: $0, way: way) }
    case .comparison(let comparison): return offer(of: comparison, way)
    }
  }

  /// The keys of a negation. As there are two truth values only, a comparison's negation is a comparison, if the
  /// language has one.
  private func best(forNot predicate: GraphPredicate, way: [PropertyNumber]) -> RankedKeys? {
    switch predicate {
    case .always: return RankedKeys(rank: 0, places: [])
    case .never: return nil
    case .not(let inner): return best(for: inner, way: way)
    case .and(let parts): return together(parts) { best(forNot: $0, way: way) }
    case .or(let parts): return fewest(of: parts.map { best(forNot: $0, way: way) })
    case .comparison(var comparison):
      switch (comparison.quantifier, comparison.comparator) {
      case (.one, .notEqual): comparison.comparator = .equal
      case (.all, .notEqual): (comparison.quantifier, comparison.comparator) = (.any, .equal)
      case (.none, _): comparison.quantifier = .any
      default: return nil
      }
      return offer(of: comparison, way)
    }
  }

  /// The best offer, which is enough as all must hold; the first of equals.
  private func fewest(of offers: [RankedKeys?]) -> RankedKeys? { offers.compactMap(\.self).min { $0.rank < $1.rank } }

  /// The offers for all parts, as any may hold.
  private func together(_ parts: [GraphPredicate], _ best: (GraphPredicate) -> RankedKeys?) -> RankedKeys? {
    var all = RankedKeys(rank: 0, places: [])
    for part in parts {
      guard let offer = best(part) else { return nil }
      all.rank = max(all.rank, offer.rank + 1)
      for place in offer.places where !all.places.contains(place) { all.places.append(place) }
      guard all.places.count <= IndexKey.maximumPlaces else { return nil }
    }
    return all
  }

  private func offer(of comparison: GraphPredicate.Comparison, _ way: [PropertyNumber]) -> RankedKeys? {
    // With ANY one of the path's values is in the list or the range.
    guard comparison.quantifier == .one || comparison.quantifier == .any else { return nil }
    var constants = [Value]()
    switch comparison.right {
    case .value(let value): constants = [value]
    case .list(let values): constants = values
    default: return nil
    }
    if case .subquery(0, let hops, let inner) = comparison.left {
      return Self.needsOne(comparison.comparator, constants) ? best(for: inner, way: way + hops) : nil
    }
    guard let subject = IndexedExpression(comparison.left, behind: way), canRead(subject) else { return nil }
    guard comparison.options.isEmpty else { return offer(ofFolded: comparison, subject, constants) }
    // An integer and an equal double have different hashes, and a calculated constant may not have the path's type
    // yet.
    let type = subject.type(in: model)
    var isMixed = false
    if subject.path == nil {
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
      RankedKeys(rank: rank, places: [.range(subject, low: low, high: high)])
    }
    switch comparison.comparator {
    case .equal where !isMixed, .in where !isMixed && constants.count <= IndexKey.maximumValues:
      return RankedKeys(rank: rank(of: subject) + (constants.count > 1 ? 1 : 0), places: [.values(subject, constants)])
    case .less, .lessOrEqual: return range(20, nil, constants.first)
    case .greater, .greaterOrEqual: return range(20, constants.first, nil)
    case .between where constants.count == 2: return range(19, constants[0], constants[1])
    case .beginsWith where !subject.isIdentifier, .matches where !subject.isIdentifier:
      let text = constants.first?.stringValue ?? ""
      let prefix = comparison.comparator == .matches ? RegularExpression.literalBeginning(of: text) : text
      // The byte order of strings is the order of their scalars.
      guard !prefix.isEmpty else { return nil }
      return range(18, .string(prefix), prefix.firstBeyondPrefix.map(Value.string))
    case .search:
      // All words must occur; the longest is the most selective.
      let words = constants.first?.stringValue?.words ?? []
      guard let word = words.max(by: { $0.utf8.count < $1.utf8.count }) else { return nil }
      return RankedKeys(rank: 17, places: [.word(subject, word)])
    case .contains, .endsWith, .like: return offer(ofFolded: comparison, subject, constants)
    default: return nil
    }
  }

  /// The offer for a substring: for text comparators, and for an equality or prefix with `[options]`.
  private func offer(
    ofFolded comparison: GraphPredicate.Comparison, _ subject: IndexedExpression, _ constants: [Value]
  ) -> RankedKeys? {
    // One key per comparison, because `PathQueryMatcher` compares the number of keys with the number of paths.
    guard !subject.isIdentifier, constants.count == 1 else { return nil }
    let rank: Int
    switch comparison.comparator {
    case .equal, .in: rank = self.rank(of: subject) + 2
    case .contains, .beginsWith, .endsWith, .like: rank = 18
    default: return nil
    }
    guard let text = constants[0].stringValue?.folded(comparison.options) else { return nil }
    let part = comparison.comparator == .like ? TextSearch.longestPart(ofPattern: text) : text
    guard !part.isEmpty else { return nil }
    return RankedKeys(rank: rank, places: [.part(subject, part, comparison.options)])
  }

  /// Whether every count that satisfies the comparison is at least 1.
  private static func needsOne(_ comparator: GraphPredicate.Comparator, _ constants: [Value]) -> Bool {
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

  private func rank(of subject: IndexedExpression) -> Int {
    // A calculation reads more than a path; a range is even less selective.
    guard let path = subject.path else { return 16 }
    let way = min(path.hops.count, 4)
    switch path.end {
    case .identifier: return way
    case .count, .aggregate: return 12 + way
    case .property(let number):
      guard let attribute = model.property(number)?.attribute else { return 4 + way }
      if model.entities.contains(where: { $0.uniquenessConstraints.contains([number]) }) { return 2 + way }
      return (attribute.kind == .bool || attribute.kind == .enumeration ? 11 : 5) + way
    }
  }
}

extension IndexedExpression {
  /// Whether the subject's values are ids.
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
