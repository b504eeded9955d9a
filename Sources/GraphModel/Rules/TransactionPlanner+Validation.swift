/// The last step: server-assigned values, then all rules on all touched objects. All violations are reported
/// together.
extension TransactionPlanner {
  mutating func stampAssignedValues() {
    guard touchedEntities.contains(where: { !$0.assignedProperties.isEmpty }) else { return }
    for draft in order where !draft.isDeleted {
      for property in draft.entity.assignedProperties {
        guard let assignment = property.attribute?.assignment else { continue }
        let isInsert = draft.before == nil
        let isMissing = draft.after[property].isNull
        // A revived object that is older than an optional property stays without a value; a required one is assigned.
        let isDue = isMissing && isInsert && !(draft.isRevived && property.isOptional)
        switch assignment {
        case .sequence where isDue:
          let next = sequences[property.number] ?? reader.nextInSequence(property.number)
          guard next < .max else {
            addViolation(
              draft.after.id, property, "assigned", .null,
              "\(draft.entity.name).\(property.name) has no number left in its sequence")
            continue
          }
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

  /// Whether the object changed, other than to make space for other members.
  private func hasChanged(_ draft: Draft) -> Bool {
    guard let before = draft.before, !draft.spacing.isEmpty else { return draft.before?.values != draft.after.values }
    return draft.entity.storedProperties.contains { property in
      !draft.spacing.contains(property.number) && before[property] != draft.after[property]
    }
  }

  /// Records properties whose edits failed. Later checks skip them, so that all violations are reported together.
  mutating func recordUnset() {
    // Properties that only the server assigns keep their valid values.
    for violation in violations where violation.rule == "type" || violation.rule == "destination" {
      unset[violation.id, default: []].insert(violation.property)
    }
  }

  private func isUnset(_ property: PropertyNumber, of id: ObjectID) -> Bool {
    !unset.isEmpty && unset[id]?.contains(property) == true
  }

  mutating func validate() throws {
    let keys = resultingKeys()
    let hasKeys = touchedEntities.contains { !$0.uniquenessConstraints.isEmpty }
    var slots = [Int]()
    for draft in order where !draft.isDeleted {
      // A value that the transaction did not change is already valid.
      draft.findChangedSlots(into: &slots)
      validate(slots, of: draft)
      if hasKeys { try validateUniqueness(of: draft, keys) }
    }
    for (id, properties) in countsToCheck.sorted(by: { $0.key < $1.key }) {
      for number in properties.sorted() { try validateCount(of: number, id) }
    }
    // A new object must have its minimum counts even if nothing was connected.
    guard touchedEntities.contains(where: \.hasMinimumCounts) else { return }
    for draft in order where draft.before == nil && !draft.isDeleted {
      let id = draft.after.id
      for property in draft.entity.relationships where property.requiresMembers {
        if countsToCheck[id]?.contains(property.number) != true { try validateCount(of: property.number, id) }
      }
    }
  }

  /// Checks values. A value derived from an invalid one is not reported, as only the source can be corrected.
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
      addViolation(draft.after.id, property, rule, value, "\(draft.entity.name).\(property.name) \(message)")
    }
  }

  private mutating func validateCount(of number: PropertyNumber, _ id: ObjectID) throws {
    guard !isUnset(number, of: id), let entity = try entity(of: id), let property = entity.property(number),
      let relationship = property.relationship
    else { return }
    let count = try related(to: id, through: property).count
    let objects = count == 1 ? "1 object" : "\(count) objects"
    if let minimum = relationship.minimumCount, count < minimum {
      addViolation(
        id, property, "count", .integer(Int64(count)),
        "\(entity.name).\(property.name) has \(objects); the minimum is \(minimum)")
    }
    if let maximum = relationship.maximumCount, count > maximum {
      addViolation(
        id, property, "count", .integer(Int64(count)),
        "\(entity.name).\(property.name) has \(objects); the maximum is \(maximum)")
    }
  }

  /// The unique keys that the touched objects will have.
  private func resultingKeys() -> [UniqueKey: [ObjectID]] {
    var keys = [UniqueKey: [ObjectID]]()
    guard touchedEntities.contains(where: { !$0.uniquenessConstraints.isEmpty }) else { return keys }
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

  /// Whether the constraint is a sequence, whose numbers clients can't set and are unique without a lookup.
  private func isSequence(_ constraint: [PropertyNumber]) -> Bool {
    constraint.count == 1 && model.property(constraint[0])?.attribute?.assignment == .sequence
  }

  private func values(of constraint: [PropertyNumber], _ image: ObjectImage, _ entity: Entity) -> [Value] {
    constraint.map { number in entity.property(number).map { image[$0] }.orNull }
  }

  private mutating func validateUniqueness(of draft: Draft, _ keys: [UniqueKey: [ObjectID]]) throws {
    for constraint in draft.entity.uniquenessConstraints
    where !isSequence(constraint) && deferredKeys.isDisjoint(with: constraint) {
      let values = values(of: constraint, draft.after, draft.entity)
      guard !values.contains(.null), unset[draft.after.id]?.isDisjoint(with: constraint) != false else { continue }
      if let before = draft.before, self.values(of: constraint, before, draft.entity) == values { continue }
      let owner = model.owner(of: constraint, in: draft.entity)
      let here = keys[UniqueKey(owner: owner.number, constraint: constraint, values: values), default: []]
      var others = [here.first { $0 != draft.after.id }].compactMap { $0 }
      if let stored = try reader.object(of: owner, matching: constraint, values: values), drafts[stored] == nil {
        others.append(stored)
      }
      guard let other = others.first else { continue }
      let last = try formerHolder(of: other, constraint, values)
      conflicts.append(
        Conflict(
          kind: .unique, id: other, property: constraint[0], mine: values[0], theirs: values[0],
          author: last.origin.author, revision: last.origin.revision))
      violations.append(
        Violation(
          draft.after.id, meets: constraint, of: owner, values: values, model,
          by: try holder(other, of: constraint, values, besides: draft)))
    }
  }

  /// The change that gave a stored object its key. Nil if it is this transaction, or if history does not have it.
  private func formerHolder(
    of other: ObjectID, _ constraint: [PropertyNumber], _ values: [Value]
  ) throws -> PastChange? {
    if let draft = drafts[other] {
      guard let before = draft.before, self.values(of: constraint, before, draft.entity) == values else { return nil }
    }
    return try reader.history(of: other, after: 0).last { change in
      change.kind == .inserted || constraint.contains { change.mayTouch($0) }
    }
  }

  /// The kind of object that already has the key.
  private func holder(
    _ other: ObjectID, of constraint: [PropertyNumber], _ values: [Value], besides draft: Draft
  ) throws -> Violation.KeyHolder {
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

  /// Violations of minimum and maximum counts, for objects whose to-many changed without their being touched.
  /// - Parameter owners: the objects, each with the relationship.
  public static func violations(
    ofCounts owners: [(id: ObjectID, property: PropertyNumber)], reader: any PlannerReader
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
  /// The kind of object that already has a unique key.
  public enum KeyHolder: Sendable {
    /// An existing object.
    case stored
    /// A new object of the same commit.
    case new
    /// An existing object that gets the key in the same commit.
    case changed
  }

  /// Creates a violation of a unique key.
  /// - Parameters:
  ///   - values: one for each property of the constraint.
  ///   - holder: the kind of object that has the key.
  public init(
    _ id: ObjectID, meets constraint: [PropertyNumber], of owner: Entity, values: [Value], _ model: Model,
    by holder: KeyHolder = .stored
  ) {
    let names = constraint.compactMap { model.property($0)?.name }.joined(separator: " and ")
    let message =
      switch holder {
      case .stored: "there is already \(owner.nameWithArticle) with this \(names)"
      case .new: "another new \(owner.name) has the same \(names)"
      case .changed: "another \(owner.name) gets the same \(names)"
      }
    self.init(
      id: id, property: constraint.first ?? 0, rule: "unique", value: values.first.orNull,
      others: zip(constraint, values).dropFirst().map { KeyPart($0, $1) },
      message: message)
  }
}
