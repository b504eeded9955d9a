/// A test of an object's own values only. Such predicates are by far the most common, and each commit evaluates them
/// for its candidates. Passing the context that paths need (the object's id, a source, the outer objects of a
/// subquery) costs more than the comparison itself, as does a closure's context; therefore these are objects.
protocol ImagePredicate: AnyObject, Sendable {
  /// - Parameter values: the object's values, by slot.
  func holds(_ values: [Value]) -> Bool
}

extension PredicateEvaluator {
  /// The predicate as a single test of own values; nil if it compares two of them, or reads other objects.
  static func imagePredicate(_ predicate: GraphPredicate, _ model: Model) -> (any ImagePredicate)? {
    switch predicate {
    case .always: return ConstantTest(true)
    case .never: return ConstantTest(false)
    case .and(let parts): return imagePredicate(parts, model).map { compound($0, all: true) }
    case .or(let parts): return imagePredicate(parts, model).map { compound($0, all: false) }
    case .not(let inner): return imagePredicate(inner, model).map(NegatedTest.init)
    case .comparison(let comparison): return imagePredicate(comparison, model)
    }
  }

  private static func compound(_ parts: [any ImagePredicate], all: Bool) -> any ImagePredicate {
    let joined = SearchTest.joined(parts, all: all)
    return joined.count == 1 ? joined[0] : CompoundTest(joined, all: all)
  }

  private static func imagePredicate(_ parts: [GraphPredicate], _ model: Model) -> [any ImagePredicate]? {
    let tests = parts.compactMap { imagePredicate($0, model) }
    return tests.count == parts.count ? tests : nil
  }

  /// The test for a property of the object itself and a constant.
  static func imagePredicate(_ comparison: GraphPredicate.Comparison, _ model: Model) -> (any ImagePredicate)? {
    guard comparison.quantifier == .one, let path = comparison.path, path.level == 0, path.hops.isEmpty,
      case .property(let number) = path.end, let slot = model.property(number)?.slot, comparison.right.isConstant
    else { return nil }
    if comparison.comparator == .search, case .string(let text) = comparison.right.constant {
      return SearchTest(slot: slot, searches: [text.words])
    }
    let any = GeneralPredicate(slot: slot, match: ValueMatcher(comparison))
    guard comparison.options.isEmpty, case .value(let constant) = comparison.right,
      let relation = OrderingComparator(comparison.comparator)
    else { return any }
    switch constant {
    case .integer(let bound): return IntegerPredicate(slot, relation, bound, isDate: false, any)
    case .date(let bound): return IntegerPredicate(slot, relation, bound, isDate: true, any)
    case .double(let bound): return DoubleTest(slot, relation, bound, any)
    case .string(let bound): return StringTest(slot, relation, bound, any)
    case .bool, .object: return relation.isEquality ? IdentityPredicate(slot, constant, relation == .equal, any) : any
    default: return any
    }
  }
}

// MARK: - Joining

final class ConstantTest: ImagePredicate {
  private let result: Bool

  init(_ result: Bool) { self.result = result }

  func holds(_ values: [Value]) -> Bool { result }
}

final class NegatedTest: ImagePredicate {
  let inner: any ImagePredicate

  init(_ inner: any ImagePredicate) { self.inner = inner }

  func holds(_ values: [Value]) -> Bool { !inner.holds(values) }
}

private final class CompoundTest: ImagePredicate {
  private let parts: [any ImagePredicate]
  private let all: Bool

  init(_ parts: [any ImagePredicate], all: Bool) {
    self.parts = parts
    self.all = all
  }

  func holds(_ values: [Value]) -> Bool {
    for part in parts where part.holds(values) != all { return !all }
    return all
  }
}

// MARK: - Comparing

/// The comparators that depend on the order of the two values only.
private enum OrderingComparator {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

  init?(_ comparator: GraphPredicate.Comparator) {
    switch comparator {
    case .equal: self = .equal
    case .notEqual: self = .notEqual
    case .less: self = .less
    case .lessOrEqual: self = .lessOrEqual
    case .greater: self = .greater
    case .greaterOrEqual: self = .greaterOrEqual
    default: return nil
    }
  }

