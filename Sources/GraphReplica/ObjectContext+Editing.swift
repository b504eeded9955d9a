// Tests: ReplicaTests.swift, OneToOneTests.swift, OrderedReplicaTests.swift
import GraphModel

/// Inserts, edits and deletes. The context keeps them until `save`; reads of the context include them at once.
extension ObjectContext {
  /// Inserts an object of an entity that is known only at run time; classes have `Note(in: context)`. Its id is
  /// temporary until the server has allocated a permanent one.
  /// - Returns: nil for an abstract entity, and in a context of the past.
  public func insert(_ entity: Entity) -> ManagedObject? {
    guard !entity.isAbstract, !refusesEdit(Self.noInsert(entity)) else { return nil }
    return instance(of: addInserted(entity))
  }

  /// The state of a new object of a class; in a context of the past, an object that counts as deleted.
  func insertedState(of type: ManagedObject.Type) -> ObjectState {
    guard let entity = model.entity(named: type.entityName) else {
      fatalError("\(type) can't be inserted: the model \(model.name) has no entity \"\(type.entityName)\"")
    }
    if entity.isAbstract { fatalError("\(type) can't be inserted: its entity is abstract; insert a subentity") }
    guard let known = registeredClass(of: entity), known == type else {
      fatalError(
        "\(type) can't be inserted: it is not the context's class of \(entity.name); connect with it, by "
          + "connect(to:) or embedded(at:) of the generated model, or by classes:")
    }
    guard !refusesEdit(Self.noInsert(entity)) else {
      let state = ObjectState(id: temporaryID(entity), entity: entity, stored: nil)
      state.isDeleted = true
      return state
    }
    return addInserted(entity)
  }

  private static func noInsert(_ entity: Entity) -> String { "no \(entity.name) can be created" }

  private func addInserted(_ entity: Entity) -> ObjectState {
    let state = ObjectState(id: temporaryID(entity), entity: entity, stored: nil)
    state.isInserted = true
    add(state)
    dirty[state.id] = state
    return state
  }

  /// Deletes an object when saved; the server applies the delete rules. An object that was never sent is discarded at
  /// once. The delete of a deleted object has no effect.
  public func delete(_ object: ManagedObject) {
    if refusesEdit("no \(object.entity.name) can be deleted") { return }
    let state = localState(of: object)
    if state.isDeleted { return }
    for property in state.entity.relationships { removeMoves(of: state, through: property) }
    if state.isInserted, state.sent.isEmpty {
      dirty[state.id] = nil
      remove(state.id)
      state.isDeleted = true
      return nullify(referencesTo: state.id)
    }
    if dirty[state.id] == nil { state.base = state.revision }
    state.isDeleted = true
    dirty[state.id] = state
  }

  /// Removes references to an object that was never sent, as setting an inverse to null would.
  func nullify(referencesTo id: ObjectID) {
    for state in dirty.values {
      for (number, local) in state.edits {
        if local.value.objectID == id {
          state.edits[number] = nil
          guard let property = state.entity.property(number), !state.value(property).isNull else { continue }
          state.edits[number] = ObjectState.PropertyEdit(value: .null)
        } else {
          state.edits[number] = local.withoutMember(id)
        }
      }
      // The server would also refuse a queued save that references it.
      for index in state.sent.indices {
        for (number, local) in state.sent[index].edits {
          state.sent[index].edits[number] =
            local.value.objectID == id ? ObjectState.PropertyEdit(value: .null) : local.withoutMember(id)
        }
      }
      removeIfClean(state)
    }
  }

  func set(_ value: Value, _ property: Property, of state: ObjectState) {
    if ignoresEdit(of: state, property) { return }
    if let attribute = property.attribute, attribute.isTransient {
      // The server never validates transient values, so values that the attribute can't hold are ignored.
      if let checked = attribute.checked(value) { state.transients[property.number] = checked }
      return
    }
    if refusesEdit("\(property.name) can't be set") { return }
    if let relationship = property.relationship, relationship.isToMany {
      let wanted = Set(value.objectIDs)
      let present = Set(related(to: state, through: property))
      for id in present.subtracting(wanted).sorted() {
        if let other = stateOrFault(id) { disconnect(state, other, through: property) }
      }
      for id in wanted.subtracting(present).sorted() {
        if let other = stateOrFault(id) { connect(state, other, through: property) }
      }
      if relationship.isOrdered { arrange(value.objectIDs, property, of: state) }
      return
    }
    // The server refuses a value that is not an object.
    if let inverse = inverseOfOneToOne(property), value.isNull || value.objectID != nil {
      return setOneToOne(state, with: value.objectID, property, inverse)
    }
    if value.objectID == nil || value != state.value(property) { removeMoves(of: state, through: property) }
    begin(state)
    var local = ObjectState.PropertyEdit(value: value)
    // The previous text of a fault is unknown.
    if property.attribute?.kind == .text, !state.isFault, !state.isInserted || !state.sent.isEmpty {
      // Null counts as empty, so that the first words of two clients merge as well.
      let present = state.value(property)
      local.textBase = state.edits[property.number].map(\.textBase) ?? (present.isNull ? "" : present.stringValue)
      local.composeSplices(after: state.edits[property.number])
    }
    state.edits[property.number] = local
  }

