extension GraphPredicate {
  /// The canonical text form: parsing it gives this predicate back. It is what travels, and what tells equal queries.
  public func text(in model: Model) -> String {
    switch self {
    case .always: "TRUEPREDICATE"
    case .never: "FALSEPREDICATE"
    case .and(let parts): parts.map { $0.operandText(in: model) }.joined(separator: " AND ")
    case .or(let parts): parts.map { $0.operandText(in: model) }.joined(separator: " OR ")
    case .not(let inner): "NOT \(inner.operandText(in: model))"
    case .comparison(let comparison): comparison.text(in: model)
    }
  }

  private func operandText(in model: Model) -> String {
    switch self {
    case .and, .or, .not: "(\(text(in: model)))"
    default: text(in: model)
    }
  }
}

extension GraphPredicate.Comparison {
  func text(in model: Model) -> String {
    var parts = [String]()
    if quantifier != .one { parts.append(quantifier.rawValue) }
    parts.append(path.text(in: model))
    var letters = ""
    if options.contains(.caseInsensitive) { letters += "c" }
    if options.contains(.diacriticInsensitive) { letters += "d" }
    parts.append(comparator.rawValue + (letters.isEmpty ? "" : "[\(letters)]"))
    let kind = path.attribute(in: model)?.kind
    switch operand {
    case .value(let value): parts.append(Self.literal(value, kind))
    case .list(let values): parts.append("{" + values.map { Self.literal($0, kind) }.joined(separator: ", ") + "}")
    case .path(let other): parts.append(other.text(in: model))
    }
    return parts.joined(separator: " ")
  }

  private static func literal(_ value: Value, _ kind: Attribute.Kind?) -> String {
    switch value {
    case .null: "NULL"
    case .bool(let value): value ? "TRUE" : "FALSE"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): quoted(text)
    default: quoted(value.json(kind: kind).stringValue ?? "")
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result.unicodeScalars.append(contentsOf: ["\\", scalar])
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

extension GraphPredicate.Path {
  func text(in model: Model) -> String {
    var names = hops.map { model.property($0)?.name ?? "?" }
    switch end {
    case .property(let number): names.append(model.property(number)?.name ?? "?")
    case .count(let number): names += [model.property(number)?.name ?? "?", "@count"]
    case .identifier:
      // A path that ends at a to-many compares ids by itself; an explicit `id` says the same.
      names.append("id")
    }
    return names.joined(separator: ".")
  }

  /// The attribute at the end; nil for a relationship, an id or a count.
  func attribute(in model: Model) -> Attribute? {
    if case .property(let number) = end { model.property(number)?.attribute } else { nil }
  }
}
