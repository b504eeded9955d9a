import GraphModel

/// Converting relationships. Every relationship has an inverse here, and both ends name the entities that declare them.
extension VersionConverter {
  mutating func relationship(
    _ relationship: CoreDataModel.Relationship, in entity: CoreDataModel.Entity
  ) -> RelationshipDraft {
    let subject = "\(entity.name).\(relationship.name)"
    let back = model.inverse(of: relationship)
    if let back, back.owner.name != relationship.destination {
      log.add(
        .changed, relationship.place, subject,
        "leads to \(back.owner.name), which declares the inverse \(back.relationship.name), and not only to "
          + relationship.destination)
    }
    let isOwnInverse = back?.owner.name == entity.name && back?.relationship.name == relationship.name
    var converted = RelationshipDraft(
      source: relationship.name, identifier: relationship.renamingIdentifier,
      destination: back.map { $0.owner.name } ?? relationship.destination,
      inverse: back.map { $0.relationship.name } ?? "", isToMany: relationship.isToMany,
      isOptional: relationship.isOptional, isOrdered: relationship.isOrdered,
      deleteRule: relationship.deleteRule.flatMap { SourceModel.deleteRules[$0] } ?? "nullify",
      place: relationship.place)
    if isOwnInverse {
      converted.inverse = ""
      log.add(
        .changed, relationship.place, subject,
        "a relationship can't be its own inverse: a program that looks for both directions reads two relationships")
    }
    setCounts(relationship, subject, &converted)
    if relationship.isOrdered, !relationship.isToMany {
      converted.isOrdered = false
      log.leaveOut(relationship.place, subject, "ordered=\"YES\": a to-one has no order")
    }
    return converted
  }

  private mutating func setCounts(
    _ relationship: CoreDataModel.Relationship, _ subject: String, _ converted: inout RelationshipDraft
  ) {
    guard relationship.isToMany else {
      let isUsual = [nil, 0, 1].contains(relationship.minimumCount) && [nil, 0, 1].contains(relationship.maximumCount)
      if !isUsual { log.leaveOut(relationship.place, subject, "the counts of a to-one: it has one object or none") }
      return
    }
    // Core Data means no limit by 0.
    if let minimum = relationship.minimumCount, minimum > 0 { converted.minimumCount = minimum }
    if let maximum = relationship.maximumCount, maximum > 0 { converted.maximumCount = maximum }
    if !relationship.isOptional, converted.minimumCount == nil {
      converted.minimumCount = 1
      log.add(
        .changed, relationship.place, subject,
        "a to-many that is not optional has at least one object: minimumCount 1")
    } else if relationship.isOptional, let minimum = converted.minimumCount {
      log.add(
        .changed, relationship.place, subject,
        "an optional to-many may be empty in Core Data, in spite of its minimum: here it has at least \(minimum) "
          + "object\(minimum == 1 ? "" : "s")")
    }
    // A to-many has no optionality in a model file.
    converted.isOptional = true
  }

  // MARK: - Inverses

  /// Declares the missing ends of one-way relationships. Any number of objects may refer to one object, so the added
  /// end is a to-many.
  mutating func addInverses() {
    for index in draft.entities.indices {
      for number in draft.entities[index].relationships.indices
      where draft.entities[index].relationships[number].inverse.isEmpty {
        let owner = draft.entities[index].source
        let relationship = draft.entities[index].relationships[number]
        guard let end = draft.entities.firstIndex(where: { $0.source == relationship.destination }) else { continue }
        let name = freeName(
          RelationshipDraft.nameOfInverse(relationship.source, of: owner), in: relationship.destination)
        draft.entities[index].relationships[number].inverse = name
        var added = RelationshipDraft(
          source: name, destination: owner, inverse: relationship.source, isToMany: true, isOptional: true,
          isOrdered: false, deleteRule: "nullify", place: relationship.place)
        assert(added.inverse != added.source || end != index, "a relationship is not its own inverse")
        added.isAdded = true
        draft.entities[end].relationships.append(added)
        let effect =
          relationship.isToMany || relationship.isOptional
          ? "removes the reference to it" : "is refused while a required reference to it exists"
        log.add(
          .added, relationship.place, "\(owner).\(relationship.source)",
          "the inverse \(relationship.destination).\(name), because each relationship has one; deleting "
            + "\(relationship.destination.withArticle) \(effect)")
      }
    }
  }

  /// A name that no property of the entity's family has, ignoring case.
  private func freeName(_ name: String, in entity: String) -> String {
    let root = draft.root(of: entity)
    let family = draft.entities.filter { draft.root(of: $0.source) == root }
    let taken = Set(
      family.flatMap { $0.attributes.map(\.source) + $0.relationships.map(\.source) }.map { $0.lowercased() })
    var name = name
    while taken.contains(name.lowercased()) { name += "_" }
    return name
  }

  /// Keeps the order of one side of each many-to-many: the first in the file.
  mutating func keepOneOrder() {
    var ordered = Set<String>()
    for index in draft.entities.indices {
      for number in draft.entities[index].relationships.indices {
        let (owner, relationship) = (draft.entities[index].source, draft.entities[index].relationships[number])
        guard relationship.isOrdered else { continue }
        guard !ordered.contains("\(relationship.destination).\(relationship.inverse)") else {
          draft.entities[index].relationships[number].isOrdered = false
          log.leaveOut(
            relationship.place, "\(owner).\(relationship.source)",
            "its order: of a many-to-many one side can be ordered, and \(relationship.destination)."
              + "\(relationship.inverse) is; if both orders matter, make the pair an entity")
          continue
        }
        ordered.insert("\(owner).\(relationship.source)")
      }
    }
  }
}
