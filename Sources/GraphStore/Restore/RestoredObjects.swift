import GraphModel

/// The changes that make some objects what they were, and what of it cannot be.
struct RestoredObjects {
  private(set) var changes = [Change]()
  private(set) var skipped = [Conflict]()

  let history: HistoryReader
  let past: PastGraph
  /// The whole graph: what is not in the past goes, and nothing is left out of the way of it.
  let isEverything: Bool
  private var revived = Set<ObjectID>()
  /// By object; in `order` as it was first touched.
  private var edits = [ObjectID: [Edit]]()
  private var order = [ObjectID]()
  private var memory = [ObjectID: ObjectImage?]()

  init(history: HistoryReader, past: PastGraph, isEverything: Bool) {
    self.history = history
    self.past = past
    self.isEverything = isEverything
  }

  private var objects: ObjectReader { history.objects }
  private var model: Model { objects.model }

  /// - Parameter wanted: each once.
  mutating func restore(_ wanted: [ObjectID]) throws {
    var targets = [ObjectImage]()
    var surplus = [ObjectID]()
    for id in wanted {
      if let image = try past.image(of: id) { targets.append(image) } else if isEverything { surplus.append(id) }
    }
    try chooseRevivals(targets)
    for image in targets {
      if revived.contains(image.id) {
        try revive(image)
      } else if let now = try now(image.id) {
        try setBack(image, from: now)
      }
    }
    // Of a whole graph everything that differs is wanted itself.
    if !isEverything { try reconnect(targets) }
    changes = targets.filter { revived.contains($0.id) }.map { Change(.revive, $0.id, edits: edits[$0.id] ?? []) }
    changes += order.filter { !revived.contains($0) }.map { Change(.update, $0, base: .max, edits: edits[$0] ?? []) }
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
  }

  // MARK: - What is gone

  /// Who can't do without something that is gone stays gone, and so do those who can't do without it.
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
    for property in model.entity(image.id.entity)?.storedProperties ?? [] {
      // One object without a value that a later version asks for keeps the others from nothing.
      if isEverything, !property.isOptional, image[property].isNull, let attribute = property.attribute,
        !attribute.isDerived, attribute.assignment == nil
      {
        return Conflict(
          kind: .changed, id: image.id, property: property.number, mine: .null, theirs: .null, author: "", revision: 0)
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

  /// A case that an enumeration has lost since gives way to the default, and is named: the object need not stay away for it.
  private mutating func allowed(_ value: Value, _ property: Property, of id: ObjectID) -> Value {
    guard let attribute = property.attribute, attribute.kind == .enumeration, attribute.checked(value) == nil,
      let standIn = attribute.checked(attribute.defaultValue), !standIn.isNull || property.isOptional
    else { return value }
    skipped.append(Conflict(kind: .changed, id: id, property: property.number, mine: value, theirs: standIn))
    return standIn
  }

  /// Stored properties that history gives back; to-ones come before the places beside them.
  private func inOrder(_ entity: EntityNumber) -> [Property] {
    let stored = (model.entity(entity)?.storedProperties ?? []).filter { $0.attribute?.isDerived != true }
    return stored.filter { !$0.isPlace } + stored.filter(\.isPlace)
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

  /// Why a property can't refer to `value` again: it is gone and does not come back, or it can be referred to once and
  /// somebody else has taken it, who is not restored as well.
  private mutating func obstacle(_ id: ObjectID, _ property: Property, _ value: Value) throws -> Conflict? {
    guard case .object(let target) = value, let relationship = property.relationship else { return nil }
    if revived.contains(target) { return nil }
    guard let image = try now(target) else {
      let deletion = try history.deletion(of: target)
      return Conflict(
        kind: .deleted, id: id, property: property.number, mine: value, author: deletion?.author ?? "",
        revision: deletion?.revision ?? 0)
    }
    guard !isEverything, !relationship.isToMany, let inverse = model.property(relationship.inverse),
      inverse.relationship?.isToMany == false, let holder = image[inverse].objectID, holder != id
    else { return nil }
    return try taken(target, inverse, wanted: id, holder: holder, image)
  }

  private func taken(
    _ id: ObjectID, _ property: Property, wanted: ObjectID, holder: ObjectID, _ image: ObjectImage
  ) throws -> Conflict {
    let origin = try? ValueOrigins(history: history).origin(of: property.number, of: image.id)
    return Conflict(
      kind: .changed, id: id, property: property.number, mine: .object(wanted), theirs: .object(holder),
      author: origin?.author ?? "", revision: origin?.revision ?? 0)
  }

  // MARK: - What is there

  private mutating func setBack(_ image: ObjectImage, from now: ObjectImage) throws {
    var isElsewhere = Set<PropertyNumber>()
    for property in inOrder(image.id.entity) {
      // What the server sets by itself is not set back. A place in an order is somebody's.
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

  /// Whether the place has another number because somebody moved the object, and not only to make room for others.
  private func wasMoved(_ place: Property, _ image: ObjectImage, _ now: ObjectImage) throws -> Bool {
    let events = try history.events(of: image.id, newest: now.revision, after: image.revision)
    return events.contains { event in
      !event.change.spacing.contains(place.number) && event.change.edits.contains { $0.property == place.number }
    }
  }

  // MARK: - Who referred to them

  /// Relationships that are kept at their other ends, in objects that are not restored themselves: those come back that
  /// are free to. What refers to the objects since stays.
  private mutating func reconnect(_ targets: [ObjectImage]) throws {
    let wanted = Set(targets.map(\.id))
    for image in targets {
      let isThere = try revived.contains(image.id) || now(image.id) != nil
      guard isThere else { continue }
      for property in model.entity(image.id.entity)?.relationships ?? [] {
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
    guard let holder = try now(other) else {
      // What was in the object, and is not asked for.
      if property.relationship?.deleteRule == .cascade { return }
      let deletion = try history.deletion(of: other)
      skipped.append(
        Conflict(
          kind: .deleted, id: id, property: property.number, mine: .object(other), author: deletion?.author ?? "",
          revision: deletion?.revision ?? 0))
      return
    }
    if inverse.relationship?.isToMany == true {
      guard !holder[inverse].objectIDs.contains(id) else { return }
      return add(Edit(inverse.number, .members(added: [id], removed: [])), to: other)
    }
    guard holder[inverse].objectID != id else { return }
    if let present = holder[inverse].objectID {
      return skipped.append(try taken(other, inverse, wanted: id, holder: present, holder))
    }
    add(Edit(inverse.number, .set(.object(id))), to: other)
  }
}
