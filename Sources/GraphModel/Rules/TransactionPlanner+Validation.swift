/// The last step: server-assigned values, then every rule on every touched object, all errors at once.
extension TransactionPlanner {
  mutating func stampAssignedValues() {
    guard kinds.contains(where: { !$0.assignedProperties.isEmpty }) else { return }
    for draft in order where !draft.isDeleted {
      for property in draft.entity.assignedProperties {
        guard let assignment = property.attribute?.assignment else { continue }
        let isInsert = draft.before == nil
        let isMissing = draft.after[property].isNull
        // One that is older than the property goes without, and comes back without; what is required it is given.
        let isDue = isMissing && isInsert && !(draft.isRevived && property.isOptional)
        switch assignment {
        case .sequence where isDue:
          let next = sequences[property.number] ?? reader.nextInSequence(property.number)
          draft.after[property] = .integer(next)
          sequences[property.number] = next + 1
        case .created where isDue: draft.after[property] = .date(now)
        case .updated where isInsert ? isDue : hasChanged(draft):
          draft.after[property] = .date(now)
        default: break
        }
      }
    }
  }

  /// Making room for others is no change of the object.
  private func hasChanged(_ draft: Draft) -> Bool {
    guard let before = draft.before, !draft.spacing.isEmpty else { return draft.before?.values != draft.after.values }
    return draft.entity.storedProperties.contains { property in
      !draft.spacing.contains(property.number) && before[property] != draft.after[property]
    }
  }

  /// What is wrong by now is told with the rest, so that everything is told at once.
  mutating func recordUnset() {
    // What only the server sets is as it is all the same.
    for violation in violations where violation.rule == "type" || violation.rule == "destination" {
      unset[violation.id, default: []].insert(violation.property)
    }
  }

  private func isUnset(_ property: PropertyNumber, of id: ObjectID) -> Bool {
    !unset.isEmpty && unset[id]?.contains(property) == true
  }

  mutating func validate() throws {
    let keys = keysAfterwards()
    let hasKeys = kinds.contains { !$0.uniquenessConstraints.isEmpty }
    var slots = [Int]()
    for draft in order where !draft.isDeleted {
      // A value that the transaction did not change was valid when it came.
      draft.findChangedSlots(into: &slots)
      validate(slots, of: draft)
      if hasKeys { try validateUniqueness(of: draft, keys) }
    }
    for (id, properties) in countsToCheck.sorted(by: { $0.key < $1.key }) {
      for number in properties.sorted() { try validateCount(of: number, id) }
    }
    // An insert owes its minimum counts even when nothing was connected.
    guard kinds.contains(where: \.hasMinimumCounts) else { return }
    for draft in order where draft.before == nil && !draft.isDeleted {
      let id = draft.after.id
      for property in draft.entity.relationships where (property.relationship?.minimumCount ?? 0) > 0 {
        if countsToCheck[id]?.contains(property.number) != true { try validateCount(of: property.number, id) }
      }
    }
  }

  /// What is derived from a value that is wrong is wrong with it: only the value is told, for that one can be given.
  private mutating func validate(_ slots: [Int], of draft: Draft) {
    guard let expressions = model.parts.expressions[draft.entity.number] else {
      for slot in slots where draft.entity.ruleChecks[slot].isDue(for: draft.after.values[slot]) {
        validate(draft.after.values[slot], draft.entity.storedProperties[slot], of: draft)
      }
      return
    }
    let known = violations.count
    var derived = [(slot: Int, sources: Set<PropertyNumber>)]()
    for slot in slots {
      let property = draft.entity.storedProperties[slot]
      if let expression = expressions.first(where: { $0.attribute.number == property.number }) {
        derived.append((slot, expression.sources))
      } else {
        validate(draft.after.values[slot], property, of: draft)
      }
    }
    for (slot, sources) in derived
    where !violations[known...].contains(where: { sources.contains($0.property) })
      && unset[draft.after.id]?.isDisjoint(with: sources) != false
    {
      validate(draft.after.values[slot], draft.entity.storedProperties[slot], of: draft)
    }
  }

  private mutating func validate(_ value: Value, _ property: Property, of draft: Draft) {
    if isUnset(property.number, of: draft.after.id) { return }
    for (rule, message) in property.brokenRules(value) {
      violate(draft.after.id, property, rule, value, "\(draft.entity.name).\(property.name) \(message)")
    }
  }

  private mutating func validateCount(of number: PropertyNumber, _ id: ObjectID) throws {
    guard !isUnset(number, of: id), let entity = try entity(of: id), let property = entity.property(number),
      let relationship = property.relationship
    else { return }
    let count = try related(to: id, through: property).count
    let objects = count == 1 ? "1 object" : "\(count) objects"
    if let minimum = relationship.minimumCount, count < minimum {
      violate(
        id, property, "count", .integer(Int64(count)),
        "\(entity.name).\(property.name) has \(objects) and needs \(minimum)")
    }
    if let maximum = relationship.maximumCount, count > maximum {
      violate(
        id, property, "count", .integer(Int64(count)),
        "\(entity.name).\(property.name) has \(objects) and takes \(maximum)")
    }
  }

  /// Who will have which unique key, of the objects that the transaction touches.
  private func keysAfterwards() -> [UniqueKey: [ObjectID]] {
    var keys = [UniqueKey: [ObjectID]]()
    guard kinds.contains(where: { !$0.uniquenessConstraints.isEmpty }) else { return keys }
    for draft in order where !draft.isDeleted {
      for constraint in draft.entity.uniquenessConstraints where !isSequence(constraint) {
        let values = values(of: constraint, draft.after, draft.entity)
        guard !values.contains(.null) else { continue }
        let owner = model.owner(of: constraint, in: draft.entity).number
        keys[UniqueKey(owner: owner, constraint: constraint, values: values), default: []].append(draft.after.id)
      }
    }
    return keys
  }

