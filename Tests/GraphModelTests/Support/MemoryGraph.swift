import GraphModel

/// A graph in a dictionary, as the reader of the rules: it answers every question by a search of all objects.
final class MemoryGraph: PlannerReader {
  let model: Model
  private(set) var images = [ObjectID: ObjectImage]()
  private(set) var revision: Revision = 0
  private var deletions = [ObjectID: (revision: Revision, author: String)]()
  private var past = [ObjectID: [PastChange]]()
  private var lastImages = [ObjectID: ObjectImage]()
  private var sequence: UInt64 = 0
  private var lastTemporary: UInt64 = 0
  private var lastID: UInt64 = 0
  var now: Timestamp = 1_000

  init(_ model: Model) { self.model = model }

  // MARK: - Helpers of tests

  /// Plans a transaction and carries the plan out.
  @discardableResult
  func commit(
    _ changes: [Change], replica: UInt64 = 1, policy: MergePolicy = .error, isUndo: Bool = false,
    unseen: Set<PropertyNumber> = [], author: String? = nil, judge: AccessJudge? = nil
  ) throws -> TransactionPlan {
    sequence += 1
    let writer = UniqueID(high: 9, low: replica)
    var transaction = Transaction(
      id: TransactionID(replica: writer, sequence: sequence), policy: policy, changes: changes)
    transaction.unseen = unseen
    let plan = try TransactionPlanner.plan(
      transaction, reader: self, revision: revision + 1, now: now, author: author, judge: judge, isUndo: isUndo
    ) { entity in
      lastID += 1
      // Ids that do not rise, so that nothing can depend on the order of inserts.
      return ObjectID(key: UniqueID(high: 1 + (lastID &* 0x9E37_79B9_7F4A_7C15) >> 1, low: lastID), entity: entity)
    }
    revision += 1
    for change in plan.changes {
      images[change.id] = change.after
      if let before = change.before { lastImages[change.id] = before }
      if change.kind == .deleted { deletions[change.id] = (revision, "replica \(replica)") }
      past[change.id, default: []].append(
        PastChange(
          revision: revision, author: "replica \(replica)", replica: writer, kind: change.kind,
          isRevival: change.kind == .inserted && past[change.id] != nil, edits: change.edits, spacing: change.spacing))
    }
    return plan
  }

  /// The revision that made the object.
  func born(_ id: ObjectID) -> Revision { past[id]?.first?.revision ?? 0 }

  func temporary(_ entity: String) -> ObjectID {
    lastTemporary += 1
    return .temporary(lastTemporary, entity: model.entity(named: entity)?.number ?? 0)
  }

  func property(_ entity: String, _ name: String) -> PropertyNumber {
    model.entity(named: entity)?.property(named: name)?.number ?? 0
  }

  func value(_ id: ObjectID, _ name: String) -> Value {
    guard let image = images[id], let property = model.entity(id.entity)?.property(named: name) else { return .null }
    return image[property]
  }

  /// The members of a relationship whose inverse is the to-one `reference`, by place.
  func members(of parent: ObjectID, _ reference: String, of entity: String) -> [ObjectID] {
    guard let property = model.entity(named: entity)?.property(named: reference) else { return [] }
    return places(of: parent, property).map(\.id)
  }

  private func places(of parent: ObjectID, _ reference: Property) -> [OrderedMemberKey] {
    guard let position = reference.relationship?.position.flatMap({ model.property($0) }) else { return [] }
    return images.values.filter { image in
      model.entity(image.id.entity)?.property(reference.number) != nil && image[reference].objectID == parent
    }.compactMap { image in
      if case .integer(let number) = image[position] { OrderedMemberKey(position: number, id: image.id) } else { nil }
    }.sorted()
  }

  // MARK: - PlannerReader

  func image(of id: ObjectID) -> ObjectImage? { images[id] }

  func entity(of id: ObjectID) -> EntityNumber? { images[id]?.id.entity }

  func deletion(of id: ObjectID) -> (revision: Revision, author: String)? { deletions[id] }

  func lastImage(ofDeleted id: ObjectID) -> ObjectImage? { lastImages[id] }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    images.values.filter { image in
      model.entity(image.id.entity)?.property(property.number) != nil && image[property].objectIDs.contains(id)
    }.map(\.id).sorted()
  }

  func members(
    of parent: ObjectID, through reference: Property, beyond place: OrderedMemberKey?, ascending: Bool, limit: Int
  ) -> [OrderedMemberKey] {
    let all = places(of: parent, reference)
    let ordered = ascending ? all : all.reversed()
    return Array(ordered.filter { other in place.map { ascending ? other > $0 : other < $0 } ?? true }.prefix(limit))
  }

  func history(of id: ObjectID, after revision: Revision) -> [PastChange] {
    (past[id] ?? []).filter { $0.revision > revision }
  }

  func object(of entity: Entity, matching constraint: [PropertyNumber], values: [Value]) -> ObjectID? {
    images.values.first { image in
      guard let own = model.entity(image.id.entity), own.isKind(of: entity) else { return false }
      return zip(constraint, values).allSatisfy { number, value in own.property(number).map { image[$0] } == value }
    }?.id
  }

  func nextInSequence(_ property: PropertyNumber) -> Int64 { 1 }
}
