/// Checks the rules: on values, keys and counts of the touched objects, then the model's predicate rules. It is the
/// last step of a plan, and finds all violations together.
public struct RuleValidator {
  /// Properties whose edits failed. They don't have the intended values, so rules that depend on them are not checked.
  private let unset: [ObjectID: Set<PropertyNumber>]
  /// Properties whose unique keys are checked later, after all slices of a batch.
  private let deferredKeys: Set<PropertyNumber>
  /// Whether the transaction is a slice of a batch. Objects written by other slices have the commit's revision.
  private let isSlice: Bool

  /// - Parameter violations: the violations by the transaction's edits.
  init(after violations: [Violation] = [], deferredKeys: Set<PropertyNumber> = [], isSlice: Bool = false) {
    var unset = [ObjectID: Set<PropertyNumber>]()
    // Properties that only the server assigns keep their valid values.
    for violation in violations where [.type, .destination].contains(violation.commonRule) {
      unset[violation.id, default: []].insert(violation.property)
    }
    self.unset = unset
    self.deferredKeys = deferredKeys
    self.isSlice = isSlice
  }

  /// Checks all rules on all touched objects.
  func validate(_ graph: DraftGraph, _ findings: inout PlanFindings) throws {
    try validateObjects(graph, &findings)
    validateRules(graph, &findings)
  }

  private func isUnset(_ property: PropertyNumber, of id: ObjectID) -> Bool {
    !unset.isEmpty && unset[id]?.contains(property) == true
  }

  private func validateObjects(_ graph: DraftGraph, _ findings: inout PlanFindings) throws {
    let keys = resultingKeys(in: graph)
    let hasKeys = graph.touchedEntities.contains { !$0.uniquenessConstraints.isEmpty }
    var slots = [Int]()
    for draft in graph.order where !draft.isDeleted {
      // A value that the transaction did not change is already valid.
      draft.findChangedSlots(into: &slots)
      validate(slots, of: draft, in: graph, &findings)
      if hasKeys { try validateUniqueness(of: draft, keys, in: graph, &findings) }
    }
    if !graph.changedCounts.isEmpty {
      for (id, properties) in graph.changedCounts.sorted(by: { $0.key < $1.key }) {
        for number in properties.sorted() { try validateCount(of: number, id, in: graph, &findings) }
      }
    }
    // A new object must have its minimum counts even if nothing was connected.
    guard graph.touchedEntities.contains(where: \.hasMinimumCounts) else { return }
    for draft in graph.order where draft.before == nil && !draft.isDeleted {
      let id = draft.after.id
      for property in draft.entity.relationships where property.requiresMembers {
        if graph.changedCounts[id]?.contains(property.number) != true {
          try validateCount(of: property.number, id, in: graph, &findings)
        }
      }
    }
  }

  /// Checks values. A value derived from an invalid one is not reported, as only the source can be corrected.
  private func validate(
    _ slots: [Int], of draft: Draft, in graph: DraftGraph, _ findings: inout PlanFindings
  ) {
    guard let expressions = graph.model.parts.expressions[draft.entity.number] else {
      for slot in slots where draft.entity.ruleChecks[slot].isDue(for: draft.after.values[slot]) {
        validate(draft.after.values[slot], draft.entity.storedProperties[slot], of: draft, &findings)
      }
      return
    }
    assert(draft.entity.ruleChecks.count == draft.after.values.count, "each slot has its check")
    let known = findings.violations.count
    var derived = [(slot: Int, sources: Set<PropertyNumber>)]()
    for slot in slots {
      let property = draft.entity.storedProperties[slot]
      if let expression = expressions.first(where: { $0.attribute.number == property.number }) {
        derived.append((slot, expression.sources))
      } else {
        validate(draft.after.values[slot], property, of: draft, &findings)
      }
    }
    for (slot, sources) in derived
    where !findings.violations[known...].contains(where: { sources.contains($0.property) })
      && unset[draft.after.id]?.isDisjoint(with: sources) != false
    {
      validate(draft.after.values[slot], draft.entity.storedProperties[slot], of: draft, &findings)
    }
  }

  private func validate(
    _ value: Value, _ property: Property, of draft: Draft, _ findings: inout PlanFindings
  ) {
    if isUnset(property.number, of: draft.after.id) { return }
    for (rule, message) in property.brokenRules(value) {
      findings.addViolation(draft.after.id, property, rule, value, "\(draft.entity.name).\(property.name) \(message)")
    }
  }

  private func validateCount(
    of number: PropertyNumber, _ id: ObjectID, in graph: DraftGraph, _ findings: inout PlanFindings
  ) throws {
    guard !isUnset(number, of: id), let entity = try graph.entity(of: id), let property = entity.property(number),
      let relationship = property.relationship
    else { return }
    let count = try graph.related(to: id, through: property).count
    let objects = count == 1 ? "1 object" : "\(count) objects"
    if let minimum = relationship.minimumCount, count < minimum {
      findings.addViolation(
        id, property, "count", .integer(Int64(count)),
        "\(entity.name).\(property.name) has \(objects); the minimum is \(minimum)")
    }
    if let maximum = relationship.maximumCount, count > maximum {
      findings.addViolation(
        id, property, "count", .integer(Int64(count)),
        "\(entity.name).\(property.name) has \(objects); the maximum is \(maximum)")
    }
  }

