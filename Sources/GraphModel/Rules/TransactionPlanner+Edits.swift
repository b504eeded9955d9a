/// Applying edits: checks the values and the destinations of a transaction, and passes the edits of relationships on to
/// the graph of drafts.
extension TransactionPlanner {
  mutating func apply(_ edit: Edit, to draft: Draft, isInsert: Bool, isRevival: Bool = false) throws {
    let id = draft.after.id
    guard let property = draft.entity.property(edit.property) else {
      let name = graph.model.propertyName(edit.property)
      throw Refusal(.malformed, "\(draft.entity.name) has no property \(name)")
    }
    if let attribute = property.attribute {
      return try apply(edit, property, attribute, to: draft, isInsert: isInsert, isRevival: isRevival)
    }
    switch (property.kind, edit.action) {
    case (.relationship(let relationship), .set(let value)) where !relationship.isToMany:
      try setReference(value, property, relationship, of: id)
    case (.relationship(let relationship), .set(.objects(let ids))):
      let wanted = try ids.compactMap { try destination($0, of: property, relationship, owner: id) }
      let related = try graph.related(to: id, through: property)
      // A list from an author who does not see all members does not change the invisible ones.
      let present = try related.filter { try !isInvisible($0) }
      let wantedSet = Set(wanted)
      for other in present where !wantedSet.contains(other) { try graph.disconnect(id, other, property, relationship) }
      let presentSet = Set(present)
      for other in wanted where !presentSet.contains(other) { try graph.connect(id, other, property, relationship) }
      if relationship.isOrdered, wanted.count == ids.count {
        // If each member stores its own place, invisible members keep their places without being in the list.
        let isWhole = related.count == present.count || relationship.storage != .members
        let list = isWhole ? wanted : Self.order(wanted, around: Set(related).subtracting(present), in: related)
        try graph.reorder(list, property, relationship, of: id)
      }
    case (.relationship(let relationship), .members(let added, let removed)) where relationship.isToMany:
      for other in removed {
        guard let other = graph.permanent(other), try !isInvisible(other) else { continue }
        try graph.disconnect(id, other, property, relationship)
      }
      for other in added {
        guard let other = try destination(other, of: property, relationship, owner: id) else { continue }
        try graph.connect(id, other, property, relationship)
      }
    case (.relationship(let relationship), .place(let others, let anchor)) where relationship.isOrdered:
      try place(others, after: anchor, property, relationship, of: id)
    default: throw cannotBeEdited(property, draft)
    }
  }

  /// The list in its new order, in which the members that its author does not see keep their indices.
  private static func order(
    _ wanted: [ObjectID], around unseen: Set<ObjectID>, in list: [ObjectID]
  ) -> [ObjectID] {
    var (ordered, rest) = ([ObjectID](), wanted[...])
    for member in list {
      if unseen.contains(member) {
        ordered.append(member)
      } else if let next = rest.popFirst() {
        ordered.append(next)
      }
    }
    return ordered + rest
  }

  private func cannotBeEdited(_ property: Property, _ draft: Draft) -> Refusal {
    Refusal(.malformed, "\(draft.entity.name).\(property.name) can't be edited in this way")
  }

  private mutating func apply(
    _ edit: Edit, _ property: Property, _ attribute: Attribute, to draft: Draft, isInsert: Bool, isRevival: Bool
  ) throws {
    guard !attribute.isTransient else {
      throw Refusal(.malformed, "\(draft.entity.name).\(property.name) is transient: it is not stored")
    }
    if attribute.isDerived {
      // A revived object's value is derived again.
      guard !isRevival else { return }
      findings.addViolation(
        draft.after.id, property, "assigned", .null,
        "\(draft.entity.name).\(property.name) is derived: the rules set it, not a client")
      return
    }
    switch edit.action {
    case .set(let value) where attribute.assignment == .position && (isRevival || isUndo):
      graph.restore(value, property, of: draft)
    case .set(let value):
      set(value, property, attribute, of: draft, isInsert: isInsert, isRevival: isRevival)
    case .splice(let splices):
      guard attribute.kind == .text else {
        throw Refusal(.malformed, "\(draft.entity.name).\(property.name) is not text: it can't be spliced")
      }
      let old = draft.after[property].textToSplice
      guard let new = TextSplice.apply(splices, to: old) else {
        throw Refusal(.malformed, "a splice of \(draft.entity.name).\(property.name) does not fit the text")
      }
      // The splices are recorded only if they apply to the text before the transaction; otherwise the difference is
      // computed. After a rebase over many others there may be more splices than a message allows.
      let isFirst =
        !isInsert && draft.before?[property].stringValue != nil && draft.before?[property] == draft.after[property]
      draft.after[property] = .string(new)
      draft.splices[property.number] = isFirst && splices.count <= Edit.maximumSplices ? splices : nil
    default: throw cannotBeEdited(property, draft)
    }
  }

