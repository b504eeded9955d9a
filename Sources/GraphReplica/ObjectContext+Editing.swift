import GraphModel

/// Inserts, edits and deletes: kept here until `save`, seen at once by whoever reads the context.
extension ObjectContext {
  /// Makes an object. Its id is temporary until the server has allocated it.
  public func insert<Object: ManagedObject>(_ type: Object.Type) -> Object? {
    model.entity(named: type.entityName).flatMap { insert($0) as? Object }
  }

  public func insert(_ entity: Entity) -> ManagedObject? {
    guard !entity.isAbstract else { return nil }
    let state = ObjectState(id: temporaryID(entity), entity: entity, stored: nil)
    state.isInserted = true
    keep(state)
    dirty[state.id] = state
    return face(of: state)
  }

  /// Deletes when saved; the server's rules say what goes along.
  public func delete(_ object: ManagedObject) {
    let state = object.state
    if state.isInserted, state.sent.isEmpty {
      dirty[state.id] = nil
      forget(state.id)
      state.isDeleted = true
      return
    }
    if dirty[state.id] == nil { state.base = state.stored?.revision ?? 0 }
    state.isDeleted = true
    dirty[state.id] = state
  }

  func set(_ value: Value, _ property: Property, of state: ObjectState) {
    if property.relationship?.isToMany == true {
      let wanted = Set(value.objectIDs)
      let present = Set(related(to: state, through: property))
      for id in present.subtracting(wanted).sorted() {
        if let other = self.state(id) { disconnect(state, other, through: property) }
      }
      for id in wanted.subtracting(present).sorted() {
        if let other = self.state(id) { connect(state, other, through: property) }
      }
      return
    }
    begin(state)
    state.edits[property.number] = ObjectState.LocalValue(value: value)
  }

  private func begin(_ state: ObjectState) {
    if dirty[state.id] == nil || (state.edits.isEmpty && !state.isInserted) {
      state.base = state.stored?.revision ?? 0
    }
    dirty[state.id] = state
  }

  /// Writes the side of the relationship that stores it; the other side is read through it.
  func connect(_ state: ObjectState, _ other: ObjectState, through property: Property) {
    change(state, other, property) { local, id in
      local.added.insert(id)
      local.removed.remove(id)
    }
  }

  func disconnect(_ state: ObjectState, _ other: ObjectState, through property: Property) {
    change(state, other, property) { local, id in
      local.removed.insert(id)
      local.added.remove(id)
    }
  }

  private func change(
    _ state: ObjectState, _ other: ObjectState, _ property: Property,
    _ body: (inout ObjectState.LocalValue, ObjectID) -> Void
  ) {
    guard let relationship = property.relationship else { return }
    switch relationship.storage {
    case .inverse:
      if let inverse = model.property(relationship.inverse) { change(other, state, inverse, body) }
    case .members:
      begin(state)
      body(&state.edits[property.number, default: ObjectState.LocalValue(value: .null)], other.id)
    case .reference:
      var local = ObjectState.LocalValue(value: .null)
      body(&local, other.id)
      begin(state)
      state.edits[property.number] = ObjectState.LocalValue(value: local.added.first.map(Value.object) ?? .null)
    }
  }

  /// The ids at the other end of a relationship, as this context sees it.
  func related(to state: ObjectState, through property: Property) -> [ObjectID] {
    guard let relationship = property.relationship else { return [] }
    if relationship.storage != .inverse { return state.value(property).objectIDs }
    guard let inverse = model.property(relationship.inverse) else { return [] }
    return held.filter { other in
      !other.isDeleted && other.entity.property(inverse.number) != nil
        && other.value(inverse).objectIDs.contains(state.id)
    }.map(\.id)
  }

  public var hasChanges: Bool {
    dirty.values.contains { $0.isInserted && $0.sent.isEmpty || $0.isDeleted || !$0.edits.isEmpty }
  }

  /// Forgets everything that was not saved.
  public func rollback() {
    for (id, state) in dirty {
      state.edits = [:]
      state.isDeleted = false
      if state.isInserted, state.sent.isEmpty { forget(id) }
    }
    dirty = dirty.filter { !$0.value.sent.isEmpty }
  }

  // MARK: - Saving

  /// Sends all changes as one transaction; nil when there are none.
  public func save(policy: MergePolicy = .error, undo: UndoGroup? = nil) -> TransactionID? {
    var changes = [Change]()
    let id = nextTransactionID()
    // Inserts in the order of their temporary ids, which is the order in which they were made.
    for state in dirty.values.sorted(by: { $0.id < $1.id }) {
      if state.isDeleted {
        changes.append(Change(.delete, state.id, base: state.base))
      } else if state.isInserted, state.sent.isEmpty {
        changes.append(Change(.insert, state.id, edits: edits(of: state)))
      } else if !state.edits.isEmpty {
        changes += updates(of: state)
      } else {
        continue
      }
      state.sent.append((id, state.edits))
      state.edits = [:]
    }
    guard !changes.isEmpty else { return nil }
    handle(.save(Transaction(id: id, policy: policy, undo: undo, changes: changes)))
    return id
  }

  private func edits(of state: ObjectState) -> [Edit] {
    state.edits.sorted { $0.key < $1.key }.compactMap { number, local in
      guard let property = model.property(number) else { return nil }
      if property.relationship?.isToMany == true {
        return Edit(number, .members(added: local.added.sorted(), removed: local.removed.sorted()))
      }
      return Edit(number, .set(local.value))
    }
  }

  /// Texts travel as splices against what is stored now; everything else against the revision that the edit began at,
  /// so that a conflict shows.
  private func updates(of state: ObjectState) -> [Change] {
    var plain = [Edit]()
    var texts = [Edit]()
    for edit in edits(of: state) {
      if let property = model.property(edit.property), property.attribute?.kind == .text, state.sent.isEmpty,
        case .set(.string(let new)) = edit.action, case .string(let old) = state.storedValue(property)
      {
        texts.append(Edit(edit.property, .splice([TextSplice.smallest(from: old, to: new)])))
      } else {
        plain.append(edit)
      }
    }
    var changes = [Change]()
    if !plain.isEmpty { changes.append(Change(.update, state.id, base: state.base, edits: plain)) }
    if !texts.isEmpty { changes.append(Change(.update, state.id, base: state.stored?.revision ?? 0, edits: texts)) }
    return changes
  }
}
