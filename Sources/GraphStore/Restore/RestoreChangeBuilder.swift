// Tests: RestoreTests.swift, RandomHistoryTests.swift
import GraphModel

/// The changes that restore some objects, and the values that can't be restored.
///
/// Only values that the principal could see at that time are restored. An object that it could not see did not exist
/// for it.
struct RestoreChangeBuilder {
  private(set) var changes = [Change]()
  private(set) var skipped = [Conflict]()

  let history: HistoryReader
  let past: RestoreSnapshot
  /// Whether the complete graph is restored: newer objects are deleted, and taken relationships are no obstacle.
  let isEverything: Bool
  private var revived = Set<ObjectID>()
  /// The edits by object; `order` has the objects as first touched.
  private var edits = [ObjectID: [Edit]]()
  private var order = [ObjectID]()
  private var memory = [ObjectID: ObjectImage?]()

  init(history: HistoryReader, past: RestoreSnapshot, isEverything: Bool) {
    self.history = history
    self.past = past
    self.isEverything = isEverything
  }

  private var objects: ObjectReader { history.objects }
  private var model: Model { objects.model }

  /// - Parameter wanted: the objects, each once.
  mutating func restore(_ wanted: [ObjectID]) throws {
    var targets = [ObjectImage]()
    var surplus = [ObjectID]()
    for id in wanted {
      if let image = try past.visibleImage(of: id) {
        targets.append(image)
      } else if isEverything {
        // The object may have come into sight since, and must not be deleted as one that was inserted since.
        guard try past.image(of: id) == nil else { throw AccessJudge.effectOnInvisible }
        surplus.append(id)
      }
    }
    try chooseRevivals(targets)
    for image in targets {
      if revived.contains(image.id) {
        try revive(image)
      } else if let now = try now(image.id) {
        try restore(image, from: now)
      }
    }
    // In a restore of the complete graph, every differing object is a target itself.
    if !isEverything { try reconnect(targets) }
    changes = targets.filter { revived.contains($0.id) }.map {
      Change(.revive, $0.id, edits: edits[$0.id, default: []])
    }
    changes += order.filter { !revived.contains($0) }.map {
      Change(.update, $0, base: .max, edits: edits[$0, default: []])
    }
    for id in surplus where try now(id) != nil { changes.append(Change(.delete, id, base: .max)) }
  }

  private mutating func now(_ id: ObjectID) throws -> ObjectImage? {
    if let known = memory[id] { return known }
    let image = try objects.readImage(of: id)
    if memory.count >= 50_000 { memory.removeAll(keepingCapacity: true) }
    memory[id] = .some(image)
    return image
  }

  private mutating func add(_ edit: Edit, to id: ObjectID) {
    if edits[id] == nil, !revived.contains(id) { order.append(id) }
    edits[id, default: []].append(edit)
    assert(edits.count >= order.count)
  }

  // MARK: - Deleted objects

  /// Selects the deleted objects to revive.
  ///
  /// An object with a required reference to an object that stays deleted stays deleted too.
  private mutating func chooseRevivals(_ targets: [ObjectImage]) throws {
    var gone = [ObjectImage]()
    for image in targets where try now(image.id) == nil { gone.append(image) }
    revived = Set(gone.map(\.id))
    var changed = true
    while changed {
      changed = false
      for image in gone where revived.contains(image.id) {
        guard let obstacle = try obstacle(ofRevival: image) else { continue }
        skipped.append(obstacle)
        revived.remove(image.id)
        changed = true
      }
    }
  }

  private mutating func obstacle(ofRevival image: ObjectImage) throws -> Conflict? {
    for property in model.storedProperties(of: image.id.entity) {
      // A single object that lacks a newly required value must not prevent the restore of the others.
      if isEverything, !property.isOptional, image[property].isNull, let attribute = property.attribute,
        !attribute.isDerived, attribute.assignment == nil
      {
        return Conflict(kind: .changed, id: image.id, property: property.number)
      }
      guard let relationship = property.relationship, !relationship.isToMany, !property.isOptional else { continue }
      if let obstacle = try obstacle(image.id, property, image[property]) { return obstacle }
    }
    return nil
  }