  private mutating func set(
    _ value: Value, _ property: Property, _ attribute: Attribute, of draft: Draft, isInsert: Bool, isRevival: Bool
  ) {
    let id = draft.after.id
    if let assignment = attribute.assignment, !isRevival, !(isInsert && [.created, .updated].contains(assignment)) {
      findings.addViolation(
        id, property, "assigned", value, "\(draft.entity.name).\(property.name) is set by the server, not by a client")
      return
    }
    guard let checked = attribute.checked(value) else {
      findings.addViolation(
        id, property, "type", value,
        "\(draft.entity.name).\(property.name) needs a value of the type \(attribute.typeDescription)")
      return
    }
    draft.after[property] = checked
    if !draft.splices.isEmpty { draft.splices[property.number] = nil }
  }

  // MARK: - Relationships

  /// The permanent id of a relationship's new target; nil if it is invalid, which is recorded as a violation.
  mutating func destination(
    _ other: ObjectID, of property: Property, _ relationship: Relationship, owner: ObjectID
  ) throws -> ObjectID? {
    guard let other = graph.permanent(other) else {
      throw Refusal(.malformed, "\(property.name) names a temporary id that this transaction does not insert")
    }
    let wanted = graph.model.entity(relationship.destination)
    let isInvisible = try isInvisible(other)
    // History names the object, not the principal.
    if isInvisible, isUndo { throw AccessJudge.effectOnInvisible }
    guard !isInvisible, let entity = try graph.entity(of: other) else {
      if !isInvisible, try deletedTargets.recordIfDeleted(other, of: wanted, in: graph) { return nil }
      let name = wanted?.nameWithArticle ?? "an object"
      findings.addViolation(
        owner, property, "destination", .object(other),
        "\(property.name) refers to \(name) that does not exist: \(other)")
      return nil
    }
    if let wanted, !entity.isKind(of: wanted) {
      findings.addViolation(
        owner, property, "destination", .object(other),
        "\(property.name) needs \(wanted.nameWithArticle), but \(other) is \(entity.nameWithArticle)")
      return nil
    }
    // The concrete entity is stored, even if the client sent a parent entity.
    return ObjectID(key: other.key, entity: entity.number)
  }

  private mutating func setReference(
    _ value: Value, _ property: Property, _ relationship: Relationship, of id: ObjectID
  ) throws {
    switch value {
    case .null:
      if let old = graph.draft(of: id)?.after[property].objectID {
        try graph.disconnect(id, old, property, relationship)
      }
    case .object(let other):
      guard let other = try destination(other, of: property, relationship, owner: id) else { return }
      try graph.connect(id, other, property, relationship)
    default:
      findings.addViolation(id, property, "type", value, "\(property.name) needs the id of one object")
    }
  }

  /// Adds the objects as members and places them, in this order, directly after `anchor`.
  private mutating func place(
    _ objects: [ObjectID], after anchor: ObjectID?, _ property: Property, _ relationship: Relationship, of id: ObjectID
  ) throws {
    var members = [ObjectID]()
    for object in objects {
      guard let other = try destination(object, of: property, relationship, owner: id) else { continue }
      try graph.connect(id, other, property, relationship)
      members.append(other)
    }
    members = ListReorderer.unique(members)
    guard !members.isEmpty else { return }
    var anchor = anchor.map { graph.permanent($0) ?? $0 }
    if let known = anchor, try isInvisible(known) { anchor = ObjectID(key: .zero, entity: known.entity) }
    try graph.place(members, after: anchor, property, relationship, of: id)
  }
}
