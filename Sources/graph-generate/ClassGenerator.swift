import GraphModel

/// Generates the Swift source of a model. This is a class for each entity, an enumeration or a struct for each of the
/// model's enumerations and composites, and the model itself.
struct ClassGenerator {
  let model: Model

  var source: String {
    var lines = [
      "// swift-format-ignore-file",
      "// Generated from the model \(model.name), version \(model.version). Change the model file instead.",
      "import GraphModel", "import GraphReplica", "",
      comment(model.documentation, model.name),
      "public enum \(model.name)Model: ServedModel {",
      "  /// The model file that the program was built with.",
    ]
    let literal = rawLiteral(model.source, indent: "    ")
    lines += ["  public static let source = " + literal[0]] + literal.dropFirst()
    lines += [
      "",
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
    for composite in model.composites { lines += ["", self.source(of: composite)] }
    for entity in model.entities { lines += ["", self.source(of: entity)] }
    for enumeration in model.enumerations { lines += ["", conformance(of: enumeration)] }
    for entity in model.entities { lines += ["", paths(of: entity)] }
    for request in model.fetchRequests { lines += ["", declaration(of: request)] }
    return lines.joined(separator: "\n") + "\n"
  }

  private func source(of enumeration: Enumeration) -> String {
    """
    \(comment(enumeration.documentation, enumeration.name))
    public enum \(enumeration.name): String, Sendable, CaseIterable {
      case \(enumeration.cases.map { "`\($0)`" }.joined(separator: ", "))
    }
    """
  }

  private func source(of entity: Entity) -> String {
    let parent = entity.parent.flatMap { model.entity($0)?.name } ?? "ManagedObject"
    let composites = entity.composites.filter { $0.owner == entity.number }
    let members = Set(composites.flatMap(\.members))
    // The server sets the positions of ordered relationships; clients see them as the order of the objects.
    let own = entity.properties.filter {
      $0.owner == entity.number && !members.contains($0.number) && $0.attribute?.assignment != .position
    }
    var lines = [
      comment(entity.documentation, entity.name),
      "open class \(entity.name): \(parent) {",
      "  open override class var entityName: String { \"\(entity.name)\" }",
    ]
    for property in own { lines += ["", declaration(of: property)] }
    for composite in composites { lines += ["", declaration(of: composite)] }
    return (lines + ["}"]).joined(separator: "\n")
  }

  private func declaration(of property: Property) -> String {
    let documentation = comment(property.documentation, property.name, "  ") + "\n"
    switch property.kind {
    case .attribute(let attribute):
      let addition = defaultComment(attribute).map { "  ///\n  /// \($0)\n" } ?? ""
      return documentation + addition + declaration(property, attribute)
    case .relationship(let relationship): return documentation + declaration(property, relationship)
    }
  }

  /// A documentation comment with a line for each line of the text, including empty lines between paragraphs. `name`
  /// replaces an empty text.
  func comment(_ text: String, _ name: String, _ indent: String = "") -> String {
    let isEmpty = text.allSatisfy(\.isWhitespace)
    return (isEmpty ? name : text).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .map { $0.isEmpty ? "\(indent)///" : "\(indent)/// \($0)" }.joined(separator: "\n")
  }

  /// An attribute's Swift type, the pattern to read it from a `Value`, the expression for writing it, and the
  /// fallback.
  func swift(_ attribute: Attribute) -> (type: String, pattern: String, wrap: String, none: String) {
    let none = fallback(attribute)
    return switch attribute.kind {
    case .bool: ("Bool", ".bool(let value)", ".bool(newValue)", none)
    case .integer: ("Int64", ".integer(let value)", ".integer(newValue)", none)
    case .double: ("Double", ".double(let value)", ".double(newValue)", none)
    case .decimal: ("DecimalValue", ".decimal(let value)", ".decimal(newValue)", none)
    case .date: ("Timestamp", ".date(let value)", ".date(newValue)", none)
    case .uuid: ("UniqueID", ".uuid(let value)", ".uuid(newValue)", none)
    case .data: ("[UInt8]", ".data(let value)", ".data(newValue)", none)
    case .string, .text, .uri, .json: ("String", ".string(let value)", ".string(newValue)", none)
    case .enumeration:
      (attribute.enumeration ?? "String", ".string(let value)", ".string(newValue.rawValue)", none)
    }
  }

  /// The type, with a question mark if it is optional.
  func type(_ attribute: Attribute, isOptional: Bool) -> String {
    let type = swift(attribute).type
    return isOptional && !type.hasSuffix("?") ? type + "?" : type
  }

  /// The expressions to read an attribute: for the `value` that the pattern binds, and for a missing value.
  func reading(_ attribute: Attribute, isOptional: Bool) -> (value: String, none: String) {
    let form = swift(attribute)
    let none = isOptional ? "nil" : form.none
    guard attribute.kind == .enumeration else { return ("value", none) }
    let read = "\(form.type)(rawValue: value)"
    return (isOptional ? read : "\(read) ?? \(none)", none)
  }

  /// The expression that wraps `newValue` in a `Value`.
  func writing(_ attribute: Attribute, isOptional: Bool) -> String {
    let wrapped = swift(attribute).wrap
    return isOptional ? "newValue.map { newValue in \(wrapped) } ?? .null" : wrapped
  }

  private func declaration(_ property: Property, _ attribute: Attribute) -> String {
    let form = swift(attribute)
    let number = property.number
    let type = type(attribute, isOptional: property.isOptional)
    let isOptional = type.hasSuffix("?")
    let read = reading(attribute, isOptional: isOptional)
    var body = "    get { if case \(form.pattern) = loadedValue(\(number)) { \(read.value) } else { \(read.none) } }"
    if attribute.assignment != .sequence, !attribute.isDerived {
      body += "\n    set { setValue(\(writing(attribute, isOptional: isOptional)), for: \(number)) }"
    }
    return "  public var `\(name(of: property))`: \(type) {\n\(body)\n  }"
  }

  private func declaration(_ property: Property, _ relationship: Relationship) -> String {
    let destination = model.entity(relationship.destination)?.name ?? "ManagedObject"
    let number = property.number
    if relationship.isToMany {
      let type = "\(relationship.isOrdered ? "OrderedToMany" : "ToMany")<\(destination)>"
      return "  public var `\(name(of: property))`: \(type) { \(type)(self, \(number)) }"
    }
    return """
        public var `\(name(of: property))`: \(destination)? {
          get { loadedObject(\(number), \(destination).self) }
          set { setValue(newValue.map { .object($0.id) } ?? .null, for: \(number)) }
        }
      """
  }
}