  /// No client sets a sequence and none of its numbers is given twice: there is nothing to look up.
  private func isSequence(_ constraint: [PropertyNumber]) -> Bool {
    constraint.count == 1 && model.property(constraint[0])?.attribute?.assignment == .sequence
  }

  private func values(of constraint: [PropertyNumber], _ image: ObjectImage, _ entity: Entity) -> [Value] {
    constraint.map { number in entity.property(number).map { image[$0] } ?? .null }
  }

  private mutating func validateUniqueness(of draft: Draft, _ keys: [UniqueKey: [ObjectID]]) throws {
    for constraint in draft.entity.uniquenessConstraints
    where !isSequence(constraint) && deferredKeys.isDisjoint(with: constraint) {
      let values = values(of: constraint, draft.after, draft.entity)
      guard !values.contains(.null), unset[draft.after.id]?.isDisjoint(with: constraint) != false else { continue }
      if let before = draft.before, self.values(of: constraint, before, draft.entity) == values { continue }
      let owner = model.owner(of: constraint, in: draft.entity)
      let here = keys[UniqueKey(owner: owner.number, constraint: constraint, values: values)] ?? []
      var others = [here.first { $0 != draft.after.id }].compactMap { $0 }
      if let stored = try reader.object(of: owner, matching: constraint, values: values), drafts[stored] == nil {
        others.append(stored)
      }
      guard let other = others.first else { continue }
      let last = try keyGiver(of: other, constraint, values)
      conflicts.append(
        Conflict(
          kind: .unique, id: other, property: constraint[0], mine: values[0], theirs: values[0],
          author: last?.author ?? "", revision: last?.revision ?? 0))
      violations.append(
        Violation(
          draft.after.id, meets: constraint, of: owner, values: values, model,
          by: try holder(other, of: constraint, values, besides: draft)))
    }
  }

  /// The change that gave a stored object its key; nil where this transaction does, or history does not know.
  private func keyGiver(
    of other: ObjectID, _ constraint: [PropertyNumber], _ values: [Value]
  ) throws -> PastChange? {
    if let draft = drafts[other] {
      guard let before = draft.before, self.values(of: constraint, before, draft.entity) == values else { return nil }
    }
    return try reader.history(of: other, after: 0).last { change in
      change.kind == .inserted || constraint.contains { change.mayTouch($0) }
    }
  }

  /// Who has the key that an object was to get.
  private func holder(
    _ other: ObjectID, of constraint: [PropertyNumber], _ values: [Value], besides draft: Draft
  ) throws -> Violation.Holder {
    if let other = drafts[other] {
      guard let before = other.before else { return .new }
      return self.values(of: constraint, before, other.entity) == values ? .stored : .changed
    }
    guard isSlice, try reader.image(of: other)?.revision == revision else { return .stored }
    return draft.before == nil ? .new : .changed
  }
}

extension TransactionPlanner {
  /// The rules that an object's own values break.
  public static func violations(of image: ObjectImage, in model: Model) -> [Violation] {
    guard let entity = model.entity(image.id.entity) else { return [] }
    var found = [Violation]()
    for property in entity.storedProperties {
      for (rule, message) in property.brokenRules(image[property]) {
        found.append(
          Violation(
            id: image.id, property: property.number, rule: rule, value: image[property],
            message: "\(entity.name).\(property.name) \(message)"))
      }
    }
    for rule in model.rules(of: entity.number) where !rule.holds(for: image) {
      found.append(Violation(id: image.id, rule: rule.name, message: rule.message))
    }
    return found
  }

  /// The counts that are wrong, of objects whose to-many has changed without their being touched.
  /// - Parameter owners: the objects, each with its relationship.
  public static func violations(
    ofCounts owners: [(id: ObjectID, property: PropertyNumber)], reader: any GraphReader
  ) throws -> [Violation] {
    var planner = TransactionPlanner(
      reader: reader, model: reader.model,
      transaction: Transaction(id: TransactionID(replica: .zero, sequence: 0), changes: []), revision: 0, now: 0,
      isUndo: false)
    for owner in owners { try planner.validateCount(of: owner.property, owner.id) }
    return planner.violations
  }
}

extension Violation {
  /// Whose a unique key is that an object was to get.
  public enum Holder: Sendable {
    /// An object's that is there.
    case stored
    /// One's that the same commit was to make.
    case new
    /// One's that the same commit was to give the key to.
    case changed
  }

  /// Another object has the key.
  /// - Parameters:
  ///   - values: one for each property of the constraint.
  ///   - holder: who has it.
  public init(
    _ id: ObjectID, meets constraint: [PropertyNumber], of owner: Entity, values: [Value], _ model: Model,
    by holder: Holder = .stored
  ) {
    let names = constraint.compactMap { model.property($0)?.name }.joined(separator: " and ")
    let message =
      switch holder {
      case .stored: "there is already \(owner.nameWithArticle) with this \(names)"
      case .new: "another new \(owner.name) has the same \(names)"
      case .changed: "another \(owner.name) gets the same \(names)"
      }
    self.init(
      id: id, property: constraint.first ?? 0, rule: "unique", value: values.first ?? .null,
      others: zip(constraint, values).dropFirst().map { KeyPart($0, $1) },
      message: message)
  }
}