  private mutating func revive(_ image: ObjectImage) throws {
    for property in inOrder(image.id.entity) where !image[property].isNull {
      var value = image[property]
      if case .objects(let ids) = value {
        value = .objects(try reachable(ids, from: image.id, property))
      } else if let obstacle = try obstacle(image.id, property, value) {
        skipped.append(obstacle)
        continue
      }
      value = allowed(value, property, of: image.id)
      add(Edit(property.number, .set(value)), to: image.id)
    }
  }

  /// Replaces an enumeration case that was removed by the default, and reports it. The object can then be revived.
  private mutating func allowed(_ value: Value, _ property: Property, of id: ObjectID) -> Value {
    guard let attribute = property.attribute, attribute.kind == .enumeration, attribute.checked(value) == nil,
      let standIn = attribute.checked(attribute.defaultValue), !standIn.isNull || property.isOptional
    else { return value }
    skipped.append(Conflict(kind: .changed, id: id, property: property.number, mine: value, theirs: standIn))
    return standIn
  }

  /// The stored properties in history; to-ones come before their positions.
  private func inOrder(_ entity: EntityNumber) -> [Property] {
    model.storedProperties(of: entity).filter { $0.attribute?.isDerived != true }.placesLast
  }

  private mutating func reachable(
    _ ids: [ObjectID], from id: ObjectID, _ property: Property
  ) throws -> [ObjectID] {
    var found = [ObjectID]()
    for other in ids {
      if let obstacle = try obstacle(id, property, .object(other)) {
        skipped.append(obstacle)
      } else {
        found.append(other)
      }
    }
    return found
  }

  /// The reason why a property can't refer to `value` again; nil if there is none.
  ///
  /// Either the object stays deleted, or its only place is taken by another object that is not restored too.
  private mutating func obstacle(_ id: ObjectID, _ property: Property, _ value: Value) throws -> Conflict? {
    guard case .object(let target) = value, let relationship = property.relationship else { return nil }
    if revived.contains(target) { return nil }
    guard let image = try now(target) else { return try deletion(of: target, id, property) }
    // The principal saw no reference then. If it does not see the object now either, the planner refuses the edit.
    if let sight = past.sight, sight.sees(image), try !sight.saw(target) {
      if isEverything { throw AccessJudge.effectOnInvisible }
      return Conflict(kind: .changed, id: id, property: property.number)
    }
    guard !isEverything, !relationship.isToMany, let inverse = model.property(relationship.inverse),
      inverse.relationship?.isToMany == false, let holder = image[inverse].objectID, holder != id
    else { return nil }
    return try taken(target, inverse, wanted: id, holder: holder, image)
  }

  /// The conflict over a reference to an object that was deleted: with its author, if the principal could see the
  /// object, and nameless otherwise.
  private func deletion(of target: ObjectID, _ id: ObjectID, _ property: Property) throws -> Conflict {
    let deletion = try history.deletion(of: target)
    if let sight = past.sight {
      guard let deletion, try sight.saw(target), try sight.sawLast(target, beforeDelete: deletion.revision) else {
        return Conflict(kind: .deleted, id: id, property: property.number)
      }
    }
    return Conflict(kind: .deleted, id: id, property: property.number, mine: .object(target), with: deletion)
  }

  private func taken(
    _ id: ObjectID, _ property: Property, wanted: ObjectID, holder: ObjectID, _ image: ObjectImage
  ) throws -> Conflict {
    let origin =
      if let sight = past.sight {
        sight.origin(of: property.number, of: image.id)
      } else {
        try? ValueOrigins(history: history).origin(of: property.number, of: image.id)
      }
    return Conflict(
      kind: .changed, id: id, property: property.number, mine: .object(wanted), theirs: .object(holder),
      with: origin.map { ($0.revision, $0.author) })
  }

