import GraphModel

/// Converting attributes: types, defaults, limits, patterns, derivations.
extension VersionConverter {
  /// The type in a model file; nil for a type without values.
  private static let types: [SourceType: String] = [
    .integer16: "integer", .integer32: "integer", .integer64: "integer", .decimal: "decimal", .double: "double",
    .float: "double", .string: "string", .boolean: "bool", .date: "date", .binary: "data", .uuid: "uuid",
    .uri: "uri", .transformable: "data", .composite: "composite",
  ]

  /// The converted attribute; nil if it has no counterpart.
  mutating func attribute(_ attribute: CoreDataModel.Attribute, in owner: String) -> AttributeDraft? {
    let subject = "\(owner).\(attribute.name)"
    guard let source = attribute.type.flatMap(SourceType.init), let type = Self.types[source] else {
      log.leaveOut(
        attribute.place, subject,
        attribute.type.map { "an attribute of the type \($0), which has no stored form" }
          ?? "an attribute without a type")
      return nil
    }
    var converted = AttributeDraft(
      source: attribute.name, type: type, sourceType: attribute.type, identifier: attribute.renamingIdentifier,
      place: attribute.place, isOptional: attribute.isOptional)
    if source == .composite {
      guard draft.composites.contains(where: { $0.source == attribute.composite }) else {
        log.leaveOut(attribute.place, subject, "an attribute of a composite without attributes")
        return nil
      }
      converted.composite = attribute.composite
      leaveOutSettings(of: attribute, subject, Array(attribute.settings.keys), because: "its attributes may have it")
      leaveOutMarks(of: attribute, subject)
      return converted
    }
    if source == .transformable { reportTransformable(attribute, subject) }
    setDefault(attribute, source, subject, &converted)
    if attribute.isTransient {
      leaveOutRules(of: attribute, subject)
      converted.set("transient", .bool(true))
      return converted
    }
    setLimits(attribute, source, subject, &converted)
    if let range = Self.ranges[source], attribute.derivation == nil {
      setRange(range, attribute, subject, &converted)
    }
    if let pattern = attribute.settings["regularExpressionString"] {
      if source == .string || source == .uri {
        converted.set("pattern", .string(pattern.text))
      } else {
        log.leaveOut(
          pattern.place, subject, "the regular expression \"\(pattern.text.excerpt)\" of a \(source.rawValue)")
      }
    }
    if attribute.isIndexed { converted.set("indexed", .bool(true)) }
    if let expression = attribute.derivation { setDerivation(expression, attribute, source, subject, &converted) }
    return converted
  }

  private mutating func reportTransformable(_ attribute: CoreDataModel.Attribute, _ subject: String) {
    let names = [
      attribute.className.map { "the class \($0)" }, attribute.valueTransformer.map { "the transformer \($0)" },
    ]
    let words = names.compactMap { $0 }.joined(separator: " and ")
    let advice = words.isEmpty ? "" : "; a program applies \(words)"
    log.add(.changed, attribute.place, subject, "a transformable is kept as data, as it was archived\(advice)")
  }

  /// Reports settings that the attribute can't have.
  private mutating func leaveOutSettings(
    of attribute: CoreDataModel.Attribute, _ subject: String, _ names: [String], because reason: String
  ) {
    for name in names.sorted() {
      guard let setting = attribute.settings[name] else { continue }
      log.leaveOut(setting.place, subject, "\(name)=\"\(setting.text.excerpt)\": \(reason)")
    }
  }

  /// Reports the rules and the index of a transient attribute.
  private mutating func leaveOutRules(of attribute: CoreDataModel.Attribute, _ subject: String) {
    let reason = "a transient attribute is not validated or stored"
    let rules = attribute.settings.keys.filter { !$0.hasPrefix("default") }
    leaveOutSettings(of: attribute, subject, Array(rules), because: reason)
    if attribute.isIndexed { log.leaveOut(attribute.place, subject, "indexed=\"YES\": \(reason)") }
    if let expression = attribute.derivation {
      log.leaveOut(attribute.place, subject, "the derivation \(expression.excerpt(of: 200)): \(reason)")
    }
  }

  private mutating func leaveOutMarks(of attribute: CoreDataModel.Attribute, _ subject: String) {
    let marks = [
      (attribute.isTransient, "transient"), (attribute.isIndexed, "indexed"), (attribute.derivation != nil, "derived"),
    ]
    for (isSet, name) in marks where isSet {
      log.leaveOut(attribute.place, subject, "\(name)=\"YES\": a composite can't be \(name)")
    }
  }

  // MARK: - Values

