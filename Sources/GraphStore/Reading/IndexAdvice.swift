import GraphModel

/// Which attributes an index would help, as far as condition and order tell: only those of which it holds whatever the
/// store has. An AND is led by one of its parts, an OR only where each of its parts is.
enum IndexAdvice {
  /// `Entity.attribute` of the entity that declares it, in the order in which they are met.
  static func attributes(for request: FetchRequest, in model: Model) -> [String] {
    (lead(request.predicate, model)?.candidates ?? order(request, model)).filter { !$0.isIndexed }.map(\.name)
  }

  /// Those that have an index already. SQLite may think the order of ids the cheaper way.
  static func indexedAttributes(for request: FetchRequest, in model: Model) -> [String] {
    lead(request.predicate, model)?.candidates.filter(\.isIndexed).map(\.name) ?? []
  }

  /// Whether an index would help with the order alone, and the condition is asked of each object that comes in it.
  static func isForOrder(_ request: FetchRequest, in model: Model) -> Bool {
    request.predicate != .always && lead(request.predicate, model) == nil
  }

  /// Whether nothing but a limit on one side, above or below, could use an index. SQLite takes a quarter of all objects to
  /// lie beyond it, and reads them in the order of ids all the same, unless the fetch is sorted by the attribute.
  static func isOneSided(_ request: FetchRequest, in model: Model) -> Bool {
    guard let lead = lead(request.predicate, model), lead.isOneSided else { return false }
    guard let key = request.sort.first, key.isByStoredValue, key.path.hops.isEmpty,
      case .property(let number) = key.path.end
    else { return true }
    return lead.sides[number] == nil
  }

  private struct Candidate: Equatable {
    let name: String
    let isIndexed: Bool
  }

  /// What leads to the objects that satisfy a condition.
  private struct Lead {
    /// Nothing is missing where there are none: ids and references have indexes of their own.
    var candidates = [Candidate]()
    /// Which ends ranges of the objects' own attributes have.
    var sides = [PropertyNumber: Set<Bool>]()
    var hasOthers = false

    var isOneSided: Bool { !hasOthers && !sides.isEmpty && sides.values.allSatisfy { $0.count == 1 } }

    mutating func add(_ other: Lead) {
      for candidate in other.candidates where !candidates.contains(candidate) { candidates.append(candidate) }
      sides.merge(other.sides) { $0.union($1) }
      hasOthers = hasOthers || other.hasOthers
    }
  }

  /// Nil where no index leads.
  private static func lead(_ predicate: GraphPredicate, _ model: Model) -> Lead? {
    switch predicate {
    case .and(let parts):
      let leads = parts.compactMap { lead($0, model) }
      if leads.isEmpty { return nil }
      return leads.reduce(into: Lead()) { $0.add($1) }
    case .or(let parts):
      var all = Lead()
      for part in parts {
        guard let lead = lead(part, model), !lead.isOneSided else { return nil }
        all.add(lead)
      }
      (all.sides, all.hasOthers) = ([:], true)
      return all
    case .comparison(let comparison):
      guard let path = comparison.path, canUseIndex(comparison), let candidates = candidates(path, model) else {
        return nil
      }
      if path.hops.isEmpty, case .property(let number) = path.end {
        switch comparison.comparator {
        case .less, .lessOrEqual: return Lead(candidates: candidates, sides: [number: [false]])
        case .greater, .greaterOrEqual: return Lead(candidates: candidates, sides: [number: [true]])
        default: break
        }
      }
      return Lead(candidates: candidates, hasOthers: true)
    case .always, .never, .not: return nil
    }
  }

  /// An order helps where only its beginning is read.
  private static func order(_ request: FetchRequest, _ model: Model) -> [Candidate] {
    guard request.limit != nil, let key = request.sort.first, key.isByStoredValue, key.path.hops.isEmpty else {
      return []
    }
    return candidates(key.path, model) ?? []
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
    // Behind a path null is also where the path ends early, and whoever leads nowhere is found without the attribute.
    if comparison.path?.hops.isEmpty == false, PredicateSQL.holdsForNull(comparison) { return false }
    switch (comparison.comparator, comparison.right) {
    case (.equal, .value), (.less, .value), (.lessOrEqual, .value), (.greater, .value), (.greaterOrEqual, .value),
      (.beginsWith, .value), (.in, .list), (.between, .list):
      return true
    default: return false
    }
  }
}
