/// Applying edits and maintaining inverses: after this step both ends of every relationship agree.
extension TransactionPlanner {
  mutating func apply(_ edit: Edit, to draft: Draft, isInsert: Bool, isRevival: Bool = false) throws {
    let id = draft.after.id
    guard let property = draft.entity.property(edit.property) else {
      let name = model.propertyName(edit.property)
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
      let present = try related(to: id, through: property)
      let wantedSet = Set(wanted)
      for other in present where !wantedSet.contains(other) { try disconnect(id, other, property, relationship) }
      let presentSet = Set(present)
      for other in wanted where !presentSet.contains(other) { try connect(id, other, property, relationship) }
      if relationship.isOrdered, wanted.count == ids.count { try reorder(wanted, property, relationship, of: id) }
    case (.relationship(let relationship), .members(let added, let removed)) where relationship.isToMany:
      for other in removed {
        guard let other = permanent(other) else { continue }
        try disconnect(id, other, property, relationship)
      }
      for other in added {
        guard let other = try destination(other, of: property, relationship, owner: id) else { continue }
        try connect(id, other, property, relationship)
      }
    case (.relationship(let relationship), .place(let others, let anchor)) where relationship.isOrdered:
      try place(others, after: anchor, property, relationship, of: id)
    default: throw cannotBeEdited(property, draft)
    }
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
      addViolation(
        draft.after.id, property, "assigned", .null,
        "\(draft.entity.name).\(property.name) is derived: the rules set it, not a client")
      return
    }
    switch edit.action {
    case .set(let value) where attribute.assignment == .position && (isRevival || isUndo):
      restore(value, property, of: draft)
    case .set(let value):
      set(value, property, attribute, of: draft, isInsert: isInsert, isRevival: isRevival)
    case .splice(let splices):
      guard attribute.kind == .text else {
        throw Refusal(.malformed, "\(draft.entity.name).\(property.name) is not text: it can't be spliced")
      }
      let old = draft.after[property].stringValue ?? ""
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
      addViolation(
        id, property, "assigned", value, "\(draft.entity.name).\(property.name) is set by the server, not by a client")
      return
    }
    guard let checked = attribute.checked(value) else {
      addViolation(
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
    guard let other = permanent(other) else {
      throw Refusal(.malformed, "\(property.name) names a temporary id that this transaction does not insert")
    }
    let wanted = model.entity(relationship.destination)
    guard let entity = try entity(of: other) else {
      if try recordIfDeleted(other, of: wanted) { return nil }
      let name = wanted?.nameWithArticle ?? "an object"
      addViolation(
        owner, property, "destination", .object(other),
        "\(property.name) refers to \(name) that does not exist: \(other)")
      return nil
    }
    if let wanted, !entity.isKind(of: wanted) {
      addViolation(
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
      if let old = draft(of: id)?.after[property].objectID { try disconnect(id, old, property, relationship) }
    case .object(let other):
      guard let other = try destination(other, of: property, relationship, owner: id) else { return }
      try connect(id, other, property, relationship)
    default:
      addViolation(id, property, "type", value, "\(property.name) needs the id of one object")
    }
  }

  /// Makes `id` and `other` refer to each other through `property` and its inverse. Disconnects the previous objects
  /// of a to-one on either end.
  mutating func connect(_ id: ObjectID, _ other: ObjectID, _ property: Property, _ relationship: Relationship) throws {
    guard let inverse = model.property(relationship.inverse), let inverseRelationship = inverse.relationship else {
      return
    }
    if !relationship.isToMany, let old = draft(of: id)?.after[property].objectID {
      if old == other { return }
      try disconnect(id, old, property, relationship)
    }
    if !inverseRelationship.isToMany {
      // The other end takes a single object: disconnect the previous one.
      let previous = try related(to: other, through: inverse)
      for holder in previous where holder != id {
        guard try touch(holder) != nil else { continue }
        try disconnect(holder, other, property, relationship)
      }
    }
    try write(other, into: property, relationship, of: id)
    try write(id, into: inverse, inverseRelationship, of: other)
  }

  mutating func disconnect(
    _ id: ObjectID, _ other: ObjectID, _ property: Property, _ relationship: Relationship
  ) throws {
    guard let inverse = model.property(relationship.inverse), let inverseRelationship = inverse.relationship else {
      return
    }
    try erase(other, from: property, relationship, of: id)
    try erase(id, from: inverse, inverseRelationship, of: other)
  }

  /// Writes one end. An end without storage is unchanged, but its count may be limited.
  private mutating func write(
    _ other: ObjectID, into property: Property, _ relationship: Relationship, of id: ObjectID
  ) throws {
    recordCount(of: property, relationship, id)
    switch relationship.storage {
    case .inverse: break
    case .reference:
      guard let draft = try touch(id) else { return }
      let isNew = draft.after[property].objectID != other
      draft.after[property] = .object(other)
      if isNew { try append(draft, to: other, through: property) }
      addedReferences.append(id, to: Reference(target: other, property: property.number))
    case .members:
      guard let draft = try touch(id) else { return }
      var ids = draft.after[property].objectIDs
      let place = relationship.isOrdered ? ids.endIndex : ids.ascendingPlace(of: other)
      let isMember = relationship.isOrdered ? ids.contains(other) : place < ids.endIndex && ids[place] == other
      guard !isMember else { return }
      // Release the draft's reference so that the list is mutated in place; otherwise a thousand insertions would
      // copy it a thousand times.
      draft.after[property] = .null
      ids.insert(other, at: place)
      draft.after[property] = .objects(ids)
      addedReferences.append(id, to: Reference(target: other, property: property.number))
    }
  }

  private mutating func erase(
    _ other: ObjectID, from property: Property, _ relationship: Relationship, of id: ObjectID
  ) throws {
    recordCount(of: property, relationship, id)
    switch relationship.storage {
    case .inverse: break
    case .reference:
      guard let draft = try touch(id), draft.entity.property(property.number) != nil,
        draft.after[property].objectID == other
      else { return }
      removePlace(draft, through: property)
      draft.after[property] = .null
    case .members:
      guard let draft = try touch(id), draft.entity.property(property.number) != nil else { return }
      var ids = draft.after[property].objectIDs
      guard let place = ids.place(of: other, isOrdered: relationship.isOrdered) else { return }
      draft.after[property] = .null
      ids.remove(at: place)
      draft.after[property] = .objects(ids)
    }
  }

  private mutating func recordCount(of property: Property, _ relationship: Relationship, _ id: ObjectID) {
    guard relationship.minimumCount != nil || relationship.maximumCount != nil else { return }
    countsToCheck[id, default: []].insert(property.number)
  }

  /// The objects at the other end of a relationship after the transaction. They are in ascending order, unless the
  /// relationship stores an order of its own.
  func related(to id: ObjectID, through property: Property) throws -> [ObjectID] {
    guard let relationship = property.relationship else { return [] }
    if relationship.storage != .inverse {
      if let draft = draft(of: id) { return draft.after[property].objectIDs }
      return try reader.image(of: id).objectIDs(of: property)
    }
    guard let inverse = model.property(relationship.inverse) else { return [] }
    var ids = [ObjectID]()
    // The store has no referrers to an object that this transaction inserts.
    let isNew = draft(of: id).map { $0.before == nil } == true
    if !isNew {
      ids = try reader.referrers(to: id, through: inverse).filter { stillRefers($0, to: id, through: inverse) }
    }
    let gained = addedReferences[Reference(target: id, property: inverse.number)]
    if gained.isEmpty { return ids }
    return Set(ids + gained.filter { stillRefers($0, to: id, through: inverse) }).sorted()
  }

  private func stillRefers(_ other: ObjectID, to id: ObjectID, through property: Property) -> Bool {
    guard let draft = drafts[other] else { return true }
    guard !draft.isDeleted else { return false }
    if case .objects(let ids) = draft.after[property] {
      return ids.place(of: id, isOrdered: property.relationship?.isOrdered == true) != nil
    }
    return draft.after[property].objectID == id
  }
}

/// The lists of many-to-many relationships: distinct ids, ascending unless the relationship is ordered.
extension [ObjectID] {
  /// The index of the id in an ascending list, or its insertion point.
  fileprivate func ascendingPlace(of id: ObjectID) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The index of the id; nil if it is not in the list.
  fileprivate func place(of id: ObjectID, isOrdered: Bool) -> Int? {
    if isOrdered { return firstIndex(of: id) }
    let place = ascendingPlace(of: id)
    return place < endIndex && self[place] == id ? place : nil
  }
}
