/// The source of the values that queries are indexed by.
enum IndexedExpression: Hashable {
  /// The values at the end of a path.
  case path(GraphPredicate.Path)
  /// An expression, calculated for each object at the end of the hops; without hops, for the object itself. If ten
  /// thousand queries compare the same expression with different values, it is calculated once.
  case calculation([PropertyNumber], GraphExpression)

  /// - Parameter prefix: in a subquery, the hops from a query's object to the one that the expression applies to.
  init?(_ expression: GraphExpression, after prefix: [PropertyNumber]) {
    switch expression {
    case .path(var path) where path.level == 0:
      path.hops = prefix + path.hops
      self = .path(path)
    case .arithmetic, .function:
      // The objects around the subquery are unknown there.
      guard prefix.isEmpty || expression.paths.allSatisfy({ $0.level == 0 }) && !expression.hasSubqueries else {
        return nil
      }
      self = .calculation(prefix, expression)
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

  /// Normalizes a calculated double to an integer if they are equal. Equal numbers of different types have different
  /// hashes.
  static func calculated(_ value: Value) -> Value {
    if case .double(let fraction) = value, let whole = Int64(exactly: fraction) { .integer(whole) } else { value }
  }
}

/// Reads the values of an indexed expression.
struct IndexedExpressionReader: Sendable {
  private enum ReadMethod: Sendable {
    case path(PathReader)
    case ownImage(ExpressionEvaluator.Read)
    case relatedImages(PathReader, ExpressionEvaluator.Read)
  }

  private let method: ReadMethod

  init(_ indexed: IndexedExpression, _ model: Model) {
    switch indexed {
    case .path(let path): method = .path(PathReader(path, model))
    case .calculation([], let expression): method = .ownImage(ExpressionEvaluator.compile(expression, model))
    case .calculation(let hops, let expression):
      method = .relatedImages(
        PathReader(GraphPredicate.Path(hops: hops, end: .identifier), model),
        ExpressionEvaluator.compile(expression, model))
    }
  }

  /// The values of an object; none if there is no object.
  func values(_ context: EvaluationContext?) -> [Value] {
    guard let context else { return [] }
    switch method {
    case .path(let reader): return reader.values(context)
    case .ownImage(let read): return [IndexedExpression.calculated(read(context))]
    case .relatedImages(let reader, let read):
      return reader.objects(context).compactMap { id in
        id.flatMap(context.source.image).map { image in
          IndexedExpression.calculated(
            read(EvaluationContext(image: image, source: context.source, paths: context.paths)))
        }
      }
    }
  }
}
