import GraphModel
import GraphReplica
import GraphStore

/// What a client must hold at a quiet moment, beside its queries' results.
extension ClientNode {
  /// The order of every list as the store sorts it, as its objects' places say, and as this client sees it: all the same.
  /// What the client has moved and not saved is left out of account.
  /// - Parameter objects: all of them, as this client sees them.
  func brokenOrder(in store: SQLiteStore, _ objects: [ObjectImage]) throws -> String? {
    let images = Dictionary(uniqueKeysWithValues: objects.map { ($0.id, $0) })
    guard let folder = model.entity(named: "Folder"), let items = folder.property(named: "items"),
      let item = model.entity(named: "Item"), let labels = item.property(named: "labels")
    else { return "the model has changed" }
    let holdsItems = queries.contains { $0.predicate == .always && item.isKind(of: $0.entity) }
    let holdsLabels = queries.contains { $0.predicate == .always && $0.entity.name == "Label" }
    for object in objects {
      if object.id.entity == folder.number {
        let naive = PlacedMembers.order(of: object.id, items, in: images, model: model)
        var sorted = lens == nil ? [] : naive
        if lens == nil {
          _ = try store.fetch(
            FetchRequest(
              entity: item.number,
              predicate: try GraphPredicate(parsing: "folder == \"\(object.id)\"", entity: item, model: model),
              sort: try [SortKey](parsing: "folder.order", entity: item, model: model))
          ) { sorted.append($0.id) }
        }
        if naive != sorted { return "the store sorts the items of \(object.id) as \(sorted), their places as \(naive)" }
        if holdsItems, let reason = difference(from: naive, of: object.id, "items") { return reason }
      } else if object.id.entity == item.number, holdsItems, holdsLabels,
        let reason = difference(from: object[labels].objectIDs, of: object.id, "labels")
      {
        return reason
      }
    }
    return nil
  }

  private func difference(from stored: [ObjectID], of owner: ObjectID, _ name: String) -> String? {
    guard let owner = context.object(owner), !owner.hasChanges else { return nil }
    // What a reset has taken out of every result, and is held by a hand, is not known to be gone.
    let mine = members(of: owner, name).filter { object in
      queries.contains { context.storedResult(of: $0.id)[object.id] != nil }
        || object.hasChanges
    }
    let unsaved = Set(mine.filter(\.hasChanges).map(\.id))
    // What was deleted or moved elsewhere and not saved is not among them.
    let others = stored.filter { id in !unsaved.contains(id) && context.object(id)?.hasChanges == false }
    let seen = mine.map(\.id).filter { !unsaved.contains($0) }
    return seen == others ? nil : "client \(number) has \(name) of \(owner.id) as \(seen), the store as \(others)"
  }

  /// An attribute that was set and not saved, and is not what it was set to any more.
  func lostEdit() -> String? {
    for (object, property, value) in kept where !object.isDeleted && object[property] != value {
      return "client \(number) has set \(property) of \(object.id) to \(value) and holds \(object[property])"
    }
    return nil
  }

  /// A question or a load that has no end.
  func unfinishedReading() -> String? {
    if pendingBatch != nil { return "client \(number) still waits for its batch" }
    if !pastReads.isEmpty { return "client \(number) still reads the past" }
    if !fetches.isEmpty { return "client \(number) still waits for what it asked" }
    if !loads.isEmpty { return "client \(number) still loads" }
    for query in queries where prefetching.contains(query.id) {
      guard context.prefetch(of: query.id).load == nil else { return "client \(number) still prefetches" }
      happened.note(.queryPrefetched)
    }
    return nil
  }
}