  private mutating func setDefault(
    _ attribute: CoreDataModel.Attribute, _ source: SourceType, _ subject: String, _ converted: inout AttributeDraft
  ) {
    for name in ["defaultValueString", "defaultDateTimeInterval"] {
      guard let setting = attribute.settings[name] else { continue }
      let isOfType = (source == .date) == (name == "defaultDateTimeInterval")
      guard isOfType, let value = Self.value(setting.text, source) else {
        // Apps use such dates for "never".
        let isDistant = isOfType && source == .date && Double(setting.text).map(\.isFinite) == true
        log.leaveOut(
          setting.place, subject,
          isDistant
            ? "the default \"\(setting.text.excerpt)\", in seconds since 2001: it is outside of the years 0001 to 9999"
            : "the default \"\(setting.text.excerpt)\": it is not a value of the type \(source.rawValue)")
        continue
      }
      converted.set("default", value)
    }
  }

  private mutating func setLimits(
    _ attribute: CoreDataModel.Attribute, _ source: SourceType, _ subject: String, _ converted: inout AttributeDraft
  ) {
    let limits = [
      ("minValueString", "minimum"), ("maxValueString", "maximum"), ("minDateTimeInterval", "minimum"),
      ("maxDateTimeInterval", "maximum"),
    ]
    for (name, member) in limits {
      guard let setting = attribute.settings[name] else { continue }
      let isInterval = name.hasSuffix("Interval")
      if source == .string, !isInterval {
        setLength(setting, member, subject, &converted)
      } else if source == .date ? isInterval : Self.numbers.contains(source) && !isInterval,
        let value = Self.value(setting.text, source)
      {
        converted.set(member, value)
      } else {
        log.leaveOut(
          setting.place, subject,
          "the \(member) \"\(setting.text.excerpt)\": it is not a limit of the type \(source.rawValue)")
      }
    }
  }

  private static let ranges: [SourceType: ClosedRange<Int64>] = [
    .integer16: Int64(Int16.min)...Int64(Int16.max), .integer32: Int64(Int32.min)...Int64(Int32.max),
  ]

  /// Limits an integer to the values of its type in the source, because a model file has integers of 64 bits only.
  private mutating func setRange(
    _ range: ClosedRange<Int64>, _ attribute: CoreDataModel.Attribute, _ subject: String,
    _ converted: inout AttributeDraft
  ) {
    for (member, bound) in [("minimum", range.lowerBound), ("maximum", range.upperBound)] {
      let stated = converted.members.first { $0.name == member }.flatMap { $0.value.integerValue }
      if let stated {
        guard !range.contains(stated) else { continue }
        _ = converted.remove(member)
        log.add(
          .changed, attribute.place, subject,
          "the \(member) \(stated) is not one of the type's values: it is \(bound)")
      }
      converted.set(member, .integer(bound))
    }
  }

  private static let numbers: Set<SourceType> = [.integer16, .integer32, .integer64, .decimal, .double, .float]

  /// Core Data counts UTF-16 units, and a model file bytes of UTF-8. A unit has at most three bytes, so the limits
  /// are chosen such that no text that Core Data accepts is refused.
  private mutating func setLength(
    _ setting: CoreDataModel.Setting, _ member: String, _ subject: String, _ converted: inout AttributeDraft
  ) {
    guard let length = Int(setting.text) ?? Double(setting.text).flatMap({ Int(exactly: $0) }),
      (0...1_000_000_000).contains(length)
    else {
      return log.leaveOut(
        setting.place, subject, "the \(member) length \"\(setting.text.excerpt)\": it is not a whole number from 0")
    }
    if member == "minimum" {
      converted.set("minimumLength", .integer(Int64(length)))
      guard length > 1 else { return }
      return log.add(
        .changed, setting.place, subject,
        "a minimum length counts bytes of UTF-8, and not characters: \(length) characters are at least \(length) bytes; "
          + "a rule with length() is exact")
    }
    let bytes = min(length * 3, 1_000_000_000)
    converted.set("maximumLength", .integer(Int64(bytes)))
    guard length > 0 else { return }
    log.add(
      .changed, setting.place, subject,
      "a maximum length counts bytes of UTF-8, and not characters: \(length) characters are at most \(bytes) bytes; "
        + "a rule with length() is exact")
  }

