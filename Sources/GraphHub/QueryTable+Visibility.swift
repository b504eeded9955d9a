// Tests: VisibilityHubTests.swift
import GraphModel

/// The live queries of sessions that do not see everything.
///
/// A query of a visibility class is an entry of its own, with its own number and deltas. It is not in the index: its
/// predicate is matched by a base entry without readers, which all classes share, so that a commit is matched once for
/// each query and then filtered once for each class. An object that becomes visible is an insert, and one that becomes
/// invisible a removal.
///
/// A class sees an object with the references to visible objects only. The writer adds the objects to which the objects
/// of a commit refer (`CommitRecord.referenced`). If one is missing, or if an object to which others refer becomes
/// visible or invisible, the effect on the class is not known, and its readers reload.
///
/// Two kinds of predicates have no base. One that compares references decides on the objects as the class sees them, so
/// it is evaluated for each class. For one with paths, the writer computes the effect in the graph that the class sees.
extension QueryTable {
  /// Adds the query of a class to those of its base.
  mutating func attach(_ entry: Entry, _ visibility: Visibility, number: UInt64) {
    if classes.isEmpty { pendingWatches.append(.recordReferences(true)) }
    classes[visibility, default: []].insert(number)
    if let base = entry.base { dependents[base, default: []].append(number) }
    if entry.comparesReduced { reducedEntries.insert(number) }
  }

  /// The equal class that already has live queries, so that its sessions share one copy of the compiled rules.
  func shared(_ visibility: Visibility) -> Visibility {
    if let known = classes.index(forKey: visibility) { classes[known].key } else { visibility }
  }

  /// The base of a query, which is made with its first class.
  mutating func base(of query: LiveQuery) -> UInt64 {
    if let known = bases[query] { return known }
    let number = add(entry(query, nil, nil))
    bases[query] = number
    return number
  }

  /// Removes the query of a class, and the base with its last class.
  mutating func detach(_ entry: Entry, _ visibility: Visibility, number: UInt64) {
    classes[visibility, default: []].remove(number)
    if classes[visibility, default: []].isEmpty { classes[visibility] = nil }
    if classes.isEmpty { pendingWatches.append(.recordReferences(false)) }
    reducedEntries.remove(number)
    if let base = entry.base {
      dependents[base, default: []].removeAll { $0 == number }
      if dependents[base, default: []].isEmpty {
        dependents[base] = nil
        bases[entry.query] = nil
        remove(base)
      }
    }
  }

  /// Replaces the effects on bases by those on their classes.
  mutating func addClasses(
    to effects: inout [UInt64: [LiveQueryChange]], stopped: inout Set<UInt64>, of record: CommitRecord,
    _ meter: LiveEvaluationMeter
  ) {
    if classes.isEmpty { return }
    let objects = RecordObjects(record)
    let views = Dictionary(
      uniqueKeysWithValues: classes.keys.map { ($0, RecordVisibility(objects, $0, model: model)) })
    for (visibility, numbers) in classes {
      guard let changed = views[visibility]?.changedRoots, !changed.isEmpty else { continue }
      for number in numbers where entries[number]?.refersTo.isDisjoint(with: changed) == false {
        stopped.insert(number)
        // That of a query with paths, which the writer has computed.
        effects[number] = nil
      }
    }
    for number in reducedEntries.sorted() where !stopped.contains(number) {
      guard let entry = entries[number], let visibility = entry.visibility, let view = views[visibility] else {
        assertionFailure("the query of a class is registered with it")
        continue
      }
      guard let changes = view.effects(on: number, entry, meter) else {
        stopped.insert(number)
        continue
      }
      if !changes.isEmpty { effects[number] = changes }
    }
    for base in Set(effects.keys).union(stopped) {
      guard let numbers = dependents[base] else { continue }
      let changes = stopped.remove(base) == nil ? effects[base] : nil
      effects[base] = nil
      for number in numbers where !stopped.contains(number) {
        guard let visibility = entries[number]?.visibility, let view = views[visibility] else {
          assertionFailure("the query of a class is registered with it")
          continue
        }
        guard let changes, let visible = view.changes(changes) else {
          stopped.insert(number)
          continue
        }
        if !visible.isEmpty { effects[number] = visible }
      }
    }
  }

