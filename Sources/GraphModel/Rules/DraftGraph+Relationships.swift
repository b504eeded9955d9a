/// Maintaining inverses: after each edit both ends of a relationship agree.
extension DraftGraph {
  /// Makes `id` and `other` refer to each other through `property` and its inverse. Disconnects the previous objects
  /// of a to-one on either end.
  mutating func connect(_ id: ObjectID, _ other: ObjectID, _ property: Property, _ relationship: Relationship) throws {
    let (inverse, inverseRelationship) = try inverse(of: relationship)
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

  /// The other end of a relationship, which each relationship has.
  func inverse(
    of relationship: Relationship
  ) throws(InvariantFailure) -> (property: Property, relationship: Relationship) {
    let property = try invariant(model.property(relationship.inverse), "a relationship has an inverse")
    return (property, try invariant(property.relationship, "the inverse of a relationship is one"))
  }

  mutating func disconnect(
    _ id: ObjectID, _ other: ObjectID, _ property: Property, _ relationship: Relationship
  ) throws {
    let (inverse, inverseRelationship) = try inverse(of: relationship)
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
    changedCounts[id, default: []].insert(property.number)
  }

  /// The objects at the other end of a relationship after the transaction. They are in ascending order, unless the
  /// relationship stores an order of its own.
  func related(to id: ObjectID, through property: Property) throws -> [ObjectID] {
    guard let relationship = property.relationship else { return [] }
    if relationship.storage != .inverse {
      if let draft = draft(of: id) { return draft.after[property].objectIDs }
      return try reader.image(of: id).objectIDs(of: property)
    }
    let inverse = try inverse(of: relationship).property
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
    guard let draft = draft(of: other) else { return true }
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
