/// Ordered relationships. If the inverse is a to-one, the members store their positions: each to-one with an ordered
/// inverse gets an additional attribute `<to-one>.order`, which no model file declares.
extension ModelLinker {
  mutating func checkOrder(
    of relationship: ModelDraft.Relationship, _ inverse: ModelDraft.Relationship, in destination: ModelDraft.Entity
  ) {
    guard relationship.isOrdered else { return }
    let path = relationship.path + ".ordered"
    guard relationship.isToMany else { return report(path, "is only allowed for a to-many relationship") }
    if inverse.isToMany {
      // The single list has a single order, which one side stores.
      if inverse.isOrdered { report(path, "the inverse \"\(inverse.name)\" is ordered already; only one side can be") }
      return
    }
    guard let owner = byName[inverse.destination] else { return }
    // "project.order" is the member's position, and would also be a path to this property.
    if lineage(of: owner).contains(where: { $0.attributes.map(\.name).contains(Self.order) })
      || lineage(of: owner).contains(where: { $0.relationships.map(\.name).contains(Self.order) })
    {
      report(
        path,
        "\(owner.name) has a property \"\(Self.order)\", but \"\(inverse.name).\(Self.order)\" is the position of each "
          + "\(destination.name)")
    }
  }

  private static let order = "order"

  /// The position attributes for the to-ones that the entity itself declares.
  func positions(of entity: ModelDraft.Entity) -> [(name: String, documentation: String, renamed: String?)] {
    entity.relationships.compactMap { toOne in
      guard let ordered = orderedInverse(of: toOne) else { return nil }
      return (
        "\(toOne.name).\(Self.order)", "The place among the \(ordered.name) of the \(toOne.name).",
        toOne.renamed.map { "\($0).\(Self.order)" }
      )
    }
  }

  /// The qualified name of the position attribute of this relationship, for either end; nil if it has none.
  func positionName(of relationship: ModelDraft.Relationship, in entity: ModelDraft.Entity) -> String? {
    if relationship.isToMany {
      guard relationship.isOrdered,
        let inverse = byName[relationship.destination]?.relationships.first(where: { $0.name == relationship.inverse }),
        !inverse.isToMany
      else { return nil }
      return "\(relationship.destination).\(inverse.name).\(Self.order)"
    }
    return orderedInverse(of: relationship).map { _ in "\(entity.name).\(relationship.name).\(Self.order)" }
  }

  private func orderedInverse(of toOne: ModelDraft.Relationship) -> ModelDraft.Relationship? {
    guard !toOne.isToMany else { return nil }
    return byName[toOne.destination]?.relationships.first { $0.name == toOne.inverse && $0.isToMany && $0.isOrdered }
  }

  static let positionAttribute = Attribute(
    kind: .integer, defaultValue: .null, minimum: .null, maximum: .null, minimumLength: nil, maximumLength: nil,
    cases: [], enumeration: nil, assignment: .position, isIndexed: false, isFullText: false)
}
