import ModelFiles

/// Generates a struct for each composite, and for each composite attribute a property of that type. The setter writes
/// only the members that differ, so that conflicts are detected for each member.
extension ClassGenerator {
  /// A member with the Swift code for its attribute.
  private struct Member {
    let name: String
    let documentation: String
    let type: String
    let attribute: Attribute
    var isOptional: Bool { type.hasSuffix("?") }
  }

  func source(of composite: Composite) -> String {
    let members = composite.members.map { member in
      Member(
        name: "`\(member.name)`", documentation: comment(member.documentation, member.name, "  "),
        type: type(member.attribute, isOptional: member.isOptional), attribute: member.attribute)
    }
    let parameters = members.map { "\($0.name): \($0.type)" + ($0.isOptional ? " = nil" : "") }
    var lines = [comment(composite.documentation, composite.name)]
    lines += ["public struct \(composite.name): \(library("Hashable")), \(library("Sendable")) {"]
    for member in members { lines += [member.documentation, "  public var \(member.name): \(member.type)", ""] }
    lines += [
      "  /// Creates a value, independent of any object until it is assigned to a property.",
      "  public init(\(parameters.joined(separator: ", "))) {",
    ]
    for member in members { lines += ["    self.\(member.name) = \(member.name)"] }
    lines += ["  }", "", "  init(_ object: \(library("ManagedObject")), _ numbers: [\(library("PropertyNumber"))]) {"]
    for (index, member) in members.enumerated() {
      let value = "object.loadedValue(numbers[\(index)])"
      lines += ["    self.\(member.name) = " + reading(member.attribute, from: value, isOptional: member.isOptional)]
    }
    lines += [
      "  }", "", "  func write(to object: \(library("ManagedObject")), _ numbers: [\(library("PropertyNumber"))]) {",
    ]
    for (index, member) in members.enumerated() {
      let new = writing(member.attribute, "self.\(member.name)", isOptional: member.isOptional)
      lines += ["    object.updateValue(\(new), for: numbers[\(index)])"]
    }
    return (lines + ["  }", "}"]).joined(separator: "\n")
  }

  func declaration(of composite: CompositeAttribute) -> String {
    let numbers = "[\(composite.members.map(String.init).joined(separator: ", "))]"
    var lines = [comment(composite.documentation, composite.name, "  ")]
    if composite.isOptional {
      lines += [
        "  ///", "  /// Nil if all members are null.",
        "  public var `\(name(composite.name))`: \(composite.composite)? {",
        "    get { \(numbers).allSatisfy { loadedValue($0).isNull } ? nil : \(composite.composite)(self, \(numbers)) }",
        "    set {",
        "      guard let newValue else { return \(numbers).forEach { setValue(.null, for: $0) } }",
        "      newValue.write(to: self, \(numbers))",
        "    }",
        "  }",
      ]
    } else {
      lines += [
        "  public var `\(name(composite.name))`: \(composite.composite) {",
        "    get { \(composite.composite)(self, \(numbers)) }",
        "    set { newValue.write(to: self, \(numbers)) }",
        "  }",
      ]
    }
    return lines.joined(separator: "\n")
  }
}
