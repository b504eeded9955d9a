import GraphModel

/// Writes the Swift of a model: a class for each entity, an enumeration for each of the model's, and the model itself.
struct ClassGenerator {
  let model: Model

  var source: String {
    var lines = [
      "// Generated from the model \(model.name), version \(model.version). Changes belong into the model file.",
      "import GraphModel", "import GraphReplica", "",
      "/// \(model.documentation)",
      "public enum \(model.name)Model {",
      "  /// The model file, as the program was built with it.",
      "  public static let source = #\"\"\"",
    ]
    lines += model.source.split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }
    lines += [
      "    \"\"\"#", "",
      "  /// The model. The file was checked when this code was generated from it.",
      "  public static let model: Model = {",
      "    do { return try Model(parsing: source.utf8) } catch { preconditionFailure(\"\\(error)\") }",
      "  }()", "",
      "  /// The classes of the model's entities.",
      "  public static let classes: [ManagedObject.Type] = ["
        + model.entities.filter { !$0.isAbstract }.map { "\($0.name).self" }.joined(separator: ", ") + "]",
      "}",
    ]
    for enumeration in model.enumerations { lines += ["", self.source(of: enumeration)] }
    for entity in model.entities { lines += ["", self.source(of: entity)] }
    return lines.joined(separator: "\n") + "\n"
  }

  private func source(of enumeration: Enumeration) -> String {
    """
    /// \(enumeration.documentation)
    public enum \(enumeration.name): String, Sendable, CaseIterable {
      case \(enumeration.cases.map { "`\($0)`" }.joined(separator: ", "))
    }
    """
  }

  private func source(of entity: Entity) -> String {
    let parent = entity.parent.flatMap { model.entity($0)?.name } ?? "ManagedObject"
    let own = entity.properties.filter { $0.owner == entity.number }
    var lines = [
      "/// \(entity.documentation)",
      "open class \(entity.name): \(parent) {",
      "  open override class var entityName: String { \"\(entity.name)\" }",
    ]
    for property in own { lines += ["", declaration(of: property)] }
    return (lines + ["}"]).joined(separator: "\n")
  }

  private func declaration(of property: Property) -> String {
    let documentation = "  /// \(property.documentation.isEmpty ? property.name : property.documentation)\n"
    switch property.kind {
    case .attribute(let attribute): return documentation + declaration(property, attribute)
    case .relationship(let relationship): return documentation + declaration(property, relationship)
    }
  }

  /// The Swift type of an attribute, how it is read from a value, how it is made into one, and what stands for none.
  private func swift(_ attribute: Attribute) -> (type: String, pattern: String, wrap: String, none: String) {
    switch attribute.kind {
    case .bool: ("Bool", ".bool(let value)", ".bool(newValue)", "false")
    case .integer: ("Int64", ".integer(let value)", ".integer(newValue)", "0")
    case .double: ("Double", ".double(let value)", ".double(newValue)", "0")
    case .decimal: ("DecimalValue?", ".decimal(let value)", ".decimal(newValue)", "nil")
    case .date: ("Timestamp", ".date(let value)", ".date(newValue)", "0")
    case .uuid: ("UniqueID", ".uuid(let value)", ".uuid(newValue)", ".zero")
    case .data: ("[UInt8]", ".data(let value)", ".data(newValue)", "[]")
    case .string, .text, .uri, .json: ("String", ".string(let value)", ".string(newValue)", "\"\"")
    case .enumeration:
      (
        attribute.enumeration ?? "String", ".string(let value)", ".string(newValue.rawValue)",
        ".\(attribute.defaultValue.stringValue ?? attribute.cases.first ?? "")"
      )
    }
  }

  private func declaration(_ property: Property, _ attribute: Attribute) -> String {
    let form = swift(attribute)
    let number = property.number
    var read = "value"
    if attribute.kind == .enumeration { read = "\(form.type)(rawValue: value)" }
    let isOptional = property.isOptional || form.type.hasSuffix("?")
    let type = isOptional && !form.type.hasSuffix("?") ? form.type + "?" : form.type
    let none = isOptional ? "nil" : form.none
    let fallback = attribute.kind == .enumeration && !isOptional ? "\(read) ?? \(none)" : read
    var body = "    get { if case \(form.pattern) = value(\(number)) { \(fallback) } else { \(none) } }"
    if attribute.assignment == nil || attribute.assignment != .sequence {
      let wrapped = form.wrap
      let set =
        isOptional
        ? "setValue(newValue.map { newValue in \(wrapped) } ?? .null, for: \(number))"
        : "setValue(\(wrapped), for: \(number))"
      body += "\n    set { \(set) }"
    }
    return "  public var `\(property.name)`: \(type) {\n\(body)\n  }"
  }

  private func declaration(_ property: Property, _ relationship: Relationship) -> String {
    let destination = model.entity(relationship.destination)?.name ?? "ManagedObject"
    let number = property.number
    if relationship.isToMany {
      let capitalized = property.name.prefix(1).uppercased() + property.name.dropFirst()
      return """
          public var `\(property.name)`: [\(destination)] { objects(\(number), \(destination).self) }

          public func addTo\(capitalized)(_ object: \(destination)) { add(object, to: \(number)) }

          public func removeFrom\(capitalized)(_ object: \(destination)) { remove(object, from: \(number)) }
        """
    }
    return """
        public var `\(property.name)`: \(destination)? {
          get { object(\(number), \(destination).self) }
          set { setValue(newValue.map { .object($0.id) } ?? .null, for: \(number)) }
        }
      """
  }
}
