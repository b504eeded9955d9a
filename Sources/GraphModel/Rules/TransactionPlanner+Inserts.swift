/// Inserts became objects that the transaction deletes: it is planned anew, without them.
struct MetObjectsLeave: Error {
  let ids: Set<ObjectID>
}

/// Creation is redirected: the client asks, and here the object gets its id, its defaults and the values it was given.
extension TransactionPlanner {
  /// Gives every temporary id its permanent one and returns for each change the draft that it inserts. Under a trump
  /// policy an insert that meets a unique key becomes the object that is there, so two clients who both make the tag
  /// `foo` succeed: it has no draft of its own.
  mutating func identifyInserts(allocate: (EntityNumber) -> ObjectID) throws -> [Draft?] {
    var inserted = [Draft?](repeating: nil, count: transaction.changes.count)
    identities.reserveCapacity(transaction.changes.count)
    // Its edits are looked at later: a large transaction's are not in the processor's cache twice.
    for index in transaction.changes.indices {
      let (kind, given) = (transaction.changes[index].kind, transaction.changes[index].id)
      guard kind == .insert || kind == .revive else { continue }
      guard let entity = model.entity(given.entity) else {
        throw Refusal(.malformed, "there is no entity number \(given.entity) in the model \(model.name)")
      }
      guard !entity.isAbstract else {
        throw Refusal(.malformed, "\(entity.name) is abstract: only its subentities have objects")
      }
      guard (kind == .insert) == given.isTemporary else { throw Self.needsOwnID }
      let merges = transaction.policy != .error
      if merges, kind == .insert, let id = try objectThatIsThere(for: transaction.changes[index], of: entity) {
        try name(given, id)
        continue
      }
      let id = kind == .revive ? given : allocate(entity.number)
      if kind == .insert { try name(given, id) }
      // What comes back is as it was, nulls included.
      let values = kind == .insert ? entity.initialValues : entity.emptyValues
      let draft = Draft(entity: entity, after: ObjectImage(id: id, revision: revision, values: values))
      guard enlist(draft) else { throw Self.needsOwnID }
      inserted[index] = draft
      if merges {
        for key in try keys(of: transaction.changes[index], entity) { insertedKeys[key] = id }
      }
    }
    return inserted
  }

  private static let needsOwnID = Refusal(.malformed, "an insert needs a temporary id of its own")

  private mutating func name(_ temporary: ObjectID, _ permanent: ObjectID) throws {
    guard identities.updateValue(permanent, forKey: temporary) == nil else { throw Self.needsOwnID }
    named.append(Committed.Identity(temporary: temporary, permanent: permanent))
  }

  private mutating func objectThatIsThere(for change: Change, of entity: Entity) throws -> ObjectID? {
    for key in try keys(of: change, entity) {
      if let id = insertedKeys[key] { return id }
      guard let owner = model.entity(key.owner),
        let id = try reader.object(of: owner, matching: key.constraint, values: key.values),
        !leavingObjects.contains(id), !givesUp(id, key)
      else { continue }
      // One of another kind has the key: nothing that the insert could become.
      if id.entity == entity.number {
        metObjects.insert(id)
        return id
      }
    }
    return nil
  }

  /// Whether the transaction itself gives the object another key: then the insert is what has this one.
  private mutating func givesUp(_ id: ObjectID, _ key: UniqueKey) -> Bool {
    if ownUpdates == nil {
      var updates = [ObjectID: [PropertyNumber: Value]]()
      for change in transaction.changes where change.kind == .update {
        for edit in change.edits {
          if case .set(let value) = edit.action { updates[change.id, default: [:]][edit.property] = value }
        }
      }
      ownUpdates = updates
    }
    guard let own = ownUpdates?[id] else { return false }
    return zip(key.constraint, key.values).contains { property, value in
      guard let wanted = own[property] else { return false }
      if case .object(let target) = wanted { return permanent(target).map(Value.object) != value }
      return (model.property(property)?.attribute?.checked(wanted) ?? wanted) != value
    }
  }

