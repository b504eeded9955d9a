/// The last step: server-assigned values, then every rule on every touched object, all errors at once.
extension TransactionPlanner {
  mutating func stampAssignedValues() {
    for id in order {
      guard let draft = drafts[id], !draft.isDeleted else { continue }
      for property in draft.entity.properties {
        guard let assignment = property.attribute?.assignment else { continue }
        let isInsert = draft.before == nil
        let isMissing = draft.after[property].isNull
        switch assignment {
        case .sequence where isMissing:
          let next = sequences[property.number] ?? reader.nextInSequence(property.number)
          setValue(.integer(next), property, of: id)
          sequences[property.number] = next + 1
        case .created where isMissing: setValue(.date(now), property, of: id)
        case .updated where isInsert ? isMissing : draft.before?.values != draft.after.values:
          setValue(.date(now), property, of: id)
        default: break
        }
      }
    }
  }

  mutating func validate() throws {
    let keys = keysAfterwards()
    for id in order {
      guard let draft = drafts[id], !draft.isDeleted else { continue }
      for property in draft.entity.properties {
        guard let slot = property.slot else { continue }
        // A value that the transaction did not change was valid when it came.
        if let before = draft.before, before.values[slot] == draft.after.values[slot] { continue }
        validate(draft.after.values[slot], property, of: draft)
      }
      try validateUniqueness(of: draft, keys)
    }
    for (id, properties) in countsToCheck.sorted(by: { $0.key < $1.key }) {
      for number in properties.sorted() { try validateCount(of: number, id) }
    }
    // An insert owes its minimum counts even when nothing was connected.
    for id in order {
      guard let draft = drafts[id], draft.before == nil, !draft.isDeleted else { continue }
      for property in draft.entity.relationships where (property.relationship?.minimumCount ?? 0) > 0 {
        if countsToCheck[id]?.contains(property.number) != true { try validateCount(of: property.number, id) }
      }
    }
  }

  private mutating func validate(_ value: Value, _ property: Property, of draft: Draft) {
    let id = draft.after.id
    let name = "\(draft.entity.name).\(property.name)"
    if value.isNull {
      if !property.isOptional { violate(id, property, "required", value, "\(name) needs a value") }
      return
    }
    guard let attribute = property.attribute else { return }
    for (rule, message) in attribute.brokenRules(value) { violate(id, property, rule, value, "\(name) \(message)") }
  }

  private mutating func validateCount(of number: PropertyNumber, _ id: ObjectID) throws {
    guard let entity = try entity(of: id), let property = entity.property(number),
      let relationship = property.relationship
    else { return }
    let count = try related(to: id, through: property).count
    if let minimum = relationship.minimumCount, count < minimum {
      violate(
        id, property, "count", .integer(Int64(count)),
        "\(entity.name).\(property.name) has \(count) objects and needs \(minimum)")
    }
    if let maximum = relationship.maximumCount, count > maximum {
      violate(
        id, property, "count", .integer(Int64(count)),
        "\(entity.name).\(property.name) has \(count) objects and takes \(maximum)")
    }
  }

  /// Who will have which unique key, of the objects that the transaction touches.
  private func keysAfterwards() -> [UniqueKey: [ObjectID]] {
    var keys = [UniqueKey: [ObjectID]]()
    for id in order {
      guard let draft = drafts[id], !draft.isDeleted else { continue }
      for constraint in draft.entity.uniquenessConstraints {
        let owner = model.owner(of: constraint, in: draft.entity).number
        let values = values(of: constraint, draft.after, draft.entity)
        keys[UniqueKey(owner: owner, constraint: constraint, values: values), default: []].append(id)
      }
    }
    return keys
  }

  private func values(of constraint: [PropertyNumber], _ image: ObjectImage, _ entity: Entity) -> [Value] {
    constraint.map { number in entity.property(number).map { image[$0] } ?? .null }
  }

  private mutating func validateUniqueness(of draft: Draft, _ keys: [UniqueKey: [ObjectID]]) throws {
    for constraint in draft.entity.uniquenessConstraints {
      // No client sets a sequence and none of its numbers is given twice: there is nothing to look up.
      if constraint.count == 1, model.property(constraint[0])?.attribute?.assignment == .sequence { continue }
      let values = values(of: constraint, draft.after, draft.entity)
      guard !values.contains(.null) else { continue }
      if let before = draft.before, self.values(of: constraint, before, draft.entity) == values { continue }
      let owner = model.owner(of: constraint, in: draft.entity)
      let here = keys[UniqueKey(owner: owner.number, constraint: constraint, values: values)] ?? []
      var others = [here.first { $0 != draft.after.id }].compactMap { $0 }
      if let stored = try reader.object(of: owner, matching: constraint, values: values), drafts[stored] == nil {
        others.append(stored)
      }
      guard let other = others.first else { continue }
      let names = constraint.compactMap { model.property($0)?.name }.joined(separator: " and ")
      conflicts.append(Conflict(kind: .unique, id: other))
      violate(
        draft.after.id, model.property(constraint[0]), "unique", values[0],
        "there is already a \(owner.name) with this \(names)")
    }
  }
}
