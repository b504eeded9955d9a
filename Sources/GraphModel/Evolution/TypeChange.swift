/// What becomes of values when an attribute's type changes; docs/model-format.md has the table.
enum TypeChange {
  case same
  /// Stored alike: no row is rewritten.
  case inPlace
  /// Every value has a form in the new type, and is stored anew.
  case rewritten
  /// Only a mapping can say.
  case unknown

  init(from old: Attribute.Kind, to new: Attribute.Kind) {
    let texts: Set<Attribute.Kind> = [.string, .text]
    switch (old, new) {
    case _ where old == new: self = .same
    case (.bool, .integer): self = .inPlace
    case (.string, _) where texts.contains(new), (.text, _) where texts.contains(new): self = .inPlace
    case (.enumeration, _) where texts.contains(new), (.uri, _) where texts.contains(new): self = .inPlace
    case (.json, _) where texts.contains(new): self = .inPlace
    case (.string, .enumeration), (.text, .enumeration), (.string, .uri), (.text, .uri): self = .inPlace
    // A whole number in a column would be divided as one.
    case (.integer, .decimal), (.integer, .double): self = .rewritten
    case (.bool, _) where texts.contains(new), (.integer, _) where texts.contains(new): self = .rewritten
    case (.double, _) where texts.contains(new), (.decimal, _) where texts.contains(new): self = .rewritten
    case (.date, _) where texts.contains(new), (.uuid, _) where texts.contains(new): self = .rewritten
    default: self = .unknown
    }
  }

  /// Not every value of the old type is one of the new.
  static func mayFail(from old: Attribute.Kind, to new: Attribute.Kind) -> Bool {
    [.enumeration, .uri].contains(new) && [.string, .text].contains(old)
  }
}

extension Property {
  /// A value that an older version of the property left, in this one's form: the number that a yes has become.
  public func widened(_ value: Value) -> Value {
    switch (attribute?.kind, value) {
    case (.integer, .bool(let value)): .integer(value ? 1 : 0)
    default: value
    }
  }

  /// A value of another type in this one's, where `TypeChange` says that it is rewritten; null for null.
  public func converted(_ value: Value, of old: Property) -> Value {
    if relationship != nil { return .objects(value.objectIDs) }
    guard let attribute, let kind = old.attribute?.kind, !value.isNull else { return .null }
    let json = value.json(kind: kind)
    switch attribute.kind {
    case .string, .text: return .string(json.stringValue ?? json.text)
    default: return Value(json: json, kind: attribute.kind, cases: attribute.cases) ?? .null
    }
  }
}