  /// The unique keys that the touched objects will have; empty for a single object, which can't have the key of another
  /// one.
  private func resultingKeys(in graph: DraftGraph) -> [UniqueKey: [ObjectID]] {
    var keys = [UniqueKey: [ObjectID]]()
    guard graph.order.count > 1, graph.touchedEntities.contains(where: { !$0.uniquenessConstraints.isEmpty }) else {
      return keys
    }
    for draft in graph.order where !draft.isDeleted {
      for constraint in draft.entity.uniquenessConstraints where !isSequence(constraint, in: graph.model) {
        let values = values(of: constraint, draft.after, draft.entity)
        guard !values.contains(.null) else { continue }
        let owner = graph.model.owner(of: constraint, in: draft.entity).number
        keys[UniqueKey(owner: owner, constraint: constraint, values: values), default: []].append(draft.after.id)
      }
    }
    return keys
  }

  /// Whether the constraint is a sequence, whose numbers clients can't set and are unique without a lookup.
  private func isSequence(_ constraint: [PropertyNumber], in model: Model) -> Bool {
    constraint.count == 1 && model.property(constraint[0])?.attribute?.assignment == .sequence
  }

  private func values(of constraint: [PropertyNumber], _ image: ObjectImage, _ entity: Entity) -> [Value] {
    constraint.map { number in entity.property(number).map { image[$0] }.orNull }
  }

  private func validateUniqueness(
    of draft: Draft, _ keys: [UniqueKey: [ObjectID]], in graph: DraftGraph, _ findings: inout PlanFindings
  ) throws {
    for constraint in draft.entity.uniquenessConstraints
    where !isSequence(constraint, in: graph.model) && deferredKeys.isDisjoint(with: constraint) {
      let values = values(of: constraint, draft.after, draft.entity)
      guard !values.contains(.null), unset[draft.after.id]?.isDisjoint(with: constraint) != false else { continue }
      if let before = draft.before, self.values(of: constraint, before, draft.entity) == values { continue }
      let owner = graph.model.owner(of: constraint, in: draft.entity)
      let here = keys[UniqueKey(owner: owner.number, constraint: constraint, values: values), default: []]
      var others = [here.first { $0 != draft.after.id }].compactMap { $0 }
      if let stored = try graph.reader.object(of: owner, matching: constraint, values: values),
        graph.draft(of: stored) == nil
      {
        others.append(stored)
      }
      guard let other = others.first else { continue }
      let last = try formerHolder(of: other, constraint, values, in: graph)
      findings.add(
        Conflict(
          kind: .unique, id: other, property: constraint[0], mine: values[0], theirs: values[0],
          author: last.origin.author, revision: last.origin.revision))
      findings.add(
        Violation(
          draft.after.id, meets: constraint, of: owner, values: values, graph.model,
          by: try holder(other, of: constraint, values, besides: draft, in: graph)))
    }
  }

  /// The change that gave a stored object its key. Nil if it is this transaction, or if history does not have it.
  private func formerHolder(
    of other: ObjectID, _ constraint: [PropertyNumber], _ values: [Value], in graph: DraftGraph
  ) throws -> PastChange? {
    if let draft = graph.draft(of: other) {
      guard let before = draft.before, self.values(of: constraint, before, draft.entity) == values else { return nil }
    }
    return try graph.reader.history(of: other, after: 0).last { change in
      change.kind == .inserted || constraint.contains { change.mayTouch($0) }
    }
  }

  /// The kind of object that already has the key.
  private func holder(
    _ other: ObjectID, of constraint: [PropertyNumber], _ values: [Value], besides draft: Draft,
    in graph: DraftGraph
  ) throws -> Violation.KeyHolder {
    if let other = graph.draft(of: other) {
      guard let before = other.before else { return .new }
      return self.values(of: constraint, before, other.entity) == values ? .stored : .changed
    }
    guard isSlice, try graph.reader.image(of: other)?.revision == graph.revision else { return .stored }
    return draft.before == nil ? .new : .changed
  }

  // MARK: - Rules of the model

  private func validateRules(_ graph: DraftGraph, _ findings: inout PlanFindings) {
    guard graph.touchedEntities.contains(where: { !graph.model.rules(of: $0.number).isEmpty }) else { return }
    for draft in graph.order where !draft.isDeleted {
      let rules = graph.model.rules(of: draft.entity.number)
      guard !rules.isEmpty, draft.before?.values != draft.after.values else { continue }
      let unread = unreadable(in: draft, graph.model)
      for rule in rules where rule.sources.isDisjoint(with: unread) && !rule.holds(for: draft.after) {
        findings.addViolation(draft.after.id, nil, rule.name, .null, rule.message)
      }
    }
  }

  /// Properties whose edits failed, and properties derived from them. Rules that read them can't be evaluated.
  private func unreadable(in draft: Draft, _ model: Model) -> Set<PropertyNumber> {
    guard var unread = unset[draft.after.id] else { return [] }
    for derived in model.parts.expressions[draft.entity.number, default: []]
    where !derived.sources.isDisjoint(with: unread) {
      unread.insert(derived.attribute.number)
    }
    return unread
  }
}

extension RuleValidator {
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
    let (validator, graph) = (RuleValidator(), DraftGraph(reader, revision: 0))
    var findings = PlanFindings()
    for owner in owners { try validator.validateCount(of: owner.property, owner.id, in: graph, &findings) }
    return findings.violations
  }
}
