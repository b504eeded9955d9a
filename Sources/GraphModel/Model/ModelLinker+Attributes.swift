extension Attribute.Assignment {
  /// The type of an attribute with such values.
  var kind: Attribute.Kind {
    switch self {
    case .sequence, .position: .integer
    case .created, .updated: .date
    case .creator: .string
    }
  }
}

/// Checking an attribute's pattern, default and transience.
extension ModelLinker {
  mutating func checkPattern(of attribute: ModelDraft.Attribute) {
    guard let pattern = attribute.pattern else { return }
    let path = attribute.path + ".pattern"
    guard [.string, .text, .uri].contains(attribute.kind) else {
      return report(path, "is not allowed for the type \(attribute.kind.rawValue)")
    }
    guard expressions[pattern] == nil else { return }
    do {
      expressions[pattern] = try RegularExpression(parsing: pattern)
    } catch {
      report(path, "column \(error.column): \(error.reason)")
    }
  }

  /// Reports a default that breaks the attribute's own rules. Every insert without a value would be refused, and a
  /// migration would fill stores with it.
  mutating func checkDefault(of attribute: ModelDraft.Attribute) {
    guard let json = attribute.json["default"], json != .null, let value = value(json, of: attribute) else { return }
    for (rule, message) in linkedAttribute(attribute).brokenRules(value) {
      report(attribute.path + ".default", "\(message) (\(rule))")
    }
  }

  /// Reports members about rules or storage, because a transient value is neither validated nor stored.
  mutating func checkTransient(_ attribute: ModelDraft.Attribute) {
    guard attribute.isTransient else { return }
    let others = [
      "minimum", "maximum", "minimumLength", "maximumLength", "pattern", "assigned", "indexed", "fullText",
    ]
    for member in others {
      guard let value = attribute.json[member], value != .null, value != .bool(false) else { continue }
      report("\(attribute.path).\(member)", "can't be combined with transient: the value is not stored")
    }
  }

  /// Numbers transients after all other properties. They are not part of the hash, and models with equal hashes must
  /// have equal numbers.
  func numberTransients(of entities: [ModelDraft.Entity], _ numbers: inout [String: PropertyNumber]) {
    for entity in entities {
      let names = entity.attributes.filter(\.isTransient).map(\.name)
      for name in names.sorted(by: { UTF8Comparison.order($0, $1) == .ascending }) {
        numbers["\(entity.name).\(name)"] = PropertyNumber(numbers.count + 1)
      }
    }
  }
}
