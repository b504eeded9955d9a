/// The effect of a changed attribute type on stored values; docs/model-format.md has the table.
enum TypeChange {
  case same
  /// The stored form is the same; no row is rewritten.
  case inPlace
  /// Every value has a form in the new type; all rows are rewritten.
  case rewritten
  /// There is no conversion; a mapping is needed.
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
    // An integer in the column would be divided as an integer.
    case (.integer, .decimal), (.integer, .double): self = .rewritten
    case (.bool, _) where texts.contains(new), (.integer, _) where texts.contains(new): self = .rewritten
    case (.double, _) where texts.contains(new), (.decimal, _) where texts.contains(new): self = .rewritten
    case (.date, _) where texts.contains(new), (.uuid, _) where texts.contains(new): self = .rewritten
    default: self = .unknown
    }
  }

  /// Whether some values of the old type are not values of the new one.
  static func mayFail(from old: Attribute.Kind, to new: Attribute.Kind) -> Bool {
    [.enumeration, .uri].contains(new) && [.string, .text].contains(old)
  }
}

extension Property {
  /// The value of an older version of the property in this one's form: a bool that has become an integer.
  public func widened(_ value: Value) -> Value {
    switch (attribute?.kind, value) {
    case (.integer, .bool(let value)): .integer(value ? 1 : 0)
    default: value
    }
  }

  /// The value of another type converted to this property's type, if `TypeChange` is `rewritten`. Null stays null.
  public func converted(_ value: Value, of old: Property) -> Value {
    if relationship != nil { return .objects(value.objectIDs) }
    guard let attribute, let kind = old.attribute?.kind, !value.isNull else { return .null }
    let json = value.json(kind: kind)
    switch attribute.kind {
    case .string, .text: return .string(json.stringValue ?? json.text)
    default: return Value(json: json, kind: attribute.kind, cases: attribute.cases).orNull
    }
  }
}
