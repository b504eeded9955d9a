import CoreDataNames
import GraphModel

/// The names of a version in a model file that an earlier conversion has written. A store may have been created with
/// the file, so its names stay, and those of later versions differ from them where it is necessary.
struct GivenNames {
  /// The names by the entity's name in the source.
  private(set) var entities = [String: String]()
  /// The names by `Entity.property` in the source, and by ``CompositeDraft/part(_:)`` of the attributes of composites.
  private(set) var properties = [String: String]()

  init(_ model: Model) {
    for entity in model.entities {
      let source = Self.source(entity.name, entity.documentation)
      entities[source] = entity.name
      for property in entity.properties where property.owner == entity.number && !property.name.contains(".") {
        properties["\(source).\(Self.source(property, model))"] = property.name
      }
      for composite in entity.composites where composite.owner == entity.number {
        properties["\(source).\(Self.source(composite.name, composite.documentation))"] = composite.name
      }
    }
    for composite in model.composites {
      let draft = CompositeDraft(source: composite.name, identifier: nil, attributes: [], place: .start)
      for member in composite.members {
        properties[draft.part(Self.source(member.name, member.documentation))] = member.name
      }
    }
  }

  private static func source(_ property: Property, _ model: Model) -> String {
    guard property.documentation == RelationshipDraft.addedInverse, let relationship = property.relationship else {
      return source(property.name, property.documentation)
    }
    // The source does not have the relationship: a conversion has made its name, and may have given it another one.
    let inverse = model.inverse(of: relationship)
    let owner = model.owner(of: inverse)
    let name = RelationshipDraft.nameOfInverse(
      source(inverse.name, inverse.documentation), of: source(owner.name, owner.documentation))
    let known = NameTable.valid(name)
    if property.name == known { return name }
    // Underscores at the end distinguish it from another property, and a number is that of a version.
    let start = known.prefix(NameTable.separatedLength)
    guard property.name.hasPrefix(start) else { return property.name }
    let underscores = property.name.dropFirst(known.count).prefix { $0 == "_" }.count
    let hasNumber = property.name.last?.isNumber == true
    return name + String(repeating: "_", count: max(0, underscores - (hasNumber ? 1 : 0)))
  }

  private static func source(_ name: String, _ documentation: String) -> String {
    if let names = AppNames(documentation: documentation) { names.names[0] } else { name }
  }

  /// The name of a property without its owner's.
  static func property(_ part: String) -> String {
    guard let dot = part.firstIndex(of: ".") else { preconditionFailure("a part has the name of its owner") }
    return String(part[part.index(after: dot)...])
  }
}
