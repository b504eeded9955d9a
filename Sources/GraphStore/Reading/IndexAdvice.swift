// Tests: ExplainTests.swift
import GraphModel

/// Advice about attributes that need an index, derived from the condition and the order alone.
///
/// The advice holds for any data; otherwise there is none. An AND can use an index if one of its parts can, an OR only
/// if each of its parts can.
enum IndexAdvice {
  /// The attributes without an index, as `Entity.attribute` of the declaring entity, in order of appearance.
  static func attributes(for request: FetchRequest, in model: Model) -> [String] {
    (accessPath(request.predicate, model)?.candidates ?? order(request, model)).filter { !$0.isIndexed }.map(\.name)
  }

  /// The attributes that have an index. SQLite may still consider a scan in id order cheaper.
  static func indexedAttributes(for request: FetchRequest, in model: Model) -> [String] {
    guard let access = accessPath(request.predicate, model) else { return [] }
    return access.candidates.filter(\.isIndexed).map(\.name)
  }

  /// Whether only the order can use an index, so that the condition is evaluated for each row in that order.
  static func isForOrder(_ request: FetchRequest, in model: Model) -> Bool {
    request.predicate != .always && accessPath(request.predicate, model) == nil
  }

  /// Whether only ranges with a single bound could use an index. SQLite estimates that a quarter of all rows match
  /// such a range, and scans in id order anyway, unless the fetch is sorted by the attribute.
  static func isOneSided(_ request: FetchRequest, in model: Model) -> Bool {
    guard let access = accessPath(request.predicate, model), access.isOneSided else { return false }
    guard let key = request.sort.first, key.isByStoredValue, key.path.hops.isEmpty,
      case .property(let number) = key.path.end
    else { return true }
    return access.sides[number] == nil
  }

  private struct Candidate: Equatable {
    let name: String
    let isIndexed: Bool
  }

  /// The index accesses that can find the matching objects.
  private struct AccessPath {
    /// Empty for ids and references, which always have an index.
    var candidates = [Candidate]()
    /// The bounds of ranges of the objects' own attributes: true for a lower bound, false for an upper one.
    var sides = [PropertyNumber: Set<Bool>]()
    var hasOthers = false

    var isOneSided: Bool { !hasOthers && !sides.isEmpty && sides.values.allSatisfy { $0.count == 1 } }

    mutating func add(_ other: AccessPath) {
      for candidate in other.candidates where !candidates.contains(candidate) { candidates.append(candidate) }
      sides.merge(other.sides) { $0.union($1) }
      hasOthers = hasOthers || other.hasOthers
    }
  }

  /// Nil if no index can be used.
  private static func accessPath(_ predicate: GraphPredicate, _ model: Model) -> AccessPath? {
    switch predicate {
    case .and(let parts):
      let accesses = parts.compactMap { accessPath($0, model) }
      if accesses.isEmpty { return nil }
      return accesses.reduce(into: AccessPath()) { $0.add($1) }
    case .or(let parts):
      var all = AccessPath()
      for part in parts {
        guard let access = accessPath(part, model), !access.isOneSided else { return nil }
        all.add(access)
      }
      (all.sides, all.hasOthers) = ([:], true)
      return all
    case .comparison(let comparison):
      guard let path = comparison.path, canUseIndex(comparison), let candidates = candidates(path, model) else {
        return nil
      }
      if path.hops.isEmpty, case .property(let number) = path.end {
        switch comparison.comparator {
        case .less, .lessOrEqual: return AccessPath(candidates: candidates, sides: [number: [false]])
        case .greater, .greaterOrEqual: return AccessPath(candidates: candidates, sides: [number: [true]])
        default: break
        }
      }
      return AccessPath(candidates: candidates, hasOthers: true)
    case .always, .never, .not: return nil
    }
  }

  /// The index for an order, which helps only if there is a limit.
  private static func order(_ request: FetchRequest, _ model: Model) -> [Candidate] {
    guard request.limit != nil, let key = request.sort.first, key.isByStoredValue, key.path.hops.isEmpty else {
      return []
    }
    guard let candidates = candidates(key.path, model) else { return [] }
    return candidates
  }

  private static func candidates(_ path: GraphPredicate.Path, _ model: Model) -> [Candidate]? {
    guard path.level == 0 else { return nil }
    guard case .property(let number) = path.end else { return path.end == .identifier ? [] : nil }
    guard let property = model.property(number), let owner = model.entity(property.owner) else { return nil }
    guard let attribute = property.attribute else { return [] }
    let isKey = owner.uniquenessConstraints.contains { $0.first == number }
    return [Candidate(name: "\(owner.name).\(property.name)", isIndexed: attribute.isIndexed || isKey)]
  }

  private static func canUseIndex(_ comparison: GraphPredicate.Comparison) -> Bool {
    guard comparison.options.isEmpty, comparison.quantifier == .one || comparison.quantifier == .any else {
      return false
    }
    // After a path, null also means a path that ends early; such objects are found without the attribute's index.
    if comparison.path?.hops.isEmpty == false, PredicateSQL.holdsForNull(comparison) { return false }
    switch (comparison.comparator, comparison.right) {
    case (.equal, .value), (.less, .value), (.lessOrEqual, .value), (.greater, .value), (.greaterOrEqual, .value),
      (.beginsWith, .value), (.in, .list), (.between, .list):
      return true
    default: return false
    }
  }
}
