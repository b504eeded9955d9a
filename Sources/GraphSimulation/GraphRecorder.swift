import GraphModel
import GraphStore

/// What the simulation saw of the store: after each write it takes down what was committed, so that every state of the
/// graph is known without asking history for it again. Of a batch, which history lists in parts, it reads the whole graph
/// once and notes what differs.
struct GraphRecorder {
  private let model: Model
  private(set) var revision: Revision = 0
  /// All objects, by revision.
  private var states: [Revision: [ObjectID: ObjectImage]] = [0: [:]]
  /// What each commit changed, batches included.
  private var changes = [Revision: [ObjectChange]]()
  /// Each object as each of its commits left it.
  private var versions = [ObjectID: [Revision: ObjectImage]]()
  /// The commits that deleted an object.
  private var deletions = [ObjectID: [Revision]]()
  /// Objects of which somebody may know what a restore has taken back: they were made, changed or deleted then.
  private var takenBack = Set<ObjectID>()
  /// All commits with all of their changes, also where history has forgotten them.
  private(set) var records = [CommitRecord]()

  init(model: Model) { self.model = model }

  // MARK: - Taking down

  /// - Returns: what was committed since the last call, with all changes.
  mutating func catchUp(with store: SQLiteStore) throws -> [CommitRecord] {
    let head = try store.head.revision
    // Nothing that was taken down is ever lost, unless a bug is planted: the promises find it.
    if head < revision { forget(behind: head) }
    guard head > revision else { return [] }
    var taken = [CommitRecord]()
    for var record in try store.commits(after: revision, through: nil, maximumChanges: .max) {
      let before = states[revision] ?? [:]
      if record.summary != nil {
        let after = try graph(store, at: record.revision == head ? nil : record.revision)
        record.changes = Self.differences(from: before, to: after)
      }
      take(record, over: before)
      taken.append(record)
    }
    return taken
  }

  private mutating func take(_ record: CommitRecord, over before: [ObjectID: ObjectImage]) {
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

  private mutating func forget(behind head: Revision) {
    states = states.filter { $0.key <= head }
    changes = changes.filter { $0.key <= head }
    records.removeAll { $0.revision > head }
    revision = head
  }

  /// The store was put back to where this was taken down.
  /// - Parameter lost: what was taken down of it until then.
  mutating func takeBack(from lost: GraphRecorder) {
    takenBack.formUnion(lost.takenBack)
    for (number, changes) in lost.changes where number > revision { takenBack.formUnion(changes.map(\.id)) }
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

  // MARK: - Asking

  /// The graph as a commit left it; nil for a revision that there is not.
  func state(_ revision: Revision) -> RecordedGraph? {
    states[revision].map { RecordedGraph(images: $0, model: model) }
  }

  /// The record with all of its changes, also where it is of a batch.
  func whole(_ record: CommitRecord) -> CommitRecord {
    guard record.summary != nil, let all = changes[record.revision] else { return record }
    var record = record
    record.changes = all
    return record
  }

  /// The object as that commit, which changed it, left it.
  func version(of id: ObjectID, _ revision: Revision) -> ObjectImage? { versions[id]?[revision] }

  /// Also where the delete, or the object itself, was taken back.
  func wasEverDeleted(_ id: ObjectID) -> Bool { deletions[id] != nil || takenBack.contains(id) }

  /// The newest commit before `revision` that deleted the object.
  func deletion(of id: ObjectID, before revision: Revision) -> Revision? {
    deletions[id]?.last { $0 < revision }
  }

  /// Objects that were there once and are gone, ascending.
  var gone: [ObjectID] {
    let present = states[revision] ?? [:]
    return deletions.keys.filter { present[$0] == nil }.sorted()
  }
}

/// A state of the graph, asked slowly: whoever refers to an object is found by looking at everybody.
struct RecordedGraph: ImageSource {
  let images: [ObjectID: ObjectImage]
  let model: Model

  func image(of id: ObjectID) -> ObjectImage? { images[id] }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    images.values.filter { image in
      model.entity(image.id.entity)?.property(property.number) != nil && image[property].objectIDs.contains(id)
    }.map(\.id).sorted()
  }

  /// The objects of an entity and its heirs that match.
  func objects(of entity: Entity, _ predicate: GraphPredicate) -> [ObjectID: ObjectImage] {
    let evaluator = PredicateEvaluator(predicate, model: model)
    return images.filter { entity.family.contains($0.key.entity) && evaluator.matches($0.value, in: self) }
  }

  /// The objects at the other end of a relationship, in no order.
  func related(to id: ObjectID, through property: Property) -> [ObjectID] {
    guard let relationship = property.relationship, let image = images[id] else { return [] }
    guard property.slot == nil, let inverse = model.property(relationship.inverse) else {
      return image[property].objectIDs
    }
    return referrers(to: id, through: inverse)
  }
}

extension Property {
  /// What a user sets: not derived, not assigned by the server, no relationship.
  var isPlainAttribute: Bool {
    guard let attribute, slot != nil else { return false }
    return !attribute.isDerived && attribute.assignment == nil
  }
}
