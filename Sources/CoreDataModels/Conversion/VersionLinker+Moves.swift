/// Properties that another entity of the same lineage declares in the next version.
///
/// For a migration they are other properties. Core Data keeps the values of both directions, because it compares all
/// properties of an entity, with the inherited ones. A mapping does so if a parent has declared the attribute. An
/// expression over a parent's objects can't read an attribute of its subentities, and no mapping gives a relationship;
/// both are reported.
extension VersionLinks {
  /// The attribute of a parent that an attribute was in the version before, and the parent.
  func parentAttribute(
    before attribute: AttributeDraft, of entity: EntityDraft, from old: VersionDraft, to new: VersionDraft
  ) -> (entity: EntityDraft, attribute: AttributeDraft)? {
    guard let before = entities[entity.source], isNew(attribute, of: entity) else { return nil }
    for owner in old.lineage(of: before).dropFirst() {
      if let found = match(attribute, in: owner), !hasSuccessor(found.source, of: owner, new) { return (owner, found) }
    }
    return nil
  }

  /// The attributes of subentities that an attribute was in the version before, and the subentities.
  func childAttributes(
    before attribute: AttributeDraft, of entity: EntityDraft, from old: VersionDraft, to new: VersionDraft
  ) -> [(entity: EntityDraft, attribute: AttributeDraft)] {
    guard let before = entities[entity.source], isNew(attribute, of: entity) else { return [] }
    return old.entities.compactMap { owner in
      guard let found = match(attribute, in: owner), old.isEntity(owner.source, below: before),
        !hasSuccessor(found.source, of: owner, new)
      else { return nil }
      return (entity: owner, attribute: found)
    }
  }

  /// The relationships of a parent or subentities that a relationship was in the version before, and their entities.
  func movedRelationships(
    before relationship: RelationshipDraft, of entity: EntityDraft, from old: VersionDraft, to new: VersionDraft
  ) -> [(entity: EntityDraft, relationship: RelationshipDraft)] {
    guard let before = entities[entity.source], !relationship.isAdded,
      properties["\(entity.source).\(relationship.source)"] == nil
    else { return [] }
    let names = [relationship.source, relationship.identifier]
    return old.entities.compactMap { owner in
      guard let found = owner.relationships.first(where: { !$0.isAdded && names.contains($0.source) }),
        old.isEntity(owner.source, below: before) || old.isEntity(before, below: owner.source),
        !hasSuccessor(found.source, of: owner, new)
      else { return nil }
      return (entity: owner, relationship: found)
    }
  }

  private func isNew(_ attribute: AttributeDraft, of entity: EntityDraft) -> Bool {
    properties["\(entity.source).\(attribute.source)"] == nil && !attribute.has("transient")
      && !attribute.has("assigned") && attribute.derivation == nil
  }

  /// The attribute of an earlier entity with the name or the renaming identifier of one.
  private func match(_ attribute: AttributeDraft, in owner: EntityDraft) -> AttributeDraft? {
    let names = [attribute.source, attribute.identifier]
    return owner.attributes.first { !$0.has("transient") && names.contains($0.source) }
  }

  private func hasSuccessor(_ property: String, of owner: EntityDraft, _ new: VersionDraft) -> Bool {
    new.entities.filter { entities[$0.source] == owner.source }.contains { entity in
      let sources = entity.attributes.map(\.source) + entity.relationships.map(\.source)
      return sources.contains { properties["\(entity.source).\($0)"] == property }
    }
  }
}

extension VersionDraft {
  /// Whether an entity inherits from another one.
  fileprivate func isEntity(_ entity: String, below ancestor: String) -> Bool {
    lineage(of: entity).dropFirst().contains { $0.source == ancestor }
  }
}

extension AttributeDraft {
  /// The types whose values a function converts, by the type that it returns.
  private static let conversions: [String: Set<String>] = [
    "integer": ["double", "decimal", "string"], "double": ["decimal", "string"], "decimal": ["double", "string"],
    "uuid": ["string"],
  ]

  /// Whether a function, which has the name of this type, converts the values of an earlier attribute.
  func converts(_ earlier: AttributeDraft) -> Bool { Self.conversions[type, default: []].contains(earlier.type) }

  /// The expression of a mapping for values of an earlier attribute; nil if there is none.
  func expression(of earlier: AttributeDraft, _ name: String) -> String? {
    if composite != nil || earlier.composite != nil { return nil }
    if type == earlier.type { return name }
    return converts(earlier) ? "\(type)(\(name))" : nil
  }
}

extension VersionLinker {
  /// A moved property of a version, with what a migration does.
  struct Move {
    let place: SourcePlace
    let subject: String
    /// Whether a migration keeps the values.
    let isKept: Bool
    /// The property in the version before.
    let source: String
  }

  /// The moved properties of a version; none of the first one.
  func moves(_ index: Int) -> [Move] {
    guard index > 0 else { return [] }
    let (old, new) = (drafts[index - 1], drafts[index])
    var moves = [Move]()
    for entity in new.entities {
      for attribute in entity.attributes {
        let subject = "\(entity.source).\(attribute.source)"
        if let before = links[index].parentAttribute(before: attribute, of: entity, from: old, to: new) {
          let source = before.attribute.source
          moves.append(
            Move(
              place: attribute.place, subject: subject,
              isKept: attribute.expression(of: before.attribute, source) != nil,
              source: "\(before.entity.source).\(source)"))
        } else {
          for before in links[index].childAttributes(before: attribute, of: entity, from: old, to: new) {
            let source = "\(before.entity.source).\(before.attribute.source)"
            moves.append(Move(place: attribute.place, subject: subject, isKept: false, source: source))
          }
        }
      }
      for relationship in entity.relationships {
        for before in links[index].movedRelationships(before: relationship, of: entity, from: old, to: new) {
          moves.append(
            Move(
              place: relationship.place, subject: "\(entity.source).\(relationship.source)", isKept: false,
              source: "\(before.entity.source).\(before.relationship.source)"))
        }
      }
    }
    return moves
  }
}
