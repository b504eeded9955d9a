import GraphModel

/// The members of typed predicates and orders: for each entity an extension of `ObjectPath`, whose subentities have them
/// too. Types say what may be null, so the compiler refuses what the parser of the text form would.
extension ClassGenerator {
  func conformance(of enumeration: Enumeration) -> String {
    "extension \(enumeration.name): EnumeratedValue {}"
  }

  func paths(of entity: Entity) -> String {
    // No store has what has no place in an image, unless it is the other side of a relationship.
    let own = entity.properties.filter {
      $0.owner == entity.number && ($0.slot != nil || $0.relationship != nil)
    }
    var lines = ["extension ObjectPath where Object: \(entity.name) {"]
    var composites = [(name: String, members: [Property])]()
    for property in own {
      // A composite's members have its name and a dot before theirs.
      guard let dot = property.name.firstIndex(of: ".") else {
        lines += [member(property, name: property.name)]
        continue
      }
      let name = String(property.name[..<dot])
      // Behind a relationship's name it is the place in an order, which the order of the objects shows.
      if entity.property(named: name) != nil { continue }
      if composites.last?.name != name { composites.append((name, [])) }
      composites[composites.count - 1].members.append(property)
    }
    for composite in composites {
      let type = "CompositePath<\(group(entity, composite.name)), Reach>"
      lines += ["  /// \(composite.name)", "  public var `\(composite.name)`: \(type) { \(type)(self) }"]
    }
    lines.append("}")
    for composite in composites {
      let group = group(entity, composite.name)
      lines += [
        "", "/// What \(entity.name).\(composite.name) consists of, in predicates.", "public enum \(group) {}", "",
      ]
      lines.append("extension CompositePath where Composite == \(group) {")
      for property in composite.members {
        lines.append(member(property, name: String(property.name.dropFirst(composite.name.count + 1))))
      }
      lines.append("}")
    }
    return lines.joined(separator: "\n")
  }

  private func group(_ entity: Entity, _ composite: String) -> String { "\(entity.name)_\(composite)" }

  private func member(_ property: Property, name: String) -> String {
    let documentation = lines(of: property.documentation.isEmpty ? name : property.documentation)
    let (type, argument) =
      switch property.kind {
      case .attribute(let attribute):
        ("TypedExpression<\(kind(attribute)), Reach\(property.isOptional ? ".IfThere" : "")>", "attribute")
      case .relationship(let relationship) where relationship.isToMany:
        ("ToManyPath<\(destination(relationship)), Reach.Followed>", "toMany")
      case .relationship(let relationship):
        (
          "ObjectPath<\(destination(relationship)), Reach.Followed\(property.isOptional ? ".IfThere" : "")>", "toOne"
        )
      }
    return documentation
      + "  public var `\(name)`: \(type) { \(type)(self, \(argument): \(property.number)) }"
  }

  private func destination(_ relationship: Relationship) -> String {
    model.entity(relationship.destination)?.name ?? "ManagedObject"
  }

  private func lines(of documentation: String) -> String {
    documentation.split(whereSeparator: \.isNewline).map { "  /// \($0)\n" }.joined()
  }

  private func kind(_ attribute: Attribute) -> String {
    switch attribute.kind {
    case .bool: "Bool"
    case .integer: "Int64"
    case .double: "Double"
    case .decimal: "DecimalValue"
    case .string, .text: attribute.isFullText ? "FullText" : "String"
    case .uri: "String"
    case .json: "JSONText"
    case .date: "DateTime"
    case .uuid: "UniqueID"
    case .data: "[UInt8]"
    case .enumeration: attribute.enumeration ?? "String"
    }
  }
}
