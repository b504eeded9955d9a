import ModelFiles

/// Generates the members of typed predicates and sort keys, in an extension of `ObjectPath` for each entity;
/// subentities inherit them. Their types include optionality, so that the compiler rejects the same predicates as the
/// parser.
extension ClassGenerator {
  func conformance(of enumeration: Enumeration) -> String {
    "extension \(enumeration.name): \(library("EnumeratedValue")) {}"
  }

  func paths(of entity: Entity) -> String {
    let composites = entity.composites.filter { $0.owner == entity.number }
    // A property without a slot is not stored, unless it is the inverse of a relationship. Apart from composite
    // members, a dot occurs only in the names of position attributes, which users see as the order of the objects.
    let own = entity.properties.filter {
      $0.owner == entity.number && ($0.slot != nil || $0.relationship != nil) && !$0.name.contains(".")
    }
    var lines = ["extension \(library("ObjectPath")) where Object: \(visible(entity.name)) {"]
    for property in own { lines.append(member(property, name: name(of: property))) }
    for composite in composites {
      let type = "\(library("CompositePath"))<\(group(entity, composite)), Cardinality>"
      lines += [
        comment(composite.documentation, composite.name, "  "),
        "  public var `\(name(composite.name))`: \(type) { \(type)(self) }",
      ]
    }
    lines.append("}")
    for composite in composites {
      lines += [
        "", "/// The members of \(entity.name).\(composite.name), for typed predicates.",
        "public enum \(group(entity, composite)) {}", "",
        "extension \(library("CompositePath")) where Composite == \(group(entity, composite)) {",
      ]
      for property in composite.members.compactMap({ entity.property($0) }) {
        lines.append(member(property, name: String(property.name.dropFirst(composite.name.utf8.count + 1))))
      }
      lines.append("}")
    }
    return lines.joined(separator: "\n")
  }

  private func group(_ entity: Entity, _ composite: CompositeAttribute) -> String { "\(entity.name)_\(composite.name)" }

  private func member(_ property: Property, name: String) -> String {
    let (type, argument) =
      switch property.kind {
      case .attribute(let attribute):
        (
          "\(library("TypedExpression"))<\(kind(attribute)), Cardinality\(property.isOptional ? ".AfterOptional" : "")>",
          "attribute"
        )
      case .relationship(let relationship) where relationship.isToMany:
        ("\(library("ToManyPath"))<\(visible(destination(relationship))), Cardinality.AfterToOne>", "toMany")
      case .relationship(let relationship):
        (
          "\(library("ObjectPath"))<\(visible(destination(relationship))), Cardinality.AfterToOne\(property.isOptional ? ".AfterOptional" : "")>",
          "toOne"
        )
      }
    return comment(property.documentation, name, "  ")
      + "\n  public var `\(name)`: \(type) { \(type)(self, \(argument): \(property.number)) }"
  }

  private func kind(_ attribute: Attribute) -> String {
    switch attribute.kind {
    case .bool: library("Bool")
    case .integer: library("Int64")
    case .double: library("Double")
    case .decimal: library("DecimalValue")
    case .string, .text: library(attribute.isFullText ? "FullText" : "String")
    case .uri: library("String")
    case .json: library("JSONText")
    case .date: library("DateTime")
    case .uuid: library("UniqueID")
    case .data: "[\(library("UInt8"))]"
    case .enumeration: visible(enumeration(attribute))
    }
  }
}