  /// Whether the commit has an object of an entity on which the query of a class depends; true for other queries.
  func mayAffect(_ record: CommitRecord, _ entry: Entry) -> Bool {
    entry.visibility == nil
      || record.changes.contains { change in
        model.entity(change.id.entity).map { entry.reads.contains($0.root) } == true
      }
  }

  /// Whether references of unchanged objects appear or disappear for the readers of the query.
  func concernsReferences(_ record: CommitRecord, of entry: Entry) -> Bool {
    guard let visibility = entry.visibility else { return false }
    return !entry.refersTo.isDisjoint(with: RecordVisibility(record, visibility, model: model).changedRoots)
  }

  /// The effect of a commit on a query that decides on the objects as its class sees them; nil if it is not known.
  func reducedEffects(
    of record: CommitRecord, on number: UInt64, _ entry: Entry, _ meter: LiveEvaluationMeter
  ) -> [LiveQueryChange]? {
    guard let visibility = entry.visibility else { return nil }
    return RecordVisibility(record, visibility, model: model).effects(on: number, entry, meter)
  }

  /// The effect of a commit on the query of a class; nil if it is not known.
  func classEffects(
    of record: CommitRecord, on entry: Entry, _ visibility: Visibility, _ changes: [LiveQueryChange]
  ) -> [LiveQueryChange]? {
    let view = RecordVisibility(record, visibility, model: model)
    return entry.refersTo.isDisjoint(with: view.changedRoots) ? view.changes(changes) : nil
  }
}

/// The objects of a commit by their ids, found once for all classes.
struct RecordObjects {
  fileprivate let changes: [ObjectID: ObjectChange]
  fileprivate let inOrder: [ObjectChange]
  /// Unchanged objects to which the changed ones refer.
  fileprivate let referenced: [ObjectID: ObjectImage]

  init(_ record: CommitRecord) {
    inOrder = record.changes
    changes = Dictionary(record.changes.map { ($0.id, $0) }) { $1 }
    let images = if let images = record.referenced { images } else { [ObjectImage]() }
    referenced = Dictionary(images.map { ($0.id, $0) }) { $1 }
  }
}

/// The part of a commit that one class sees.
struct RecordVisibility {
  private let visibility: Visibility
  private let objects: RecordObjects
  /// The root entities of objects that have become visible or invisible, while others may refer to them.
  let changedRoots: Set<EntityNumber>

  init(_ record: CommitRecord, _ visibility: Visibility, model: Model) {
    self.init(RecordObjects(record), visibility, model: model)
  }

  init(_ objects: RecordObjects, _ visibility: Visibility, model: Model) {
    (self.objects, self.visibility) = (objects, visibility)
    var changedRoots = Set<EntityNumber>()
    for change in objects.inOrder {
      if let before = change.before, let after = change.after, visibility.sees(before) != visibility.sees(after),
        let root = model.entity(change.id.entity)?.root
      {
        changedRoots.insert(root)
      }
    }
    self.changedRoots = changedRoots
  }

