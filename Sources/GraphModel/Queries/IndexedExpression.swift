/// The source of the values that queries are indexed by.
enum IndexedExpression: Hashable {
  /// The values at the end of a path.
  case path(GraphPredicate.Path)
  /// An expression, calculated for each object at the end of the hops; without hops, for the object itself. If ten
  /// thousand queries compare the same expression with different values, it is calculated once.
  case calculation([PropertyNumber], GraphExpression)

  /// - Parameter way: in a subquery, the hops from a query's object to the one that the expression applies to.
  init?(_ expression: GraphExpression, behind way: [PropertyNumber]) {
    switch expression {
    case .path(var path) where path.level == 0:
      path.hops = way + path.hops
      self = .path(path)
    case .arithmetic, .function:
      // The objects around the subquery are unknown there.
      guard way.isEmpty || expression.paths.allSatisfy({ $0.level == 0 }) && !expression.hasSubqueries else {
        return nil
      }
      self = .calculation(way, expression)
    default: return nil
    }
  }

  var path: GraphPredicate.Path? { if case .path(let path) = self { path } else { nil } }

  func type(in model: Model) -> GraphValueType {
    switch self {
    case .path(let path): path.type(in: model)
    case .calculation(_, let expression): expression.type(in: model)
    }
  }

  /// The properties that the values depend on, of any object.
  func reads(in model: Model) -> Set<PropertyNumber> {
    switch self {
    case .path(let path): GraphExpression.path(path).reads(in: model)
    case .calculation(let way, let expression): expression.reads(behind: way, in: model)
    }
  }

  /// Normalizes a calculated double to an integer if they are equal. Equal numbers of different types have different
  /// hashes.
  static func calculated(_ value: Value) -> Value {
    if case .double(let fraction) = value, let whole = Int64(exactly: fraction) { .integer(whole) } else { value }
  }
}

/// Reads the values of a subject.
struct IndexedExpressionReader: Sendable {
  private enum ReadMethod: Sendable {
    case path(PathReader)
    case own(ExpressionEvaluator.Read)
    case others(PathReader, ExpressionEvaluator.Read)
  }

  private let way: ReadMethod

  init(_ subject: IndexedExpression, _ model: Model) {
    switch subject {
    case .path(let path): way = .path(PathReader(path, model))
    case .calculation([], let expression): way = .own(ExpressionEvaluator.compile(expression, model))
    case .calculation(let hops, let expression):
      way = .others(
        PathReader(GraphPredicate.Path(hops: hops, end: .identifier), model),
        ExpressionEvaluator.compile(expression, model))
    }
  }

  func values(_ judgement: EvaluationContext) -> [Value] {
    switch way {
    case .path(let reader): reader.values(judgement)
    case .own(let read): [IndexedExpression.calculated(read(judgement))]
    case .others(let reader, let read):
      reader.objects(judgement).compactMap { id in
        id.flatMap(judgement.source.image).map { image in
          IndexedExpression.calculated(
            read(EvaluationContext(image: image, source: judgement.source, paths: judgement.paths)))
        }
      }
    }
  }
}