  /// Reports an edit of a deleted object to the owner of the context.
  ///
  /// Such an edit is not recorded. It could only be lost, because an edit never revives an object. The rejected
  /// alternative, a refusal of the save, would also hold back the edits of all other objects.
  /// - Returns: whether the object is deleted, here or by another client, or was discarded by `rollback`.
  private func ignoresEdit(of state: ObjectState, _ property: Property) -> Bool {
    if state.isDeleted { owner?.editWasIgnored(of: state.id, property) }
    return state.isDeleted
  }

  func begin(_ state: ObjectState) {
    if dirty[state.id] == nil || (state.edits.isEmpty && !state.isInserted) {
      state.base = state.revision
    }
    dirty[state.id] = state
  }

  /// Edits the end that stores the relationship; the other end is read through it.
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
    _ body: (inout ObjectState.PropertyEdit, ObjectID) -> Void
  ) {
    // A program may name an attribute, which has no members.
    guard let relationship = property.relationship, !refusesEdit("\(property.name) can't be changed"),
      !ignoresEdit(of: state, property)
    else { return }
    switch relationship.storage {
    case .inverse:
      if let inverse = model.property(relationship.inverse) { change(other, state, inverse, body) }
    case .members:
      begin(state)
      let isMember = state.value(property).objectIDs.contains(other.id)
      var local = state.edits[property.number, default: ObjectState.PropertyEdit(value: .null)]
      body(&local, other.id)
      if relationship.isOrdered {
        if local.removed.contains(other.id) {
          local.removeMoves(of: other.id)
        } else if !isMember {
          local.moves.append(.append(other.id))
        }
      }
      state.edits[property.number] = local
    case .reference:
      var local = ObjectState.PropertyEdit(value: .null)
      body(&local, other.id)
      // A reference to another object has nothing to remove; a fault's reference is unknown.
      if local.added.isEmpty, !state.isFault, state.value(property).objectID != other.id { return }
      if let inverse = inverseOfOneToOne(property) {
        return setOneToOne(state, with: local.added.first, property, inverse)
      }
      if local.added.first != state.value(property).objectID { removeMoves(of: state, through: property) }
      begin(state)
      state.edits[property.number] = ObjectState.PropertyEdit(value: .reference(local.added.first))
    }
  }

  func inverseOfOneToOne(_ property: Property) -> Property? {
    guard let relationship = property.relationship, !relationship.isToMany else { return nil }
    return model.property(relationship.inverse).flatMap { $0.relationship?.isToMany == false ? $0 : nil }
  }

  /// Sets a one-to-one, which is stored at both ends. The other end refers back at once, and previous partners are
  /// cleared. The server receives only the edit itself, and does the same.
  private func setOneToOne(_ state: ObjectState, with id: ObjectID?, _ property: Property, _ inverse: Property) {
    let other = id.flatMap { stateOrFault($0) }
    if let old = state.value(property).objectID, old != id { clearReference(old, of: state.id, inverse) }
    if let other, let holder = other.value(inverse).objectID, holder != state.id {
      clearReference(holder, of: other.id, property)
    }
    begin(state)
    state.edits[property.number] = ObjectState.PropertyEdit(value: .reference(id))
    // A fault has no values that an edit could change, and a deleted object takes no edits.
    if let other, !other.isFault, !other.isDeleted {
      begin(other)
      other.edits[inverse.number] = ObjectState.PropertyEdit(value: .object(state.id), isInverseEdit: true)
    }
  }

  private func clearReference(_ id: ObjectID, of other: ObjectID, _ property: Property) {
    // As above; and an edit that was made here may have cleared it already.
    guard let state = stateOrFault(id), !state.isFault, !state.isDeleted, state.value(property).objectID == other else {
      return
    }
    // If the property was edited here, the server knows another partner, and has to receive this edit.
    let isInverseEdit = state.edits[property.number] == nil
    begin(state)
    state.edits[property.number] = ObjectState.PropertyEdit(value: .null, isInverseEdit: isInverseEdit)
  }

  /// The value of a property in this context. A to-many that is stored at its other end has the objects that refer to
  /// this one.
  func value(_ property: Property, of state: ObjectState) -> Value {
    property.relationship?.storage == .inverse ? .objects(related(to: state, through: property)) : state.value(property)
  }

  /// The ids at the other end of a relationship in this context, in order if it is ordered.
  func related(to state: ObjectState, through property: Property) -> [ObjectID] {
    guard let relationship = property.relationship else { return [] }
    if relationship.storage != .inverse { return state.value(property).objectIDs }
    guard let inverse = model.property(relationship.inverse) else {
      assertionFailure("a relationship has an inverse: \(property.name)")
      return []
    }
    if parent != nil { return relatedThroughParent(to: state, property, inverse) }
    let others = referrers.referrers(to: state.id, through: inverse, in: self).compactMap { self.state($0) }
    return relationship.isOrdered ? inOrder(others, of: state, property, inverse) : others.map(\.id)
  }

  /// New objects that have not been saved, in the order of creation.
  public var insertedObjects: [ManagedObject] {
    dirty.values.filter { $0.isInserted && $0.sent.isEmpty }.sorted { $0.id < $1.id }.map { instance(of: $0) }
  }

  /// Whether `save` would send anything. Edits of deleted objects do not count.
  public var hasChanges: Bool {
    dirty.values.contains { state in
      if isDeletedInParent(state) { return false }
      return state.isInserted && state.sent.isEmpty || isUnsavedDelete(state) || !state.edits.isEmpty
    }
  }

  /// Whether a parent of this context has deleted the object, so that this context can't change it.
  func isDeletedInParent(_ state: ObjectState) -> Bool {
    guard let parent = state.parentState else { return false }
    return parent.isDeleted || isDeletedInParent(parent)
  }

  /// Whether there are changes that the server has not confirmed: unsaved ones, and those of unanswered saves.
  package var hasUnconfirmedChanges: Bool { !dirty.isEmpty }

  /// Whether the object is deleted here, and the server has not confirmed it.
  func isUnconfirmedDelete(_ state: ObjectState) -> Bool { state.isDeleted && dirty[state.id] === state }

  private func isUnsavedDelete(_ state: ObjectState) -> Bool {
    state.isDeleted && !state.sent.contains { $0.isDelete }
  }

  /// Accepts the object's state of the server that the context holds as seen; unsaved edits stay. It reads nothing: a
  /// fetch or a live query brings a newer state. After a refusal this acknowledges the conflict: the next save is
  /// compared only with later commits.
  public func acceptStoredState(of object: ManagedObject) {
    object.state.base = max(object.state.base, object.state.revision)
  }

  /// Discards all unsaved changes.
  public func rollback() {
    for (id, state) in dirty {
      state.edits = [:]
      if isUnsavedDelete(state) { state.isDeleted = false }
      guard state.isInserted, state.sent.isEmpty else { continue }
      remove(id)
      // The program may still hold its instance, which no longer represents an object.
      state.isInserted = false
      state.isDeleted = true
    }
    dirty = dirty.filter { !$0.value.sent.isEmpty }
  }

  /// Reports an attempt to edit a context of the past.
  /// - Returns: whether this is such a context.
  func refusesEdit(_ what: @autoclosure () -> String) -> Bool {
    guard let revision else { return false }
    let edit = ReadOnlyContextError(revision: revision, what: what())
    var context = self
    while context.editWasRefused == nil, let parent = context.parent { context = parent }
    guard let report = context.editWasRefused else { preconditionFailure(edit.description) }
    report(edit)
    return true
  }

  // MARK: - Ordered relationships

  /// Places `other` after `anchor` in an ordered relationship, or at the beginning. A non-member becomes a member.
  func insert(_ other: ObjectState, into state: ObjectState, _ property: Property, after anchor: ObjectState?) {
    // Only an ordered relationship has places, and a deleted object has none.
    guard property.relationship?.isOrdered == true, !ignoresEdit(of: state, property), !other.isDeleted,
      !refusesEdit("\(property.name) can't be changed")
    else { return }
    if !related(to: state, through: property).contains(other.id) { connect(state, other, through: property) }
    record(.place([other.id], after: anchor?.id), property, of: state)
  }

  /// Brings the members into the order of `wanted` with as few moves as possible.
  func arrange(_ wanted: [ObjectID], _ property: Property, of state: ObjectState) {
    let present = related(to: state, through: property)
    let members = Set(present)
    for run in ListReorderer.runs(from: present, to: ListReorderer.unique(wanted.filter { members.contains($0) })) {
      record(.place(run.objects, after: run.after), property, of: state)
    }
  }

  private func record(_ move: ObjectState.OrderEdit, _ property: Property, of state: ObjectState) {
    begin(state)
    state.edits[property.number, default: ObjectState.PropertyEdit(value: .null)].moves.append(move)
  }

  /// Drops moves of an object that is about to leave the owner that its to-one names. Saving them would bring it
  /// back.
  func removeMoves(of state: ObjectState, through toOne: Property) {
    // The inverse has no order, or there is no owner whose members were moved.
    guard let relationship = toOne.relationship, !relationship.isToMany, relationship.position != nil,
      let parent = state.value(toOne).objectID.flatMap({ self.state($0) })
    else { return }
    if var list = parent.edits[relationship.inverse] {
      list.removeMoves(of: state.id)
      parent.edits[relationship.inverse] = list.isEmptyList ? nil : list
    }
  }

  /// Members by the server's positions, then members that the server does not know. Local moves are applied to these.
  func inOrder(_ members: [ObjectState], of state: ObjectState, _ property: Property, _ toOne: Property) -> [ObjectID] {
    guard let position = toOne.relationship?.position.flatMap({ model.property($0) }) else { return members.map(\.id) }
    var placed = [OrderedMemberKey]()
    var others = [ObjectID]()
    for member in members {
      if let stored = member.stored, stored[toOne].objectID == state.id, case .integer(let number) = stored[position] {
        placed.append(OrderedMemberKey(position: number, id: member.id))
      } else {
        others.append(member.id)
      }
    }
    let order = placed.sorted().map(\.id) + others.sorted()
    return state.localEdits(of: property).reduce(order) { order, local in local.moving(order) }
  }
}

