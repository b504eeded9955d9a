/// The value of a variable in a named fetch request.
public enum TemplateArgument: Hashable, Sendable {
  /// JSON, which is converted to the type of the operand that it is compared with.
  case json(JSON)
  /// A value of the variable's type.
  case value(Value, GraphValueType)
  /// The elements of a list, of the variable's type.
  case list([Value], GraphValueType)
}

extension TemplateArgument {
  /// The term for a single value; nil for a list.
  func term(at place: Int) -> PredicateParser.Term? {
    switch self {
    case .json(let json): .literal(json, at: place)
    case .value(let value, let type): Self.term(value, type, at: place)
    case .list: nil
    }
  }

  /// The terms for a list; nil for a single value.
  func terms(at place: Int) -> [PredicateParser.Term]? {
    switch self {
    case .json(let json): json.arrayValue?.map { .literal($0, at: place) }
    case .list(let values, let type): values.map { Self.term($0, type, at: place) }
    case .value: nil
    }
  }

  /// A literal for types with a JSON form, which take the type of the other operand. Otherwise a typed constant.
  private static func term(_ value: Value, _ type: GraphValueType, at place: Int) -> PredicateParser.Term {
    switch type {
    case .null, .bool, .integer, .double, .string: .literal(value.json(kind: nil), at: place)
    case .decimal, .date, .duration, .uuid, .data, .object:
      .typed(PredicateParser.Operand(expression: .value(value), type: value.isNull ? .null : type), at: place)
    }
  }
}
