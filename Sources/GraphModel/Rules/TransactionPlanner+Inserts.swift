/// Inserts: the server allocates the object's id and applies its defaults and the given values.
extension TransactionPlanner {
  /// Maps all temporary ids to permanent ones, and returns the draft that each change inserts. Under a trump policy
  /// an insert with an existing unique key becomes the existing object and has no draft of its own; two clients that
  /// both create the tag `foo` therefore succeed.
  mutating func identifyInserts(_ identify: (ObjectID) -> ObjectID) throws -> [Draft?] {
    var inserted = [Draft?](repeating: nil, count: transaction.changes.count)
    // The edits are read later, so that the edits of a large transaction don't pass through the CPU cache twice.
    for index in transaction.changes.indices {
      let (kind, given) = (transaction.changes[index].kind, transaction.changes[index].id)
      guard kind == .insert || kind == .revive else { continue }
      guard let entity = graph.model.entity(given.entity) else {
        throw Refusal(.malformed, "there is no entity number \(given.entity) in the model \(graph.model.name)")
      }
      guard !entity.isAbstract else {
        throw Refusal(.malformed, "\(entity.name) is abstract: only its subentities have objects")
      }
      guard (kind == .insert) == given.isTemporary else { throw Self.needsOwnID }
      let merges = transaction.policy != .error && !entity.uniquenessConstraints.isEmpty
      if merges, kind == .insert,
        let id = try upserts.existingObject(for: index, in: transaction.changes, of: entity, graph),
        try !isInvisible(id)
      {
        try assignID(given, id)
        continue
      }
      let id = kind == .revive ? given : identify(given)
      if kind == .insert { try assignID(given, id) }
      // A revived object gets its earlier values, nulls included.
      let values = kind == .insert ? entity.initialValues : entity.emptyValues
      let draft = Draft(entity: entity, after: ObjectImage(id: id, revision: graph.revision, values: values))
      guard graph.register(draft) else { throw Self.needsOwnID }
      inserted[index] = draft
      if merges { upserts.add(id, for: transaction.changes[index], of: entity, graph) }
    }
    return inserted
  }

  private static let needsOwnID = Refusal(.malformed, "an insert needs a temporary id of its own")

  private mutating func assignID(_ temporary: ObjectID, _ permanent: ObjectID) throws {
    guard graph.assign(permanent, to: temporary) else { throw Self.needsOwnID }
  }

  mutating func applyInsert(_ change: Change, to draft: Draft) throws {
    draft.isRevived = change.kind == .revive
    for edit in change.edits {
      // An insert takes objects from others as of the present.
      let remaining = change.kind == .insert ? try uncontestedPart(edit, of: draft, since: .max) : edit
      if let remaining { try apply(remaining, to: draft, isInsert: true, isRevival: change.kind == .revive) }
    }
  }

  /// Applies an insert to the existing object with its key. Additions to to-manys merge. For different values the
  /// policy decides: `objectTrump` takes the insert's values, `overwrite` also its defaults for all other properties,
  /// `storeTrump` and `rollback` keep the stored ones.
  mutating func mergeIntoExisting(_ change: Change) throws {
    guard let known = graph.permanent(change.id), let draft = try graph.touch(known) else { return }
    try refuseMergingInto(draft)
    let mineWins = transaction.policy.prefersTransaction
    var edits = change.edits.filter { graph.model.property($0.property)?.attribute?.assignment == nil }
    if transaction.policy == .overwrite, draft.before != nil { edits += omittedValues(by: change, draft.entity) }
    for edit in edits {
      guard let property = draft.entity.property(edit.property) else {
        try apply(edit, to: draft, isInsert: false)
        continue
      }
      if property.relationship?.isToMany == true {
        guard transaction.policy != .rollback else { continue }
        // A new object has no members, so its list consists of additions.
        var adds = edit
        if case .set(let value) = edit.action { adds.action = .members(added: value.objectIDs, removed: []) }
        try applyUncontested(adds, to: draft, since: .max)
        continue
      }
      let differs = try recordDifference(edit, property, of: draft, mineWon: mineWins)
      if differs, mineWins { try applyUncontested(edit, to: draft, since: .max) }
    }
  }

  /// The defaults and nulls of the properties that an insert does not set. A relationship whose reference to a deleted
  /// object was dropped keeps its stored value.
  private func omittedValues(by change: Change, _ entity: Entity) -> [Edit] {
    let said = Set(change.edits.map(\.property)).union(deletedTargets.droppedReferences[change.id, default: []])
    return zip(entity.storedProperties, entity.initialValues).compactMap { property, value in
      guard !said.contains(property.number), property.attribute?.assignment == nil,
        property.attribute?.isDerived != true, property.relationship?.isToMany != true
      else { return nil }
      return Edit(property.number, .set(value))
    }
  }

  /// Whether an insert's edit would change the existing object; if so, records a conflict.
  private mutating func recordDifference(
    _ edit: Edit, _ property: Property, of draft: Draft, mineWon: Bool
  ) throws -> Bool {
    guard case .set(let value) = edit.action else { return true }
    // Invalid types are refused when the edit is applied; a reference is compared by its permanent id.
    let wanted =
      property.attribute.map { $0.checked(value) } ?? value.objectID.flatMap { graph.permanent($0) }.map(Value.object)
    guard draft.after[property] != wanted ?? value else { return false }
    guard let stored = draft.before else {
      // Another insert of the same transaction.
      record(property.number, of: draft.after, mine: wanted ?? value, nil, mineWon: mineWon, kind: .unique)
      return true
    }
    let past = try graph.reader.history(of: stored.id, after: 0)
    let last = past.last { change in
      change.kind == .inserted || change.edits.contains { $0.property == property.number }
    }
    record(property.number, of: stored, mine: wanted ?? value, last, mineWon: mineWon, kind: .unique)
    return true
  }
}
