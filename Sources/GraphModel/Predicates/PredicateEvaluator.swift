/// A compiled predicate, for repeated evaluation: names are resolved to slots, strings folded, patterns parsed. The
/// SQL that `GraphStore` generates has the same semantics; a test compares the two on random graphs.
public struct PredicateEvaluator: Sendable {
  typealias Test = @Sendable (EvaluationContext) -> Bool

  /// The test for predicates that read own values only; valid if `isOwn`. Not optional, because unwrapping an
  /// optional retains it for each object, which is a quarter of the cost of a comparison.
  private let own: any ImagePredicate
  private let isOwn: Bool
  private let test: Test
  /// Whether a path occurs several times, so that its values are kept while an object is evaluated. A chain of
  /// thousands of comparisons would otherwise read the path's objects for each.
  private let repeatsPaths: Bool

  /// Compiles the predicate against its model.
  public init(_ predicate: GraphPredicate, model: Model) {
    if let own = Self.imagePredicate(predicate, model) {
      (isOwn, self.own, repeatsPaths) = (true, own, false)
      // The test reads the same object; patterns are prepared once.
      test = { own.holds($0.image.values) }
    } else {
      (isOwn, own, repeatsPaths) = (false, ConstantTest(false), predicate.repeatsPaths)
      test = Self.compile(predicate, model)
    }
  }

  /// Whether the object's own image matches. Its entity is not checked.
  public func matches(_ image: ObjectImage) -> Bool {
    if isOwn { return own.holds(image.values) }
    return test(EvaluationContext(image: image, source: NoImageSource()))
  }

  /// Whether the object matches. Its entity is not checked.
  /// - Parameter source: resolves paths through relationships.
  public func matches(_ image: ObjectImage, in source: any ImageSource) -> Bool {
    let paths = repeatsPaths ? PathCache(EvaluationBudget(total: .max, share: .max)) : nil
    return matches(EvaluationContext(image: image, source: source, paths: paths))
  }

  func matches(_ context: EvaluationContext) -> Bool {
    if isOwn { return own.holds(context.image.values) }
    return test(context)
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
      return { context in tests.allSatisfy { $0(context) } }
    case .or(let parts):
      let tests = parts.map { compile($0, model) }
      return { context in tests.contains { $0(context) } }
    case .not(let inner):
      let test = compile(inner, model)
      return { !test($0) }
    case .comparison(let comparison): return compile(comparison, model)
    }
  }

  private static func compile(_ comparison: GraphPredicate.Comparison, _ model: Model) -> Test {
    if let test = imagePredicate(comparison, model) { return { test.holds($0.image.values) } }
    let match = ValueMatcher(comparison)
    let left = ExpressionEvaluator.compile(comparison.left, model)
    let right = operand(comparison.right, model)
    guard comparison.quantifier != .one, let path = comparison.path else { return { match(left($0), right($0)) } }
    let reader = PathReader(path, model)
    switch comparison.quantifier {
    case .one: return { match(left($0), right($0)) }
    case .any:
      return { context in
        let other = right(context)
        return reader.values(context).contains { match($0, other) }
      }
    case .all:
      return { context in
        let other = right(context)
        return reader.values(context).allSatisfy { match($0, other) }
      }
    case .none:
      return { context in
        let other = right(context)
        return !reader.values(context).contains { match($0, other) }
      }
    }
  }

  /// The right side for an object. A constant is passed as `.constant`, as the matcher has its value.
  private static func operand(
    _ expression: GraphExpression, _ model: Model
  ) -> @Sendable (EvaluationContext) -> ValueMatcher.Operand {
    switch expression {
    case .value, .list: return { _ in .constant }
    case .expressions(let parts):
      let parts = parts.map { ExpressionEvaluator.compile($0, model) }
      return { context in .list(parts.map { $0(context) }) }
    default:
      let read = ExpressionEvaluator.compile(expression, model)
      return { .value(read($0)) }
    }
  }
}
