// Tests: UndoObjectsTests.swift, RandomUndoTests.swift
import GraphModel

/// The changes that reverse some commits of one author, and the conflicts with later changes. Deleted objects are
/// revived, inserted ones are deleted, and all others are restored property by property.
struct StepReversal {
  private(set) var changes = [Change]()
  var skipped = [Conflict]()

  let history: HistoryReader
  private let author: String
  /// The revision before the step.
  let base: Revision
  /// The step's own commits.
  let own: Set<Revision>
  private let pairs = PairCache()
  private(set) var order = [ObjectReversal]()
  private var places = [ObjectID: Int]()
  private var revived = Set<ObjectID>()
  private(set) var deleted = Set<ObjectID>()
  /// The edits of objects that are revived, that are kept, or that release a reference before their delete.
  var edits = [ObjectID: [Edit]]()

  var objects: ObjectReader { history.objects }
  var model: Model { objects.model }

  /// - Parameter commits: oldest first; not empty.
  init(
    _ commits: [HistoryReader.Commit], author: String, history: HistoryReader, limits: UndoLimits = UndoLimits()
  ) throws {
    self.history = history
    self.author = author
    base = try invariant(commits.first, "a step has at least one commit").revision - 1
    own = Set(commits.map(\.revision))
    try readObjects(commits, limits)
    try reviveObjects()
    try restoreProperties()
    try chooseDeletes()
    let returns = try restorePositions()
    // Revivals come first, because updates may refer to revived objects.
    changes = order.filter { revived.contains($0.id) }.map { Change(.revive, $0.id, edits: edits[$0.id, default: []]) }
    let updates = order.filter { !revived.contains($0.id) && !edits[$0.id, default: []].isEmpty }
    changes += updates.map { Change(.update, $0.id, base: .max, edits: edits[$0.id, default: []]) }
    changes += returns
    changes += order.filter { deleted.contains($0.id) }.map { Change(.delete, $0.id) }
    var reported = Set<ConflictKey>()
    skipped = skipped.filter {
      reported.insert(ConflictKey(kind: $0.kind, id: $0.id, property: $0.property)).inserted
    }
  }

  private struct ConflictKey: Hashable {
    let kind: Conflict.Kind
    let id: ObjectID
    let property: PropertyNumber
  }

  /// Reads each object that the commits touched, in the order of the first touch.
  private mutating func readObjects(_ commits: [HistoryReader.Commit], _ limits: UndoLimits) throws {
    var bytes = 0
    var own = [ObjectID: [(revision: Revision, change: HistoryChange)]]()
    var ids = [ObjectID]()
    for commit in commits {
      for change in commit.changes {
        if own[change.id] == nil { ids.append(change.id) }
        own[change.id, default: []].append((commit.revision, change))
      }
    }
    for start in stride(from: 0, to: ids.count, by: ObjectTimeTravelReader.preparedAtOnce) {
      let next = ids[start...].prefix(ObjectTimeTravelReader.preparedAtOnce)
      var (images, spans) = ([ObjectID: ObjectImage](), [ObjectID: HistoryReader.ChangeRange]())
      for id in next {
        images[id] = try objects.readImage(of: id)
        bytes += images[id].memorySize
        try limits.check(changes: 0, bytes: bytes)
        let newest = try history.newestChange(of: id, present: images[id])
        spans[id] = HistoryReader.ChangeRange(newest: newest, base: base)
      }
      let pasts = try history.events(of: spans)
      for id in next {
        places[id] = order.count
        order.append(
          try ObjectReversal(
            id, own: own[id, default: []], past: pasts[id, default: []], now: images[id], author: author, model: model,
            cancelled: cancelled))
      }
    }
  }

  /// The undone commits of an author since the step, each with the newer commit of the pair; cached by author.
  func cancelled(_ author: String) throws -> [Revision: Revision] {
    if let known = pairs.cancelled[.string(author)] { return known }
    let cancelled = try UndoStacks(history: history).cancelled(of: author, after: base)
    pairs.cancelled[.string(author)] = cancelled
    return cancelled
  }

  private final class PairCache {
    var cancelled = [Value: [Revision: Revision]]()
  }

  // MARK: - Deleted objects