  var isEquality: Bool { self == .equal || self == .notEqual }

  /// Uses the definition of `Value.order`, under which values that are neither less nor greater are equal, even NaN.
  @inline(__always)
  func holds<Bound: Comparable>(_ left: Bound, _ right: Bound) -> Bool {
    switch self {
    case .equal: left == right
    case .notEqual: left != right
    case .less: left < right
    case .lessOrEqual: !(right < left)
    case .greater: right < left
    case .greaterOrEqual: !(left < right)
    }
  }
}

/// The general comparison. The other tests also use it for values of another type than their constant's, so that all
/// have the same semantics.
private final class GeneralPredicate: ImagePredicate {
  private let slot: Int
  private let match: ValueMatcher

  init(slot: Int, match: ValueMatcher) {
    self.slot = slot
    self.match = match
  }

  func holds(_ values: [Value]) -> Bool { match(slot < values.count ? values[slot] : .null, .constant) }
}

/// Tests integers and dates. Not a generic class shared with the next one: unspecialized witness calls cost four
/// times as much.
private final class IntegerPredicate: ImagePredicate {
  private let slot: Int
  private let relation: OrderingComparator
  private let bound: Int64
  private let isDate: Bool
  private let other: GeneralPredicate

  init(_ slot: Int, _ relation: OrderingComparator, _ bound: Int64, isDate: Bool, _ other: GeneralPredicate) {
    (self.slot, self.relation, self.bound, self.isDate, self.other) = (slot, relation, bound, isDate, other)
  }

  func holds(_ values: [Value]) -> Bool {
    guard slot < values.count else { return other.holds(values) }
    switch values[slot] {
    case .integer(let value) where !isDate: return relation.holds(value, bound)
    case .date(let value) where isDate: return relation.holds(value, bound)
    default: return other.holds(values)
    }
  }
}

private final class DoubleTest: ImagePredicate {
  private let slot: Int
  private let relation: OrderingComparator
  private let bound: Double
  private let other: GeneralPredicate

  init(_ slot: Int, _ relation: OrderingComparator, _ bound: Double, _ other: GeneralPredicate) {
    (self.slot, self.relation, self.bound, self.other) = (slot, relation, bound, other)
  }

  func holds(_ values: [Value]) -> Bool {
    guard slot < values.count, case .double(let value) = values[slot] else { return other.holds(values) }
    return relation.holds(value, bound)
  }
}

private final class StringTest: ImagePredicate {
  private let slot: Int
  private let relation: OrderingComparator
  private let bound: String
  private let other: GeneralPredicate

  init(_ slot: Int, _ relation: OrderingComparator, _ bound: String, _ other: GeneralPredicate) {
    (self.slot, self.relation, self.bound, self.other) = (slot, relation, bound, other)
  }

  func holds(_ values: [Value]) -> Bool {
    guard slot < values.count, case .string(let value) = values[slot] else { return other.holds(values) }
    switch relation {
    case .equal: return UTF8Comparison.equal(value, bound)
    case .notEqual: return !UTF8Comparison.equal(value, bound)
    default: break
    }
    switch UTF8Comparison.order(value, bound) {
    case .ascending: return relation == .less || relation == .lessOrEqual
    case .same: return relation == .lessOrEqual || relation == .greaterOrEqual
    case .descending: return relation == .greater || relation == .greaterOrEqual
    }
  }
}

/// Tests booleans and references for equality.
private final class IdentityPredicate: ImagePredicate {
  private let slot: Int
  private let bound: Value
  private let wanted: Bool
  private let other: GeneralPredicate

  init(_ slot: Int, _ bound: Value, _ wanted: Bool, _ other: GeneralPredicate) {
    (self.slot, self.bound, self.wanted, self.other) = (slot, bound, wanted, other)
  }

  func holds(_ values: [Value]) -> Bool {
    guard slot < values.count else { return other.holds(values) }
    switch (values[slot], bound) {
    case (.bool(let value), .bool(let bound)): return (value == bound) == wanted
    case (.object(let value), .object(let bound)): return (value == bound) == wanted
    default: return other.holds(values)
    }
  }
}
