/// The graph as a transaction will leave it: the present graph, overlaid with the drafts of the objects that the
/// transaction touches.
///
/// It reads an object on the first access and creates its draft. It maps temporary ids to permanent ones, and keeps
/// both ends of each relationship and the places of ordered members consistent. It applies no policy and no rule.
struct DraftGraph {
  /// An object and a stored relationship through which others refer to it.
  struct Reference: Hashable {
    let target: ObjectID
    let property: PropertyNumber
  }

  /// The present graph.
  let reader: any PlannerReader
  let model: Model
  /// The revision of the commit, which each draft has.
  let revision: Revision

  /// The drafts, in the order in which they were created.
  private(set) var order = [Draft]()
  /// The drafts by id, if there are more than `searchedObjects`.
  private var drafts = [ObjectID: Draft]()
  /// The distinct entities of the touched objects; a step that concerns none of them is skipped.
  private(set) var touchedEntities = [Entity]()
  /// The object being edited, which most lookups are for.
  var current: Draft?
  /// The permanent ids, in the order of the inserts.
  private(set) var idAssignments = [CommitResult.IDAssignment]()
  /// The permanent ids by temporary id, if there are more than `searchedObjects`.
  private var identities = [ObjectID: ObjectID]()
  /// The objects that gained a reference to an object in this transaction. The members of the inverse relationship,
  /// which stores nothing, are found with them. An object may have lost its reference again, so each one must be
  /// checked against its draft.
  let addedReferences = AddedReferences()
  /// The ordered relationships with changed places.
  var lists = [Reference: ListChanges]()
  /// To-many relationships whose count changed, which may happen without their owner being touched.
  var changedCounts = [ObjectID: Set<PropertyNumber>]()

  /// The number of objects that are searched in order. Most transactions have one or two, for which a hash table costs
  /// several times as much.
  private static let searchedObjects = 8

  /// An overlay without drafts.
  init(_ reader: any PlannerReader, revision: Revision) {
    self.reader = reader
    self.revision = revision
    model = reader.model
  }

  mutating func reserveCapacity(_ count: Int) {
    order.reserveCapacity(count)
    idAssignments.reserveCapacity(count)
    if count > Self.searchedObjects {
      drafts.reserveCapacity(count)
      identities.reserveCapacity(count)
    }
  }

  // MARK: - Drafts

  /// The draft of an object, created on the first access; nil if the object does not exist.
  mutating func touch(_ id: ObjectID) throws -> Draft? {
    if let draft = draft(of: id) { return draft.isDeleted ? nil : draft }
    guard let image = try reader.image(of: id), let entity = model.entity(image.id.entity) else { return nil }
    guard order.count < TransactionPlanner.maximumObjects else {
      throw Refusal(.limit, "the transaction touches more than \(TransactionPlanner.maximumObjects) objects; split it")
    }
    var after = image
    after.revision = revision
    let draft = Draft(entity: entity, before: image, after: after)
    register(draft)
    current = draft
    return draft
  }

  /// - Returns: false if the transaction has already touched the object.
  @discardableResult
  mutating func register(_ draft: Draft) -> Bool {
    assert(draft.after.revision == revision, "a draft has the revision of its commit")
    guard registered(draft.after.id) == nil else { return false }
    order.append(draft)
    if !drafts.isEmpty {
      drafts[draft.after.id] = draft
    } else if order.count > Self.searchedObjects {
      for draft in order { drafts[draft.after.id] = draft }
    }
    assert(drafts.isEmpty || drafts.count == order.count, "each draft has one place in the order")
    if touchedEntities.last !== draft.entity, !touchedEntities.contains(where: { $0 === draft.entity }) {
      touchedEntities.append(draft.entity)
    }
    return true
  }

  /// The draft of an object that was already touched.
  func draft(of id: ObjectID) -> Draft? {
    if let current, current.after.id == id { return current }
    return registered(id)
  }

  private func registered(_ id: ObjectID) -> Draft? {
    drafts.isEmpty ? order.first { $0.after.id == id } : drafts[id]
  }

  /// Whether the transaction deletes the object; false if it has no draft.
  func isDeleted(_ id: ObjectID) -> Bool { registered(id)?.isDeleted == true }

  /// The entity of an object after the transaction; nil if it will not exist.
  func entity(of id: ObjectID) throws -> Entity? {
    if let draft = registered(id) { return draft.isDeleted ? nil : draft.entity }
    return try reader.entity(of: id).flatMap { model.entity($0) }
  }

  // MARK: - Identities

  /// - Returns: false if the temporary id already has a permanent one.
  mutating func assign(_ permanent: ObjectID, to temporary: ObjectID) -> Bool {
    assert(temporary.isTemporary, "only inserts get ids")
    guard assigned(to: temporary) == nil else { return false }
    idAssignments.append(CommitResult.IDAssignment(temporary: temporary, permanent: permanent))
    if !identities.isEmpty {
      identities[temporary] = permanent
    } else if idAssignments.count > Self.searchedObjects {
      for known in idAssignments { identities[known.temporary] = known.permanent }
    }
    assert(identities.isEmpty || identities.count == idAssignments.count, "each temporary id has one permanent id")
    return true
  }

  /// The permanent id for an id in the transaction; nil for a temporary id that the transaction does not insert.
  func permanent(_ id: ObjectID) -> ObjectID? { id.isTemporary ? assigned(to: id) : id }

  private func assigned(to temporary: ObjectID) -> ObjectID? {
    identities.isEmpty ? idAssignments.first { $0.temporary == temporary }?.permanent : identities[temporary]
  }

  /// The temporary ids of the inserts, by permanent id.
  func temporaryIDs() -> [ObjectID: ObjectID] {
    Dictionary(idAssignments.map { ($0.permanent, $0.temporary) }, uniquingKeysWith: { min($0, $1) })
  }
}