  /// The effects of the commit as the class sees them; nil if a reference can't be judged.
  func changes(_ effects: [LiveQueryChange]) -> [LiveQueryChange]? {
    var visible = [LiveQueryChange]()
    for effect in effects {
      guard let change = objects.changes[effect.id] else {
        assertionFailure("an effect on a query is that of a changed object")
        return nil
      }
      // For the query, an object that did not match does not exist.
      var matching = change
      switch effect {
      case .inserted: (matching.before, matching.kind) = (nil, .inserted)
      case .removed(_, let deleted): (matching.after, matching.kind) = (nil, deleted ? .deleted : .updated)
      case .updated: break
      }
      do {
        guard let reduced = try visibility.reduced(matching, { try sees($0, isBefore: $1) }) else { continue }
        switch (reduced.before, reduced.after) {
        case (let before?, let after?): visible.append(.updated(after, edits: reduced.edits, previous: before.revision))
        case (nil, let after?): visible.append(.inserted(after))
        case (let before?, nil):
          let isGone = change.after.map { !visibility.sees($0) } != false
          visible.append(.removed(before, deleted: isGone))
        case (nil, nil): break
        }
      } catch {
        return nil
      }
    }
    return visible
  }

  /// The effects on a query that decides on the objects as the class sees them; nil if a reference can't be judged, or
  /// if the evaluation was stopped.
  func effects(
    on number: UInt64, _ entry: QueryTable.Entry, _ meter: LiveEvaluationMeter
  ) -> [LiveQueryChange]? {
    var effects = [LiveQueryChange]()
    for change in objects.inOrder where entry.family.contains(change.id.entity) {
      do {
        guard let reduced = try visibility.reduced(change, { try sees($0, isBefore: $1) }) else { continue }
        let effect = meter.evaluate(number, steps: entry.steps, isLong: change.hasLongText) {
          entry.evaluator.effect(of: reduced, family: entry.family)
        }
        guard let effect else { return nil }
        if let effect { effects.append(effect) }
      } catch {
        return nil
      }
    }
    return effects
  }

  /// The stored objects of the commit that the class sees, as it sees them; nil if a reference can't be judged.
  func storedObjects(_ objects: [ObjectImage]) -> [ObjectImage]? {
    do {
      return try objects.filter { visibility.sees($0) }.map { image in
        try visibility.reduced(image) { try sees($0, isBefore: false) }
      }
    } catch {
      return nil
    }
  }

  /// Whether the class saw an object before the commit, or sees it if the commit created it; nil if the commit did not
  /// change it.
  func saw(_ id: ObjectID) -> Bool? {
    objects.changes[id].map { change in (change.before ?? change.after).map { visibility.sees($0) } == true }
  }

  private struct UnknownReference: Error {}

  private func sees(_ id: ObjectID, isBefore: Bool) throws(UnknownReference) -> Bool {
    if let change = objects.changes[id] {
      return (isBefore ? change.before : change.after).map { visibility.sees($0) } == true
    }
    if let image = objects.referenced[id] { return visibility.sees(image) }
    if let known = visibility.seesUnread(id) { return known }
    throw UnknownReference()
  }
}

extension Model {
  /// The root entities of the objects to which stored properties of the entity and its subentities refer.
  func referencedRoots(of entity: EntityNumber) -> Set<EntityNumber> {
    guard let entity = self.entity(entity) else { return [] }
    let properties = entity.family.flatMap { storedProperties(of: $0) }
    return Set(properties.compactMap(\.relationship).compactMap { self.entity($0.destination)?.root })
  }

  /// The root entities of the objects to which the results of a query and the paths of its predicate refer.
  func referencedRoots(of query: LiveQuery) -> Set<EntityNumber> {
    let read = query.predicate.reads(in: self).compactMap { property($0)?.relationship?.destination }
    return referencedRoots(of: query.entity).union(read.compactMap { entity($0)?.root })
  }

  /// The root entities of all objects on which the result of a query with paths depends.
  func readRoots(of query: LiveQuery) -> Set<EntityNumber> {
    var roots = referencedRoots(of: query.entity)
    if let own = entity(query.entity)?.root { roots.insert(own) }
    for property in query.predicate.reads(in: self).compactMap({ property($0) }) {
      if let owner = entity(property.owner)?.root { roots.insert(owner) }
      if let destination = property.relationship.flatMap({ entity($0.destination)?.root }) { roots.insert(destination) }
    }
    return roots
  }
}
