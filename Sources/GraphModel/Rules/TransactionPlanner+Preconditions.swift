/// Checking preconditions. Merging picks one of two values, and finds no conflict if they are equal. Both are wrong for
/// a value that was calculated from the old one, such as a counter. A change may therefore require that others have not
/// changed the values that its author read. If they have, every policy refuses the transaction, and each conflict
/// reports the other change.
///
/// As in all merging, a change of a property by the transaction's own replica breaks no precondition. If it is the
/// newest change of the property, earlier changes by others do not count either, because the replica had read them;
/// texts and to-manys are an exception.
extension TransactionPlanner {
  mutating func checkPreconditions() throws {
    var broken = [Conflict]()
    for index in transaction.changes.indices {
      guard let condition = transaction.changes[index].onlyIf else { continue }
      broken += try conflicts(with: condition, of: transaction.changes[index])
    }
    guard !broken.isEmpty else { return }
    throw Refusal(.conflict, try PlanFindings.message(for: broken, in: graph), conflicts: broken)
  }

  private mutating func conflicts(with condition: Precondition, of change: Change) throws -> [Conflict] {
    guard change.kind == .update || change.kind == .delete, !change.id.isTemporary else {
      throw Refusal(.malformed, "an insert can't have a precondition: its object was never read")
    }
    guard condition.revision > 0, condition.revision < .max else {
      throw Refusal(
        .malformed,
        "a precondition names the revision at which the object was read, from 1, not \(condition.revision)")
    }
    // Applying the change reports that the object does not exist.
    if try isInvisible(change.id) { return [] }
    guard let draft = try graph.touch(change.id), let stored = draft.before else {
      // If the object never existed, applying the change reports it.
      guard let deletion = try graph.reader.deletion(of: change.id) else { return [] }
      return [Conflict(kind: .deleted, id: change.id, author: deletion.author, revision: deletion.revision)]
    }
    let properties = try properties(of: condition, draft.entity)
    // It was read in a past that the store has lost, in which it may have had any values.
    if condition.revision >= graph.revision {
      return [Conflict(kind: .changed, id: stored.id, revision: stored.revision)]
    }
    guard stored.hasChanged(since: condition.revision) else { return [] }
    // The principal can't have read it at that revision, even if nothing has changed since.
    if let change = try judge?.appearance(of: stored.id, after: condition.revision, in: graph) {
      return [Conflict(kind: .deleted, id: stored.id, author: change.author, revision: change.revision)]
    }
    let past = try merger.past(of: stored.id, after: condition.revision)
    if let revival = past.last(where: \.isRevival) {
      return [Conflict(kind: .deleted, id: stored.id, author: revival.author, revision: revival.revision)]
    }
    // The state that was read is unknown then.
    if let insert = merger.foreignInsert(in: past) {
      return [Conflict(kind: .changed, id: stored.id, author: insert.author, revision: insert.revision)]
    }
    if condition.properties.isEmpty, let pruned = past.first(where: \.isPruned) {
      return [Conflict(kind: .changed, id: stored.id, revision: pruned.revision)]
    }
    return properties.compactMap { property in
      // A position that changed only to make space for others does not count as a change.
      let meant = past.filter { !$0.spacing.contains(property.number) }
      guard let last = merger.conflictingChange(property, meant) else { return nil }
      return Conflict(
        kind: .changed, id: stored.id, property: property.number, mine: wanted(property, by: change),
        theirs: stored[property], author: last.author, revision: last.revision)
    }
  }

  /// The properties of the condition; for an object as a whole, all properties that clients set.
  private func properties(of condition: Precondition, _ entity: Entity) throws -> [Property] {
    guard !condition.properties.isEmpty else {
      return entity.storedProperties.filter { property in
        property.attribute?.isDerived != true && [nil, .position].contains(property.attribute?.assignment)
      }
    }
    return try condition.properties.map { number in
      guard let property = entity.property(number) else {
        let name = graph.model.propertyName(number)
        throw Refusal(.malformed, "\(entity.name) has no property \(name)")
      }
      guard property.slot != nil else {
        throw Refusal(
          .malformed,
          "\(entity.name).\(property.name) is not stored with the object: name a property that is")
      }
      return property
    }
  }

  private func wanted(_ property: Property, by change: Change) -> Value {
    for edit in change.edits.reversed() where edit.property == property.number {
      if case .set(let value) = edit.action { return value }
    }
    return .null
  }
}
