/// The conflicts and violations that a planner finds in a transaction, in the order of their discovery.
struct PlanFindings {
  private(set) var conflicts = [Conflict]()
  private(set) var violations = [Violation]()
  /// The conflicts that several edits may find, to report each only once.
  private var distinctConflicts = Set<Conflict>()
  /// Objects that the transaction changes or deletes and that never existed.
  private var unknownObjects = Set<ObjectID>()

  mutating func add(_ conflict: Conflict) { conflicts.append(conflict) }

  /// Adds a conflict that several edits may find, unless it was already added here.
  mutating func addOnce(_ conflict: Conflict) {
    if distinctConflicts.insert(conflict).inserted { conflicts.append(conflict) }
  }

  mutating func add(_ violation: Violation) { violations.append(violation) }

  /// Adds a violation of one property, or of the whole object for nil.
  mutating func addViolation(_ id: ObjectID, _ property: Property?, _ rule: String, _ value: Value, _ message: String) {
    let number: PropertyNumber = if let property { property.number } else { 0 }
    violations.append(Violation(id: id, property: number, rule: rule, value: value, message: message))
  }

  /// Records that an object never existed, or that the store was restored to a state before it. The client can then
  /// discard the object.
  mutating func addUnknown(_ id: ObjectID, in graph: DraftGraph) {
    // After discarding these, a client's next attempt reports the others.
    guard unknownObjects.count < Batch.maximumViolations, unknownObjects.insert(id).inserted else { return }
    let rule = Violation.CommonRule.missing.rawValue
    addViolation(id, nil, rule, .null, "there is no \(graph.model.entityName(of: id)) with the id \(id)")
  }

  /// Records that an update of a deleted object loses, under every policy.
  mutating func addMissing(_ id: ObjectID, in graph: DraftGraph) throws {
    if let deletion = try graph.reader.deletion(of: id) {
      // Several edits of one transaction may refer to the same deleted object.
      addOnce(Conflict(kind: .deleted, id: id, author: deletion.author, revision: deletion.revision))
    } else if graph.isDeleted(id) {
      add(Conflict(kind: .deleted, id: id))
    } else {
      addUnknown(id, in: graph)
    }
  }

  /// The violations with the temporary ids of inserts, because the client knows only these.
  func violationsWithTemporaryIDs(in graph: DraftGraph) -> [Violation] {
    let temporary = graph.temporaryIDs()
    return violations.map { violation in
      var violation = violation
      violation.id = temporary[violation.id] ?? violation.id
      return violation
    }
  }

  /// Refuses the transaction if it violates a rule.
  /// - Parameter deletedTargets: deleted objects to which the transaction refers; their conflicts explain violations.
  func refuseIfViolated(in graph: DraftGraph, deletedTargets: Set<ObjectID>) throws(Refusal) {
    guard !violations.isEmpty else { return }
    let temporary = graph.temporaryIDs()
    let reported = conflicts.filter { $0.kind == .unique || deletedTargets.contains($0.id) }.map { conflict in
      var conflict = conflict
      // An object that will not be inserted is known by its temporary id.
      if let draft = graph.draft(of: conflict.id), draft.before == nil {
        conflict.id = temporary[conflict.id] ?? conflict.id
      }
      return conflict
    }
    throw Refusal(violations: violationsWithTemporaryIDs(in: graph), conflicts: reported)
  }

  /// The message of a refusal for conflicts, which describes the first one.
  static func message(for conflicts: [Conflict], in graph: DraftGraph) throws(InvariantFailure) -> String {
    let first = try invariant(conflicts.first, "a refusal for conflicts has one")
    let entity = graph.model.entityName(of: first.id)
    let who = first.author.isEmpty ? "someone else" : graph.reader.shownName(ofAuthor: first.author)
    let more = conflicts.count > 1 ? " (and \(conflicts.count - 1) more conflicts)" : ""
    switch first.kind {
    // The conflict's author is the one who revived the object.
    case .deleted where graph.draft(of: first.id)?.isDeleted == false:
      return "this \(entity) was deleted since you read it, and brought back by \(who)\(more)"
    case .deleted: return "\(who) has deleted this \(entity)\(more)"
    case .changed:
      let property = graph.model.property(first.property).map { "\(entity).\($0.name)" } ?? "this \(entity)"
      return "\(who) has changed \(property) since you read it\(more)"
    case .unique: return "another \(entity) has the same unique key\(more)"
    }
  }
}

extension Model {
  /// The name of an object's entity for messages; the client may have sent an unknown one.
  func entityName(of id: ObjectID) -> String {
    if let entity = entity(id.entity) { entity.name } else { "object" }
  }
}
