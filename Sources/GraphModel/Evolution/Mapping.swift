/// A migration's rule for an attribute: an expression over the object as the previous version has it.
public struct Mapping: Sendable {
  /// The attribute, in the names of the version with the mapping: `Person.fullName`.
  public let target: String
  /// The expression, in the names of the previous version: `first + " " + last`.
  public let expression: String
  /// The mapping's path in the model file.
  public let path: String
}

// MARK: - Reading the model

extension JSONObjectReader {
  /// Reads `renamed`. A property's earlier name may contain a dot, if a composite became an attribute or vice versa.
  mutating func earlierName() -> String? {
    guard let text = string("renamed") else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2, parts.allSatisfy(Self.isName) else {
      report("renamed", "\"\(text)\" is not a name: write the name in an earlier version")
      return nil
    }
    return text
  }
}

extension ModelReader {
  mutating func mappings(_ top: inout JSONObjectReader) -> [Mapping] {
    guard let members = top.value("mapping", required: false, "an object", \.members) else { return [] }
    return members.compactMap { member in
      let path = "mapping.\(member.name)"
      guard let text = member.value.stringValue else {
        mistakes.append(.init(path: path, reason: "must be a string: an expression over the previous version"))
        return nil
      }
      return Mapping(target: member.name, expression: text, path: path)
    }
  }
}

extension ModelLinker {
  /// Checks the mappings' targets. Their expressions can only be parsed against the previous version, by the
  /// migration.
  mutating func checkMappings() {
    if draft.version == 1, !draft.mappings.isEmpty {
      report("mapping", "version 1 has no previous version that a mapping could read")
    }
    for mapping in draft.mappings {
      let parts = mapping.target.split(separator: ".", maxSplits: 1).map(String.init)
      guard parts.count == 2, let entity = byName[parts[0]] else {
        report(mapping.path, "must be named ENTITY.ATTRIBUTE, after an attribute of this version")
        continue
      }
      guard let attribute = entity.attributes.first(where: { $0.name == parts[1] }) else {
        report(mapping.path, "\(entity.name) declares no attribute \"\(parts[1])\"")
        continue
      }
      if attribute.isTransient { report(mapping.path, "is transient: it is not stored") }
      if attribute.derived != nil { report(mapping.path, "is derived: the rules set the value") }
      if attribute.assignment == .sequence { report(mapping.path, "is a sequence: the server sets the value") }
    }
  }
}

// MARK: - Values

extension Attribute {
  /// Whether values of the type can be assigned to the attribute.
  func accepts(_ type: GraphValueType) -> Bool {
    switch (type, kind) {
    case (.null, _): true
    case (.bool, .bool), (.integer, .integer), (.duration, .integer), (.integer, .double), (.double, .double): true
    case (.integer, .decimal), (.decimal, .decimal), (.date, .date), (.uuid, .uuid), (.data, .data): true
    case (.string, .string), (.string, .text), (.string, .uri), (.string, .enumeration), (.string, .json): true
    default: false
    }
  }

  /// The result of an expression as a value of the attribute; null if it does not fit.
  public func converted(_ value: Value) -> Value {
    if kind == .decimal, case .integer(let number) = value {
      return Value(json: .integer(number), kind: .decimal, cases: []).orNull
    }
    return checked(value).orNull
  }

  /// Whether every value of the type is a value of the attribute without conversion. A calculated integer is
  /// excluded: a result beyond 64 bits becomes a fraction.
  public func acceptsUnconverted(_ type: GraphValueType) -> Bool {
    switch (type, kind) {
    case (.bool, .bool), (.decimal, .decimal), (.uuid, .uuid), (.data, .data): true
    case (.string, .string), (.string, .text): true
    default: false
    }
  }
}

extension GraphValueType {
  var word: String {
    switch self {
    case .null: "null"
    case .bool: "bool"
    case .integer, .duration: "integer"
    case .double: "double"
    case .decimal: "decimal"
    case .string: "string"
    case .date: "date"
    case .uuid: "uuid"
    case .data: "data"
    case .object: "an object"
    }
  }
}