extension Value {
  /// A reference to an object; null for none.
  fileprivate static func reference(_ id: ObjectID?) -> Value { if let id { .object(id) } else { .null } }
}

// MARK: - Calls of Core Data and SwiftData

// They have another form here: the compiler's message says which. A context sends nothing by itself; the calls of its
// client wait for the server and throw its refusal.
extension ObjectContext {
  /// Not available: `client.save()` waits for the server, and a child context has `saveIntoParent()`.
  @available(*, unavailable, message: "call client.save(), which waits for the server; a child has saveIntoParent()")
  public func save() {}

  /// Not available: `client.undo()` waits for the server.
  @available(*, unavailable, message: "call client.undo(), which waits for the server")
  public func undo() {}

  /// Not available: `client.redo()` waits for the server.
  @available(*, unavailable, message: "call client.redo(), which waits for the server")
  public func redo() {}

  /// Not available: the undo stack is in the server's history.
  @available(*, unavailable, message: "call client.undo() and client.redo(); client.undoStack has the state of a menu")
  public var undoManager: UndoScope? { undoScope }

  /// Not available: a fetch reads the newest values, beneath unsaved edits.
  @available(*, unavailable, message: "call client.fetchOne(Person.self, id: id), which reads the newest values")
  public func refresh(_ object: ManagedObject, mergeChanges: Bool = true) {}