  /// The unique keys that an insert asks for. One that the server assigns or that has a null part is none.
  private func keys(of change: Change, _ entity: Entity) throws -> [UniqueKey] {
    var keys = [UniqueKey]()
    for constraint in entity.uniquenessConstraints {
      let values = constraint.map { number -> Value in
        for edit in change.edits.reversed() where edit.property == number {
          guard case .set(let value) = edit.action else { continue }
          if case .object(let id) = value { return permanent(id).map(Value.object) ?? .null }
          return entity.property(number)?.attribute?.checked(value) ?? .null
        }
        return entity.property(number)?.attribute?.defaultValue ?? .null
      }
      if !values.contains(.null) {
        keys.append(
          UniqueKey(owner: model.owner(of: constraint, in: entity).number, constraint: constraint, values: values))
      }
    }
    return keys
  }

  mutating func applyInsert(_ change: Change, to draft: Draft) throws {
    draft.isRevived = change.kind == .revive
    for edit in change.edits {
      // What it takes from others it takes as it was read.
      let remaining = change.kind == .insert ? try yielding(edit, of: draft, since: .max) : edit
      if let remaining { try apply(remaining, to: draft, isInsert: true, isRevival: change.kind == .revive) }
    }
  }

  /// The insert met an object with its key and is an edit of that object now. What it adds to to-manys merges; where
  /// its values differ the policy decides: `objectTrump` for what the insert says, `overwrite` for the whole object
  /// with an insert's defaults, while `storeTrump` and `rollback` keep what is there.
  mutating func mergeIntoExisting(_ change: Change) throws {
    guard let known = identities[change.id], let draft = try touch(known) else { return }
    let mineWins = transaction.policy == .objectTrump || transaction.policy == .overwrite
    var edits = change.edits.filter { model.property($0.property)?.attribute?.assignment == nil }
    if transaction.policy == .overwrite, draft.before != nil { edits += unsaid(by: change, draft.entity) }
    for edit in edits {
      guard let property = draft.entity.property(edit.property) else {
        try apply(edit, to: draft, isInsert: false)
        continue
      }
      if property.relationship?.isToMany == true {
        guard transaction.policy != .rollback else { continue }
        // A new object has none yet: a list is what it adds.
        var adds = edit
        if case .set(let value) = edit.action { adds.action = .members(added: value.objectIDs, removed: []) }
        try applyYielding(adds, to: draft, since: .max)
        continue
      }
      let differs = try recordDifference(edit, property, of: draft, mineWon: mineWins)
      if differs, mineWins { try applyYielding(edit, to: draft, since: .max) }
    }
  }

  /// The defaults and nulls that an insert gets without saying so.
  private func unsaid(by change: Change, _ entity: Entity) -> [Edit] {
    let said = Set(change.edits.map(\.property))
    return zip(entity.storedProperties, entity.initialValues).compactMap { property, value in
      guard !said.contains(property.number), property.attribute?.assignment == nil,
        property.attribute?.isDerived != true, property.relationship?.isToMany != true
      else { return nil }
      return Edit(property.number, .set(value))
    }
  }

  /// Whether an insert's edit would change the object that it met; noted as a conflict then.
  private mutating func recordDifference(
    _ edit: Edit, _ property: Property, of draft: Draft, mineWon: Bool
  ) throws -> Bool {
    guard case .set(let value) = edit.action else { return true }
    // What the type refuses is refused where it is applied, and a reference is compared by what it will be.
    let wanted =
      property.attribute.map { $0.checked(value) } ?? value.objectID.flatMap { permanent($0) }.map(Value.object)
    guard draft.after[property] != wanted ?? value else { return false }
    guard let stored = draft.before else {
      // Another insert of this very transaction.
      record(property.number, of: draft.after, mine: wanted ?? value, nil, mineWon: mineWon, kind: .unique)
      return true
    }
    let past = try reader.history(of: stored.id, after: 0)
    let last = past.last { change in
      change.kind == .inserted || change.edits.contains { $0.property == property.number }
    }
    record(property.number, of: stored, mine: wanted ?? value, last, mineWon: mineWon, kind: .unique)
    return true
  }
}
