/// The estimated cost of evaluating a predicate once, in steps. The evaluation of a text of more than 1 KiB takes more,
/// which `Cancellation` counts. A step takes some nanoseconds.
extension GraphPredicate {
  /// The steps of all comparisons, including those in subqueries.
  public var evaluationSteps: Int {
    var steps = 1
    forEachComparison { comparison, _ in steps += comparison.evaluationSteps }
    return steps
  }
}

extension GraphPredicate.Comparison {
  private static let baseSteps = 4
  /// Reading and folding a text, and preparing the search in it.
  private static let textSteps = 64

  fileprivate var evaluationSteps: Int {
    var steps = Self.baseSteps + left.evaluationSteps + right.evaluationSteps
    if !options.isEmpty { steps += Self.textSteps }
    switch comparator {
    case .like, .matches, .contains, .beginsWith, .endsWith, .search:
      steps += Self.textSteps
      if case .value(.string(let pattern)) = right { steps += pattern.utf8.count }
    default: break
    }
    return steps
  }
}

extension GraphExpression {
  private static let functionSteps = 32

  /// The steps without those of a subquery's predicate. The elements of a constant list are in a set.
  fileprivate var evaluationSteps: Int {
    switch self {
    case .value, .list, .variable: 0
    case .expressions(let parts): parts.reduce(0) { $0 + $1.evaluationSteps }
    case .path(let path): 1 + path.hops.count
    case .arithmetic(_, _, let left, let right): 4 + left.evaluationSteps + right.evaluationSteps
    case .function(_, let parts): parts.reduce(Self.functionSteps) { $0 + $1.evaluationSteps }
    case .subquery(_, let hops, _): 4 + hops.count
    }
  }
}
