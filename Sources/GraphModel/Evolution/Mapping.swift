/// What an attribute's values become when a store of the version before is migrated: an expression over the object as
/// that version has it.
public struct Mapping: Sendable {
  /// `Person.fullName`, the names of the version that has the mapping.
  public let target: String
  /// `first + " " + last`, in the names of the version before.
  public let expression: String
  /// Where it stands in the file.
  public let path: String
}

// MARK: - Reading the model

extension Fields {
  /// The member `renamed`: a property's may have a dot in it, where a composite has become an attribute or back.
  mutating func earlierName() -> String? {
    guard let text = string("renamed") else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2, parts.allSatisfy(Self.isName) else {
      report("renamed", "\"\(text)\" is no name: what an earlier version called it")
      return nil
    }
    return text
  }
}

extension ModelReader {
  mutating func mappings(_ top: inout Fields) -> [Mapping] {
    let members = top.value("mapping", required: false, "an object", \.members) ?? []
    return members.compactMap { member in
      let path = "mapping.\(member.name)"
      guard let text = member.value.stringValue else {
        mistakes.append(.init(path: path, reason: "must be a string, an expression over the version before"))
        return nil
      }
      return Mapping(target: member.name, expression: text, path: path)
    }
  }
}

extension ModelLinker {
  /// What a mapping is for; whether its expression can be read shows when the version before is there to read it against.
  mutating func checkMappings() {
    if draft.version == 1, !draft.mappings.isEmpty {
      report("mapping", "version 1 has none before it, whose values a mapping could read")
    }
    for mapping in draft.mappings {
      let parts = mapping.target.split(separator: ".", maxSplits: 1).map(String.init)
      guard parts.count == 2, let entity = byName[parts[0]] else {
        report(mapping.path, "must be called ENTITY.ATTRIBUTE, after an attribute of this version")
        continue
      }
      guard let attribute = entity.attributes.first(where: { $0.name == parts[1] }) else {
        report(mapping.path, "\(entity.name) declares no attribute \"\(parts[1])\"")
        continue
      }
      if attribute.isTransient { report(mapping.path, "is transient: no store has the value") }
      if attribute.derived != nil { report(mapping.path, "is derived: the rules set the value") }
      if attribute.assignment == .sequence { report(mapping.path, "is a sequence: the server sets the value") }
    }
  }
}

// MARK: - Values

extension Attribute {
  /// Whether values of the type can become the attribute's.
  func takes(_ type: GraphValueType) -> Bool {
    switch (type, kind) {
    case (.null, _): true
    case (.bool, .bool), (.integer, .integer), (.duration, .integer), (.integer, .double), (.double, .double): true
    case (.integer, .decimal), (.decimal, .decimal), (.date, .date), (.uuid, .uuid), (.data, .data): true
    case (.string, .string), (.string, .text), (.string, .uri), (.string, .enumeration), (.string, .json): true
    default: false
    }
  }

  /// What an expression has come to, in the attribute's form; null for what does not fit.
  public func settled(_ value: Value) -> Value {
    if kind == .decimal, case .integer(let number) = value {
      return Value(json: .integer(number), kind: .decimal, cases: []) ?? .null
    }
    return checked(value) ?? .null
  }

  /// Whether every value of the type is one of the attribute's as it is. A calculated whole number need not be one: what does
  /// not fit into 64 bits is a fraction.
  public func takesUnchanged(_ type: GraphValueType) -> Bool {
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
