/// A predicate ready to be asked many times: names resolved to slots, strings folded, patterns read. The SQL that
/// `GraphStore` makes of a predicate has the same meaning; a test compares the two on random graphs.
public struct PredicateEvaluator: Sendable {
  typealias Test = @Sendable (Judgement) -> Bool

  private let test: Test

  /// Resolves the predicate against the model that it was made for.
  public init(_ predicate: GraphPredicate, model: Model) {
    test = Self.compile(predicate, model)
  }

  /// Whether the object belongs to the result. Its entity is not looked at.
  /// - Parameter source: where paths through relationships lead; none for a predicate that reads the object alone.
  public func matches(_ image: ObjectImage, in source: any ImageSource = NoImageSource()) -> Bool {
    test(Judgement(image: image, source: source))
  }

  static func compile(_ predicate: GraphPredicate, _ model: Model) -> Test {
    switch predicate {
    case .always: return { _ in true }
    case .never: return { _ in false }
    case .and(let parts):
      let tests = parts.map { compile($0, model) }
      if tests.count == 2 {
        let (first, second) = (tests[0], tests[1])
        return { first($0) && second($0) }
      }
      return { judgement in tests.allSatisfy { $0(judgement) } }
    case .or(let parts):
      let tests = parts.map { compile($0, model) }
      return { judgement in tests.contains { $0(judgement) } }
    case .not(let inner):
      let test = compile(inner, model)
      return { !test($0) }
    case .comparison(let comparison): return compile(comparison, model)
    }
  }

  private static func compile(_ comparison: GraphPredicate.Comparison, _ model: Model) -> Test {
    if let test = simple(comparison, model) { return test }
    let match = ValueMatcher(comparison)
    let left = ExpressionEvaluator.compile(comparison.left, model)
    let right = operand(comparison.right, model)
    guard comparison.quantifier != .one, let path = comparison.path else { return { match(left($0), right($0)) } }
    let reader = PathReader(path, model)
    switch comparison.quantifier {
    case .one: return { match(left($0), right($0)) }
    case .any:
      return { judgement in
        let other = right(judgement)
        return reader.values(judgement).contains { match($0, other) }
      }
    case .all:
      return { judgement in
        let other = right(judgement)
        return reader.values(judgement).allSatisfy { match($0, other) }
      }
    case .none:
      return { judgement in
        let other = right(judgement)
        return !reader.values(judgement).contains { match($0, other) }
      }
    }
  }

  /// What a right side comes to for an object; nothing that changes for a constant, which the matcher knows.
  private static func operand(
    _ expression: GraphExpression, _ model: Model
  ) -> @Sendable (Judgement) -> ValueMatcher.Operand {
    switch expression {
    case .value, .list: return { _ in .constant }
    case .expressions(let parts):
      let parts = parts.map { ExpressionEvaluator.compile($0, model) }
      return { judgement in .list(parts.map { $0(judgement) }) }
    default:
      let read = ExpressionEvaluator.compile(expression, model)
      return { .value(read($0)) }
    }
  }

  /// By far the most common: one property of the object itself against a constant. Numbers and dates are compared without
  /// a look at anything else.
  private static func simple(_ comparison: GraphPredicate.Comparison, _ model: Model) -> Test? {
    guard comparison.quantifier == .one, let path = comparison.path, path.level == 0, path.hops.isEmpty,
      case .property(let number) = path.end, let slot = model.property(number)?.slot, comparison.right.isConstant
    else { return nil }
    if comparison.options.isEmpty, case .value(let constant) = comparison.right,
      let test = numeric(comparison.comparator, slot, constant)
    {
      return test
    }
    let match = ValueMatcher(comparison)
    return { match(slot < $0.image.values.count ? $0.image.values[slot] : .null, .constant) }
  }

  private static func numeric(_ comparator: GraphPredicate.Comparator, _ slot: Int, _ constant: Value) -> Test? {
    switch constant {
    case .integer(let bound):
      return numeric(comparator, slot, bound) { if case .integer(let a) = $0 { a } else { nil } }
    case .date(let bound): return numeric(comparator, slot, bound) { if case .date(let a) = $0 { a } else { nil } }
    default: return nil
    }
  }

  @inline(__always)
  private static func numeric(
    _ comparator: GraphPredicate.Comparator, _ slot: Int, _ bound: Int64,
    _ read: @escaping @Sendable (borrowing Value) -> Int64?
  ) -> Test? {
    @Sendable func value(_ judgement: Judgement) -> Int64? {
      slot < judgement.image.values.count ? read(judgement.image.values[slot]) : nil
    }
    switch comparator {
    case .equal: return { value($0) == bound }
    case .notEqual: return { value($0) != bound }
    case .less: return { value($0).map { $0 < bound } ?? false }
    case .lessOrEqual: return { value($0).map { $0 <= bound } ?? false }
    case .greater: return { value($0).map { $0 > bound } ?? false }
    case .greaterOrEqual: return { value($0).map { $0 >= bound } ?? false }
    default: return nil
    }
  }
}