  /// A value of the source as a model file has it; nil if it is not of the type.
  static func value(_ text: String, _ type: SourceType) -> JSON? {
    switch type {
    case .integer16, .integer32, .integer64:
      return (Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }).map { .integer($0) }
    case .double, .float: return Double(text).flatMap { $0.isFinite ? .double($0) : nil }
    case .decimal: return DecimalValue(text).map { .string($0.description) }
    case .boolean:
      switch text.lowercased() {
      case "yes", "true", "1": return .bool(true)
      case "no", "false", "0": return .bool(false)
      default: return nil
      }
    case .date: return Double(text).flatMap(date)
    case .string, .uri: return .string(text)
    case .uuid: return UniqueID(hyphenated: text).map { .string($0.hyphenated) }
    case .binary, .transformable, .composite, .objectID, .undefined: return nil
    }
  }

  /// A time in seconds since 2001; nil outside of the years 0001 to 9999.
  private static func date(_ seconds: Double) -> JSON? {
    // The seconds from 1970 to 2001. A double of that size is exact to less than a microsecond.
    let microseconds = ((seconds + 978_307_200) * 1_000_000).rounded()
    guard let timestamp = Int64(exactly: microseconds), RFC3339.range.contains(timestamp) else { return nil }
    let text = RFC3339.text(timestamp)
    return .string(text.hasSuffix(".000000Z") ? text.dropLast(8) + "Z" : text)
  }

  // MARK: - Derived

  /// `animals.@count`, `canonical:(name)`, `lowercase:(name)`, `uppercase:(name)` and, for a date, `now()`.
  private mutating func setDerivation(
    _ expression: String, _ attribute: CoreDataModel.Attribute, _ source: SourceType, _ subject: String,
    _ converted: inout AttributeDraft
  ) {
    let text = expression.filter { !$0.isWhitespace }
    if text == "now()", source == .date {
      converted.set("assigned", .string("updated"))
    } else if text.hasSuffix(".@count"), !text.dropLast(7).contains(".") {
      converted.derivation = .count(String(text.dropLast(7)))
    } else if let place = text.firstRange(of: ":("), text.hasSuffix(")"),
      ["canonical", "lowercase", "uppercase"].contains(String(text[..<place.lowerBound]))
    {
      converted.derivation = .function(
        String(text[..<place.lowerBound]), String(text[place.upperBound...].dropLast()))
    } else {
      return log.leaveOutDerivation(expression, subject, "it has no counterpart", &converted)
    }
    if converted.remove("default") {
      log.leaveOut(converted.place, subject, "the default of a derived attribute: the server sets its value")
    }
  }

  // MARK: - Composites

  /// The members of a composite for one of its attributes: several for a nested composite, whose members get its name
  /// as a prefix.
  /// - Parameter outer: the composites around the attribute.
  mutating func member(
    of composite: CoreDataModel.Composite, _ attribute: CoreDataModel.Attribute, outer: [String]
  ) -> [AttributeDraft] {
    let subject = "\(composite.name).\(attribute.name)"
    if attribute.type == SourceType.composite.rawValue {
      guard let name = attribute.composite, let inner = model.composites.first(where: { $0.name == name }),
        !outer.contains(name)
      else {
        log.leaveOut(attribute.place, subject, "a composite that contains itself")
        return []
      }
      log.add(
        .changed, attribute.place, subject,
        "a composite can't contain a composite: its attributes are members of \(composite.name), with the prefix "
          + "\(attribute.name)_")
      return inner.attributes.flatMap { member(of: inner, $0, outer: outer + [name]) }.map { member in
        let earlier = [attribute.renamingIdentifier ?? attribute.name, member.identifier ?? member.source]
        var flat = AttributeDraft(
          source: "\(attribute.name)_\(member.source)", type: member.type, sourceType: member.sourceType,
          identifier: earlier.joined(separator: "_"), place: attribute.place,
          isOptional: member.isOptional || attribute.isOptional)
        flat.members = member.members
        return flat
      }
    }
    if attribute.derivation != nil || attribute.isTransient {
      let kind = attribute.isTransient ? "transient" : "derived"
      log.leaveOut(attribute.place, subject, "a composite has no \(kind) attributes")
      return []
    }
    return [self.attribute(attribute, in: composite.name)].compactMap { $0 }
  }
}

extension SourceLog {
  /// Converts a derived attribute to one that programs set, and reports this.
  mutating func leaveOutDerivation(
    _ expression: String, _ subject: String, _ reason: String, _ attribute: inout AttributeDraft
  ) {
    attribute.derivation = nil
    let becomesOptional = !attribute.isOptional && !attribute.has("default")
    if becomesOptional { attribute.isOptional = true }
    leaveOut(
      attribute.place, subject,
      "the derivation \(expression.excerpt(of: 200)): \(reason); the attribute keeps its values"
        + "\(becomesOptional ? ", is optional," : "") and programs set it")
  }
}