  private mutating func reviveObjects() throws {
    let gone = order.filter { $0.deletion != nil && !$0.isInserted && model.entity($0.id.entity) != nil }
    revived = Set(gone.map(\.id))
    var images = [ObjectID: ObjectImage]()
    for object in gone { images[object.id] = try imageBefore(object) }
    // An object with a required reference to an object that stays deleted is not revived either, and so on.
    var changed = true
    while changed {
      changed = false
      for object in gone where revived.contains(object.id) {
        guard let image = images[object.id], let obstacle = try obstacle(ofRevival: image) else { continue }
        skipped.append(obstacle)
        revived.remove(object.id)
        changed = true
      }
    }
    for object in gone where revived.contains(object.id) {
      guard let image = images[object.id], let entity = model.entity(object.id.entity) else { continue }
      var values = [Edit]()
      let stored = entity.storedProperties.filter { $0.attribute?.isDerived != true }
      for property in stored.placesLast where !image[property].isNull {
        var value = image[property]
        if case .objects(let ids) = value {
          value = .objects(try ids.filter { try obstacle(image.id, property, .object($0)) == nil })
        } else if let obstacle = try obstacle(image.id, property, value) {
          skipped.append(obstacle)
          continue
        }
        values.append(Edit(property.number, .set(value)))
      }
      edits[object.id] = values
    }
  }

  /// A deleted object as it was before the step.
  private mutating func imageBefore(_ object: ObjectReversal) throws -> ObjectImage? {
    guard let deletion = object.deletion else { return nil }
    var image = ObjectImage(id: object.id, revision: deletion.previous, values: deletion.values)
    let back = try object.edits(of: image, model: model) { _, _ in nil }
    skipped += back.skipped
    for edit in back.edits {
      guard let property = model.property(edit.property), let old = edit.applied(to: image[property]) else { continue }
      image[property] = old
    }
    return image
  }

  private func obstacle(ofRevival image: ObjectImage) throws -> Conflict? {
    for property in model.storedProperties(of: image.id.entity) {
      guard let relationship = property.relationship, !relationship.isToMany, !property.isOptional else { continue }
      if let obstacle = try obstacle(image.id, property, image[property]) { return obstacle }
    }
    return nil
  }

  /// The reason why a property can't refer to `value` again; nil if there is none.
  ///
  /// Either the object stays deleted, or its only place is taken by another object.
  private func obstacle(_ id: ObjectID, _ property: Property, _ value: Value) throws -> Conflict? {
    guard case .object(let target) = value, let relationship = property.relationship else { return nil }
    if revived.contains(target) { return nil }
    guard let image = try objects.readImage(of: target) else {
      return Conflict(
        kind: .deleted, id: id, property: property.number, mine: value, with: try history.deletion(of: target),
        of: target)
    }
    guard !relationship.isToMany, let inverse = model.property(relationship.inverse),
      inverse.relationship?.isToMany == false, let holder = image[inverse].objectID, holder != id
    else { return nil }
    // The step removed the reference, and its reversal restores this side too.
    if let reversal = places[target].flatMap({ order[$0].properties[inverse.number] }) {
      let outcomes = try reversal.outcomes(inverse.number, now: image[inverse]) { _ in nil }
      if outcomes.contains(where: { if case .edit = $0 { true } else { false } }) { return nil }
    }
    let past = try history.past(of: target, newest: image.revision, after: base)
    let latest = past.last { $0.edits.contains { $0.property == inverse.number } }
    return Conflict(
      kind: .changed, id: target, property: inverse.number, mine: .object(id), theirs: .object(holder),
      with: latest?.commit)
  }

  // MARK: - Changed objects

  private mutating func restoreProperties() throws {
    for object in order where object.deletion == nil && !object.wasRevived {
      if object.isInserted, object.other == nil {
        if object.now != nil { deleted.insert(object.id) }
        continue
      }
      guard let image = object.now else {
        // The step inserted the object and another author deleted it, so nothing is left to undo.
        if object.isInserted { continue }
        skipped.append(Conflict(kind: .deleted, id: object.id, with: try history.deletion(of: object.id)))
        continue
      }
      if object.isInserted { keep(object.id, because: object.other) }
      let back = try object.edits(of: image, model: model) { try obstacle(image.id, $0, $1) }
      skipped += back.skipped
      if !back.edits.isEmpty { edits[object.id] = back.edits }
    }
  }

  /// - Parameters:
  ///   - property: the relationship through which another author's change concerns the object; 0 for the object itself.
  ///   - cause: the object that was changed; nil for the object itself.
  private mutating func keep(
    _ id: ObjectID, because other: PastChange?, property: PropertyNumber = 0, of cause: ObjectID? = nil
  ) {
    skipped.append(Conflict(kind: .changed, id: id, property: property, with: other?.commit, of: cause))
  }

