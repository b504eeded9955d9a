/// A compiled expression, for repeated evaluation.
public struct ExpressionEvaluator: Sendable {
  typealias Read = @Sendable (EvaluationContext) -> Value

  private let read: Read

  /// Compiles an expression with one value per object.
  public init(_ expression: GraphExpression, model: Model) {
    read = Self.compile(expression, model)
  }

  /// The expression's value for an object.
  /// - Parameter source: resolves paths through relationships; not needed for an expression that reads the object
  ///   alone.
  public func value(of image: ObjectImage, in source: any ImageSource = NoImageSource()) -> Value {
    read(EvaluationContext(image: image, source: source))
  }

  static func compile(_ expression: GraphExpression, _ model: Model) -> Read {
    switch expression {
    case .value(let value): return { _ in value }
    case .list, .expressions, .variable: return { _ in .null }
    case .path(let path):
      if path.level == 0, path.hops.isEmpty, case .property(let number) = path.end,
        let slot = model.property(number)?.slot
      {
        return { slot < $0.image.values.count ? $0.image.values[slot] : .null }
      }
      let reader = PathReader(path, model)
      return { reader.values($0).first.orNull }
    case .arithmetic(let operation, _, let left, let right):
      let (left, right) = (compile(left, model), compile(right, model))
      return { Arithmetic.apply(operation, left($0), right($0)) }
    case .function(let function, let arguments):
      let arguments = arguments.map { compile($0, model) }
      return { context in function.apply(arguments.map { $0(context) }) }
    case .subquery(let level, let hops, let predicate):
      let reader = PathReader(GraphPredicate.Path(level: level, hops: hops, end: .identifier), model)
      let test = PredicateEvaluator.compile(predicate, model)
      return { context in
        let outer = [context.image] + context.outer
        let count = reader.objects(context).count { id in
          guard let id, let image = context.source.image(of: id) else { return false }
          return test(EvaluationContext(image: image, source: context.source, paths: context.paths, outer: outer))
        }
        return .integer(Int64(count))
      }
    }
  }
}
