import GraphModel

/// Records what one simulated user arranges in lists, and checks it against history:
///
/// - the last edit of a list's order holds: its objects are in sequence, directly behind the named anchor;
/// - a commit keeps the relative order of all list members that it does not name, even if their positions change.
///
/// A transaction that lost a conflict is exempt from the first rule. A transaction that was never acknowledged is
/// exempt from both, because the ids of its inserts are unknown.
struct ListOrderCheck {
  private struct Row {
    let owner: ObjectID
    let property: PropertyNumber
    let objects: [ObjectID]
    let anchor: ObjectID?
  }

  /// The last row that a transaction arranges in each list, and all objects that it names.
  private struct SentArrangement {
    var rows = [Row]()
    var named = Set<ObjectID>()
  }

  private var sent = [TransactionID: SentArrangement]()
  private var acknowledged = [TransactionID: CommitResult]()

  // MARK: - Transactions and answers

  mutating func record(_ transaction: Transaction) {
    var said = SentArrangement()
    for change in transaction.changes {
      said.named.insert(change.id)
      for edit in change.edits {
        switch edit.action {
        case .place(let objects, let anchor):
          said.rows.removeAll { $0.owner == change.id && $0.property == edit.property }
          said.rows.append(Row(owner: change.id, property: edit.property, objects: objects, anchor: anchor))
          said.named.formUnion(objects)
        case .members(let added, let removed): said.named.formUnion(added + removed)
        case .set(let value): said.named.formUnion(value.objectIDs)
        case .splice: break
        }
      }
    }
    sent[transaction.id] = said
  }

  mutating func record(_ id: TransactionID, _ committed: CommitResult) { acknowledged[id] = committed }

  // MARK: - The invariants

  /// Replays history, sorts the lists after each commit, and describes the first violation. The index in `clients` is
  /// the first half of their replicas' ids, minus one.
  static func failure(in records: [CommitRecord], of clients: [ListOrderCheck], model: Model) -> String? {
    var images = [ObjectID: ObjectImage]()
    for record in records {
      let lists = touchedLists(by: record, model: model)
      let before = lists.map { order(of: $0.owner, $0.property, in: images, model: model) }
      for change in record.changes { images[change.id] = change.after }
      let number = Int(record.transaction.replica.high) - 1
      guard clients.indices.contains(number), record.undoes == nil,
        let said = clients[number].sent[record.transaction],
        let committed = clients[number].acknowledged[record.transaction]
      else { continue }
      var permanent = [ObjectID: ObjectID]()
      for identity in committed.identities { permanent[identity.temporary] = identity.permanent }
      let named = Set(said.named.map { permanent[$0] ?? $0 })
      for ((owner, property), old) in zip(lists, before) {
        let new = order(of: owner, property, in: images, model: model)
        let stay = Set(old).intersection(new).subtracting(named)
        if old.filter(stay.contains) != new.filter(stay.contains) {
          return "revision \(record.revision) changed the order of \(property.name) of \(owner) for others: "
            + "\(old.filter(stay.contains)) became \(new.filter(stay.contains))"
        }
      }
      guard committed.conflicts.allSatisfy(\.mineWon) else { continue }
      for row in said.rows {
        let owner = permanent[row.owner] ?? row.owner
        guard images[owner] != nil, let property = model.property(row.property) else { continue }
        let list = order(of: owner, property, in: images, model: model)
        let objects = ListReorderer.unique(row.objects.map { permanent[$0] ?? $0 }.filter(list.contains))
        let start: Int
        if let anchor = row.anchor {
          // A uniqueness constraint may have merged two objects into one.
          let anchor = permanent[anchor] ?? anchor
          guard !objects.contains(anchor), let place = list.firstIndex(of: anchor) else { continue }
          start = place + 1
        } else {
          start = 0
        }
        if Array(list.dropFirst(start).prefix(objects.count)) != objects {
          return "revision \(record.revision) did not put \(objects) at \(start) in \(property.name) of \(owner): "
            + "\(list)"
        }
      }
    }
    return nil
  }

  /// The lists whose order or members a commit may have changed, without duplicates.
  static func touchedLists(
    by record: CommitRecord, model: Model
  ) -> [(owner: ObjectID, property: Property)] {
    var lists = [(owner: ObjectID, property: Property)]()
    func add(_ owner: ObjectID, _ property: Property) {
      if !lists.contains(where: { $0.owner == owner && $0.property === property }) {
        lists.append((owner, property))
      }
    }
    for change in record.changes {
      guard let entity = model.entity(change.id.entity) else {
        preconditionFailure("a recorded change is of an entity of the model")
      }
      for property in entity.relationships {
        guard let relationship = property.relationship else { continue }
        if relationship.isOrdered, relationship.storage == .members { add(change.id, property) }
        guard relationship.position != nil, property.slot != nil, let list = model.property(relationship.inverse) else {
          continue
        }
        for image in [change.before, change.after] { if let owner = image?[property].objectID { add(owner, list) } }
      }
    }
    return lists
  }

  /// The members of an ordered relationship, sorted.
  static func order(
    of owner: ObjectID, _ property: Property, in images: [ObjectID: ObjectImage], model: Model
  ) -> [ObjectID] {
    guard let relationship = property.relationship, let inverse = model.property(relationship.inverse) else {
      return []
    }
    if relationship.storage == .members {
      // A deleted owner has no members.
      guard let image = images[owner] else { return [] }
      return image[property].objectIDs
    }
    guard let position = inverse.relationship?.position.flatMap({ model.property($0) }) else { return [] }
    return images.values.compactMap { image -> OrderedMemberKey? in
      guard model.entity(image.id.entity)?.property(inverse.number) != nil, image[inverse].objectID == owner,
        case .integer(let place) = image[position]
      else { return nil }
      return OrderedMemberKey(position: place, id: image.id)
    }.sorted().map(\.id)
  }
}
