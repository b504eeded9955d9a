extension Attribute {
  /// The value in its stored form; nil if it does not have the attribute's type. Null is valid for every type,
  /// because optionality is a rule.
  public func checked(_ value: Value) -> Value? {
    switch (kind, value) {
    case (_, .null), (.bool, .bool), (.integer, .integer), (.decimal, .decimal), (.string, .string), (.text, .string),
      (.uuid, .uuid), (.data, .data):
      value
    case (.date, .date(let time)): RFC3339.range.contains(time) ? value : nil
    // NaN and infinities have no order and no JSON form.
    case (.double, .double(let number)): number.isFinite ? .double(number == 0 ? 0 : number) : nil
    case (.double, .integer(let number)): .double(Double(number))
    case (.uri, .string(let text)): Value.isURI(text) ? value : nil
    case (.enumeration, .string(let name)): cases.contains { UTF8Comparison.equal($0, name) } ? value : nil
    case (.json, .string(let text)): Self.document(text).map { .string($0.text) }
    default: nil
    }
  }

  /// Nil for invalid JSON, and for the document `null`, which a reader could not distinguish from a missing value.
  private static func document(_ text: String) -> JSON? {
    guard let document = try? JSON(parsing: text), document != .null else { return nil }
    return document
  }

  /// The attribute's type in messages for people.
  public var typeDescription: String {
    switch kind {
    case .enumeration: "enumeration (\(cases.joined(separator: ", ")))"
    case .json: "json (any document but null)"
    default: kind.rawValue
    }
  }

  /// Whether `brokenRules` can return a rule for any value.
  var hasRules: Bool {
    !minimum.isNull || !maximum.isNull || minimumLength != nil || maximumLength != nil || expression != nil
  }

  /// The rules that a value of the right type breaks, each with the end of a sentence.
  func brokenRules(_ value: Value) -> [(rule: String, message: String)] {
    var broken = [(String, String)]()
    if !minimum.isNull, Value.order(value, minimum) == .ascending {
      broken.append(("minimum", "is less than \(minimum.json(kind: kind).text)"))
    }
    if !maximum.isNull, Value.order(value, maximum) == .descending {
      broken.append(("maximum", "is more than \(maximum.json(kind: kind).text)"))
    }
    if minimumLength != nil || maximumLength != nil {
      let length: Int =
        switch value {
        case .string(let text): text.utf8.count
        case .data(let bytes): bytes.count
        default: 0
        }
      let bytes = length == 1 ? "1 byte" : "\(length) bytes"
      if let minimumLength, length < minimumLength {
        broken.append(("minimumLength", "has \(bytes); the minimum is \(minimumLength)"))
      }
      if let maximumLength, length > maximumLength {
        broken.append(("maximumLength", "has \(bytes); the maximum is \(maximumLength)"))
      }
    }
    if let expression, let pattern, case .string(let text) = value, !expression.matchesWhole(text) {
      broken.append(("pattern", "does not match \(pattern)"))
    }
    return broken
  }
}

extension Property {
  /// The property's own rules that a value breaks, each with the end of a sentence.
  package func brokenRules(_ value: Value) -> [(rule: String, message: String)] {
    if value.isNull { return isOptional ? [] : [("required", "needs a value")] }
    guard let attribute else { return [] }
    return attribute.brokenRules(value)
  }
}

/// The values of a property that need a check of its own rules. Most properties need none, which saves time for
/// thousands of objects.
enum RuleCheck: UInt8 {
  case never, ofNull, always

  init(_ property: Property) {
    let hasRules = property.attribute?.hasRules == true
    self = hasRules ? .always : property.isOptional ? .never : .ofNull
  }

  func isDue(for value: Value) -> Bool {
    switch self {
    case .never: false
    case .ofNull: value.isNull
    case .always: true
    }
  }
}