  // MARK: - Existing objects

  private mutating func restore(_ image: ObjectImage, from now: ObjectImage) throws {
    var isElsewhere = Set<PropertyNumber>()
    for property in inOrder(image.id.entity) {
      // Server-assigned values are not restored, except positions, which users choose.
      guard [nil, .position].contains(property.attribute?.assignment) else { continue }
      let (old, new) = (image[property], now[property])
      if property.isPlace {
        let comes = isElsewhere.contains(property.number)
        guard !old.isNull, comes || old != new, try comes || isEverything || wasMoved(property, image, now) else {
          continue
        }
        add(Edit(property.number, .set(old)), to: image.id)
        continue
      }
      guard old != new else { continue }
      guard let relationship = property.relationship else {
        let value = allowed(old, property, of: image.id)
        if value != new { add(Edit(property.number, .set(value)), to: image.id) }
        continue
      }
      if !relationship.isToMany {
        if let obstacle = try obstacle(image.id, property, old) {
          skipped.append(obstacle)
          continue
        }
        if let place = relationship.position { isElsewhere.insert(place) }
        add(Edit(property.number, .set(old)), to: image.id)
      } else if relationship.isOrdered {
        let ids = try reachable(old.objectIDs, from: image.id, property)
        if ids != new.objectIDs { add(Edit(property.number, .set(.objects(ids))), to: image.id) }
      } else {
        let (before, after) = (Set(old.objectIDs), Set(new.objectIDs))
        let added = try reachable(before.subtracting(after).sorted(), from: image.id, property)
        let removed = after.subtracting(before).sorted()
        guard !added.isEmpty || !removed.isEmpty else { continue }
        add(Edit(property.number, .members(added: added, removed: removed)), to: image.id)
      }
    }
  }

  /// Whether the object was moved by a user, and not only to make space for others.
  private func wasMoved(_ place: Property, _ image: ObjectImage, _ now: ObjectImage) throws -> Bool {
    let events = try history.events(of: image.id, newest: now.revision, after: image.revision)
    return events.contains { event in
      !event.change.spacing.contains(place.number) && event.change.edits.contains { $0.property == place.number }
    }
  }

  // MARK: - References from other objects

  /// Restores references from objects that are not restored themselves, if these are free. Newer references to the
  /// restored objects stay.
  private mutating func reconnect(_ targets: [ObjectImage]) throws {
    let wanted = Set(targets.map(\.id))
    for image in targets {
      let isThere = try revived.contains(image.id) || now(image.id) != nil
      guard isThere else { continue }
      for property in model.relationships(of: image.id.entity) {
        guard let relationship = property.relationship, relationship.storage == .inverse,
          let inverse = model.property(relationship.inverse)
        else { continue }
        for other in try past.related(to: image, through: property) where !wanted.contains(other) {
          try reconnect(other, inverse, to: image.id, property)
        }
      }
    }
  }

  private mutating func reconnect(
    _ other: ObjectID, _ inverse: Property, to id: ObjectID, _ property: Property
  ) throws {
    if try past.visibleImage(of: other) == nil { return }
    guard let holder = try now(other) else {
      // The other object was contained in this one, but was not requested.
      if property.relationship?.deleteRule != .cascade { skipped.append(try deletion(of: other, id, property)) }
      return
    }
    if inverse.relationship?.isToMany == true {
      if !holder[inverse].objectIDs.contains(id) {
        add(Edit(inverse.number, .members(added: [id], removed: [])), to: other)
      }
    } else if let present = holder[inverse].objectID {
      if present != id { skipped.append(try taken(other, inverse, wanted: id, holder: present, holder)) }
    } else {
      add(Edit(inverse.number, .set(.object(id))), to: other)
    }
  }
}