  /// Not available: a fetch is a request of the client.
  @available(*, unavailable, message: "call client.fetch(Person.self, where: { … }), which waits for the server")
  public func fetch<Request>(_ request: Request) -> [ManagedObject] { [] }

  /// Not available: a fetch is a request of the client.
  @available(*, unavailable, message: "call client.fetch(Person.self, where: { … }), which waits for the server")
  public func fetch<Object: ManagedObject, Condition>(
    _ type: Object.Type, where condition: (ObjectPath<Object, ExactlyOne>) -> Condition,
    sort: [(ObjectPath<Object, ExactlyOne>) -> any SortOrderKey] = []
  ) -> [Object] { [] }

  /// Not available: the context has no objects but those that were fetched, inserted or followed.
  @available(*, unavailable, message: "call client.fetchOne(Person.self, id: id), which waits for the server")
  public func object(with id: ObjectID) -> ManagedObject? { object(id) }

  /// Not available: the context has no objects but those that were fetched, inserted or followed.
  @available(*, unavailable, message: "call client.fetchOne(Person.self, id: id), which waits for the server")
  public func existingObject(with id: ObjectID) -> ManagedObject? { object(id) }

  /// Not available: an object is in a context from the beginning.
  @available(*, unavailable, message: "an object is inserted where it is made: Person(in: client.context)")
  public func insert(_ object: ManagedObject) {}

  /// Not available: a context belongs to the actor of its client.
  @available(*, unavailable, message: "on the client's actor call directly; elsewhere use a background context")
  public func perform<Result>(_ body: () async throws -> Result) {}

  /// Not available: a context always merges the commits of other clients.
  @available(*, unavailable, message: "a context always merges them; unsaved edits stay on top")
  public var automaticallyMergesChangesFromParent: Bool { true }
}