  /// Another author's change of an object, and the relationship through which it concerns the object to be deleted.
  private typealias ForeignChange = (change: PastChange, property: PropertyNumber, id: ObjectID)

  // MARK: - Inserted objects

  /// Selects the inserted objects to delete. A delete must not cascade to objects that another author has inserted or
  /// changed or that existed before the step, and must not remove an object to which another author refers. Each
  /// object that stays may be one to which another delete would cascade, so the check is repeated.
  private mutating func chooseDeletes() throws {
    var changed = true
    while changed {
      changed = false
      for object in order where deleted.contains(object.id) {
        guard let other = try foreignChange(below: object.id) ?? foreignChange(referringTo: object.id) else { continue }
        keep(object.id, because: other.change, property: other.property, of: other.id)
        deleted.remove(object.id)
        changed = true
        guard let image = object.now else {
          edits[object.id] = nil
          continue
        }
        let back = try object.edits(of: image, model: model) { try obstacle(image.id, $0, $1) }
        edits[object.id] = back.edits
        skipped += back.skipped
      }
    }
  }

  private mutating func foreignChange(below root: ObjectID) throws -> ForeignChange? {
    /// The objects to check, each with the root's relationship that leads to it.
    var pending: [(id: ObjectID, property: PropertyNumber)] = [(root, 0)]
    var seen: Set = [root]
    while let (id, first) = pending.popLast() {
      guard let image = try objects.readImage(of: id) else { continue }
      for property in model.relationships(of: image.id.entity) {
        guard let relationship = property.relationship, relationship.deleteRule == .cascade else { continue }
        for other in try objects.readRelated(to: image, through: property) where seen.insert(other).inserted {
          if deleted.contains(other) || isReleased(other, from: id, property, relationship) { continue }
          guard let foreignChange = try foreignChange(other) else {
            pending.append((other, id == root ? property.number : first))
            continue
          }
          // The step itself made the referenced object part of this one, so the reference is removed.
          guard id == root, relationship.storage != .inverse else {
            return (foreignChange, id == root ? property.number : first, other)
          }
          let release: Edit.Action = relationship.isToMany ? .members(added: [], removed: [other]) : .set(.null)
          edits[root, default: []].append(Edit(property.number, release))
        }
      }
    }
    return nil
  }

  /// The last change by another author that refers to the object: a tag that others use by now is kept.
  private func foreignChange(referringTo id: ObjectID) throws -> ForeignChange? {
    for property in model.relationships(of: id.entity) {
      guard let relationship = property.relationship, relationship.storage == .inverse,
        let inverse = model.property(relationship.inverse)
      else { continue }
      for other in try objects.readReferrers(to: id, through: inverse) where !deleted.contains(other) {
        guard let image = try objects.readImage(of: other) else { continue }
        let latest = try history.past(of: other, newest: image.revision, after: base).last { change in
          !UTF8Comparison.equal(change.author, author)
            && (change.kind == .inserted || change.edits.contains { $0.property == inverse.number })
        }
        if let latest { return (latest, property.number, other) }
      }
    }
    return nil
  }

  /// Whether the undo itself removes `other` from the relationship.
  private func isReleased(
    _ other: ObjectID, from id: ObjectID, _ property: Property, _ relationship: Relationship
  ) -> Bool {
    func releases(_ owner: ObjectID, _ number: PropertyNumber, _ member: ObjectID) -> Bool {
      edits[owner, default: []].contains { edit in
        guard edit.property == number else { return false }
        switch edit.action {
        case .set(let value): return value.objectID != member
        case .members(_, let removed): return removed.contains(member)
        case .splice, .place: return false
        }
      }
    }
    return relationship.storage == .inverse
      ? releases(other, relationship.inverse, id) : releases(id, property.number, other)
  }

  /// The reason why an object must not be deleted too.
  ///
  /// Nil if the author inserted it since the step and no other author edited it.
  private func foreignChange(_ id: ObjectID) throws -> PastChange? {
    guard let image = try objects.readImage(of: id) else { return nil }
    let past = try history.past(of: id, newest: image.revision, after: base)
    if let other = past.last(where: { !UTF8Comparison.equal($0.author, author) && $0.isUserEdit(in: model) }) {
      return other
    }
    if past.first?.kind == .inserted { return nil }
    var change = PastChange(revision: image.revision, author: "", replica: .zero, kind: .updated, edits: [])
    // The commit of an older change may have been pruned.
    if let author = try past.last?.author ?? history.author(of: image.revision) { change.author = author }
    return change
  }
}
