import GraphModel
import GraphStore

/// The history of the store as the simulation saw it. After each write, the recorder stores the commits, so that each
/// state of the graph is known without the store's history. For a large batch, whose record has no changes, it reads
/// the whole graph and compares.
struct GraphRecorder {
  private let model: Model
  private(set) var revision: Revision = 0
  /// All objects, by revision.
  private var states: [Revision: [ObjectID: ObjectImage]] = [0: [:]]
  /// The changes of each commit, including batches.
  private var changes = [Revision: [ObjectChange]]()
  /// Each object after each of its commits.
  private var versions = [ObjectID: [Revision: ObjectImage]]()
  /// The revisions that deleted an object.
  private var deletions = [ObjectID: [Revision]]()
  /// Objects that were inserted, changed or deleted in commits that a restore removed; clients may still know that
  /// state.
  private var reverted = Set<ObjectID>()
  /// All commits with all of their changes, including pruned ones.
  private(set) var records = [CommitRecord]()

  init(model: Model) { self.model = model }

  // MARK: - Recording

  /// Records the commits since the last call.
  /// - Returns: these commits with all changes.
  mutating func catchUp(with store: SQLiteStore) throws -> [CommitRecord] {
    let head = try store.head.revision
    // Recorded commits are never lost without a planted bug, and the invariants must detect that bug.
    if head < revision { removeVersions(behind: head) }
    guard head > revision else { return [] }
    var taken = [CommitRecord]()
    for var record in try store.commits(after: revision, through: nil, maximumChanges: .max) {
      let before = states[revision, default: [:]]
      if record.summary != nil {
        let after = try graph(store, at: record.revision == head ? nil : record.revision)
        record.changes = Self.differences(from: before, to: after)
      }
      apply(record, over: before)
      taken.append(record)
    }
    return taken
  }

  private mutating func apply(_ record: CommitRecord, over before: [ObjectID: ObjectImage]) {
    var state = before
    for change in record.changes {
      state[change.id] = change.after
      if let after = change.after {
        versions[change.id, default: [:]][after.revision] = after
      } else {
        deletions[change.id, default: []].append(record.revision)
      }
    }
    revision = record.revision
    states[revision] = state
    changes[revision] = record.changes
    records.append(record)
  }

  private mutating func removeVersions(behind head: Revision) {
    states = states.filter { $0.key <= head }
    changes = changes.filter { $0.key <= head }
    records.removeAll { $0.revision > head }
    revision = head
  }

  /// Records that the store was restored to this state.
  /// - Parameter lost: the recorder until the restore.
  mutating func revert(from lost: GraphRecorder) {
    reverted.formUnion(lost.reverted)
    for (number, changes) in lost.changes where number > revision { reverted.formUnion(changes.map(\.id)) }
  }

  private func graph(_ store: SQLiteStore, at revision: Revision?) throws -> [ObjectID: ObjectImage] {
    var images = [ObjectID: ObjectImage]()
    for entity in model.entities where entity.parent == nil {
      _ = try store.fetch(FetchRequest(entity: entity.number, at: revision)) { images[$0.id] = $0 }
    }
    return images
  }

  private static func differences(
    from before: [ObjectID: ObjectImage], to after: [ObjectID: ObjectImage]
  ) -> [ObjectChange] {
    Set(before.keys).union(after.keys).sorted().compactMap { id in
      let (old, new) = (before[id], after[id])
      if old == new { return nil }
      let kind: ObjectChange.Kind = old == nil ? .inserted : new == nil ? .deleted : .updated
      return ObjectChange(kind: kind, id: id, before: old, after: new)
    }
  }

  // MARK: - Querying

  /// The graph after a commit; nil for a revision that does not exist.
  func state(_ revision: Revision) -> RecordedGraph? {
    states[revision].map { RecordedGraph(images: $0, model: model) }
  }

  /// The record with all of its changes, also for a large batch.
  func whole(_ record: CommitRecord) -> CommitRecord {
    guard record.summary != nil, let all = changes[record.revision] else { return record }
    var record = record
    record.changes = all
    return record
  }

  /// The object after the commit with this revision, which changed it.
  func version(of id: ObjectID, _ revision: Revision) -> ObjectImage? { versions[id]?[revision] }

  /// Whether the object was ever deleted, or may seem deleted because a restore removed it.
  func wasEverDeleted(_ id: ObjectID) -> Bool { deletions[id] != nil || reverted.contains(id) }

  /// The newest commit before `revision` that deleted the object.
  func deletion(of id: ObjectID, before revision: Revision) -> Revision? {
    deletions[id]?.last { $0 < revision }
  }

  /// The deleted objects, ascending.
  var deletedObjects: [ObjectID] {
    let present = states[revision, default: [:]]
    return deletions.keys.filter { present[$0] == nil }.sorted()
  }
}

/// A state of the graph, which finds referring objects by a scan of all objects.
struct RecordedGraph: ImageSource {
  let images: [ObjectID: ObjectImage]
  let model: Model

  func image(of id: ObjectID) -> ObjectImage? { images[id] }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    images.values.filter { image in
      model.entity(image.id.entity)?.property(property.number) != nil && image[property].objectIDs.contains(id)
    }.map(\.id).sorted()
  }

  /// The objects of an entity and its subentities that satisfy the predicate.
  func objects(of entity: Entity, _ predicate: GraphPredicate) -> [ObjectID: ObjectImage] {
    let evaluator = PredicateEvaluator(predicate, model: model)
    return images.filter { entity.family.contains($0.key.entity) && evaluator.matches($0.value, in: self) }
  }

  /// The objects at the other end of a relationship, unordered.
  func related(to id: ObjectID, through property: Property) -> [ObjectID] {
    guard let relationship = property.relationship, let image = images[id] else { return [] }
    guard property.slot == nil, let inverse = model.property(relationship.inverse) else {
      return image[property].objectIDs
    }
    return referrers(to: id, through: inverse)
  }
}

extension Property {
  /// Whether users set the attribute: it is not derived and not assigned by the server.
  var isPlainAttribute: Bool {
    guard let attribute, slot != nil else { return false }
    return !attribute.isDerived && attribute.assignment == nil
  }
}
