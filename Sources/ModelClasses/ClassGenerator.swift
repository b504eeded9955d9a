import ModelFiles

/// Generates the Swift source of a model: a class for each entity, a Swift enumeration for each enumeration, a struct
/// for each composite, and the model itself.
struct ClassGenerator {
  let model: Model

  var source: String {
    var lines = [
      "// swift-format-ignore-file",
      "// Generated from the model \(model.name), version \(model.version). Change the model file instead.",
    ]
    lines += imports
    lines += [
      comment(model.documentation, model.name),
      "public enum \(model.name)Model: \(library("ServedModel")) {",
      "  /// The model file that the program was built with.",
    ]
    let literal = rawLiteral(model.source, indent: "    ")
    lines += ["  public static let source = " + literal[0]] + literal.dropFirst()
    lines += [
      "",
      "  /// The model. The file was checked when this code was generated from it.",
      "  public static let model: \(library("Model")) = {",
      "    do { return try \(library("Model"))(parsing: source.utf8) } catch { preconditionFailure(\"\\(error)\") }",
      "  }()", "",
      "  /// The classes of the model's entities.",
      "  public static let classes: [\(library("ManagedObject")).Type] = ["
        + model.entities.filter { !$0.isAbstract }.map { "\($0.name).self" }.joined(separator: ", ") + "]",
      "}",
    ]
    for enumeration in model.enumerations { lines += ["", self.source(of: enumeration)] }
    for composite in model.composites { lines += ["", self.source(of: composite)] }
    for entity in model.entities { lines += ["", self.source(of: entity)] }
    for enumeration in model.enumerations { lines += ["", conformance(of: enumeration)] }
    lines += aliases
    for entity in model.entities { lines += ["", paths(of: entity)] }
    for request in model.fetchRequests { lines += ["", declaration(of: request)] }
    return lines.joined(separator: "\n") + "\n"
  }

  private func source(of enumeration: Enumeration) -> String {
    """
    \(comment(enumeration.documentation, enumeration.name))
    public enum \(enumeration.name): \(library("String")), \(library("Sendable")), \(library("CaseIterable")) {
      case \(enumeration.cases.map { "`\($0)`" }.joined(separator: ", "))
    }
    """
  }

  private func source(of entity: Entity) -> String {
    var parent = library("ManagedObject")
    if let number = entity.parent {
      guard let known = model.entity(number) else { preconditionFailure("a model has the parents of its entities") }
      parent = known.name
    }
    let composites = entity.composites.filter { $0.owner == entity.number }
    let members = Set(composites.flatMap(\.members))
    // The server sets the positions of ordered relationships; clients see them as the order of the objects.
    let own = entity.properties.filter {
      $0.owner == entity.number && !members.contains($0.number) && $0.attribute?.assignment != .position
    }
    var lines = [
      comment(entity.documentation, entity.name),
      "open class \(entity.name): \(parent) {",
      "  open override class var entityName: \(library("String")) { \"\(entity.name)\" }",
    ]
    for property in own { lines += ["", declaration(of: property)] }
    for composite in composites { lines += ["", declaration(of: composite)] }
    return (lines + ["}"]).joined(separator: "\n")
  }

  private func declaration(of property: Property) -> String {
    var documentation = comment(property.documentation, property.name, "  ") + "\n"
    switch property.kind {
    case .attribute(let attribute):
      if let addition = defaultComment(attribute) { documentation += "  ///\n  /// \(addition)\n" }
      return documentation + declaration(property, attribute)
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

  /// An attribute's Swift type, and the case of `Value` that has it; no case for the types of Foundation.
  func swift(_ attribute: Attribute) -> (type: String, wrap: String?) {
    switch attribute.kind {
    case .bool: (library("Bool"), "bool")
    case .integer: (library("Int"), "integer")
    case .double: (library("Double"), "double")
    case .string, .text, .json: (library("String"), "string")
    case .enumeration: (enumeration(attribute), "string")
    case .decimal: (library("Decimal"), nil)
    case .date: (library("Date"), nil)
    case .uuid: (library("UUID"), nil)
    case .data: (library("Data"), nil)
    case .uri: (library("URL"), nil)
    }
  }

  /// The class of the objects at the other end of a relationship.
  func destination(_ relationship: Relationship) -> String {
    guard let entity = model.entity(relationship.destination) else {
      preconditionFailure("a model has the destinations of its relationships")
    }
    return entity.name
  }

  func enumeration(_ attribute: Attribute) -> String {
    guard let name = attribute.enumeration else { preconditionFailure("the attribute names its enumeration") }
    return name
  }

  /// The type, with a question mark if it is optional. A URL is always optional, because no URL can stand for a missing
  /// value.
  func type(_ attribute: Attribute, isOptional: Bool) -> String {
    let type = swift(attribute).type
    return isOptional || attribute.kind == .uri ? type + "?" : type
  }

  /// The expression that reads an attribute.
  /// - Parameter source: the expression of its `Value`.
  func reading(_ attribute: Attribute, from source: String, isOptional: Bool) -> String {
    let (type, wrap) = swift(attribute)
    let none = isOptional ? "nil" : fallback(attribute)
    guard let wrap else { return isOptional ? "\(type)(\(source))" : "\(type)(\(source)) ?? \(none)" }
    let value =
      switch attribute.kind {
      case .integer: "\(library("Int"))(value)"
      case .enumeration: "\(type)(rawValue: value)" + (isOptional ? "" : " ?? \(none)")
      default: "value"
      }
    return "if case .\(wrap)(let value) = \(source) { \(value) } else { \(none) }"
  }

  /// The expression that `setValue` takes for an attribute's new value.
  /// - Parameter name: the expression of the new value.
  func writing(_ attribute: Attribute, _ name: String, isOptional: Bool) -> String {
    guard let wrap = swift(attribute).wrap else { return name }
    let each = isOptional ? "$0" : name
    let value =
      switch attribute.kind {
      case .integer: "\(library("Int64"))(\(each))"
      case .enumeration: "\(each).rawValue"
      default: each
      }
    return isOptional ? "\(name).map { .\(wrap)(\(value)) } ?? .null" : ".\(wrap)(\(value))"
  }

  private func declaration(_ property: Property, _ attribute: Attribute) -> String {
    let number = property.number
    let type = type(attribute, isOptional: property.isOptional)
    let isOptional = type.hasSuffix("?")
    var body = "    get { \(reading(attribute, from: "loadedValue(\(number))", isOptional: isOptional)) }"
    if ![.sequence, .creator].contains(attribute.assignment), !attribute.isDerived {
      body += "\n    set { setValue(\(writing(attribute, "newValue", isOptional: isOptional)), for: \(number)) }"
    }
    return "  public var `\(name(of: property))`: \(type) {\n\(body)\n  }"
  }

  private func declaration(_ property: Property, _ relationship: Relationship) -> String {
    let destination = destination(relationship)
    let number = property.number
    if relationship.isToMany {
      let type = "\(library(relationship.isOrdered ? "OrderedToMany" : "ToMany"))<\(destination)>"
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
