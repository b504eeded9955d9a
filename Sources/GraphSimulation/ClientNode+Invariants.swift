import GraphModel
import GraphReplica
import GraphStore

/// Invariants of a client at a quiet moment, besides the results of its queries.
extension ClientNode {
  /// Describes a list whose order differs between the store, its objects' positions and this client.
  ///
  /// Objects that the client has moved without saving are ignored.
  /// - Parameter objects: all objects as this client sees them.
  /// - Returns: nil if there is no difference.
  func brokenOrder(in store: SQLiteStore, _ objects: [ObjectImage]) throws -> String? {
    let images = Dictionary(uniqueKeysWithValues: objects.map { ($0.id, $0) })
    guard let folder = model.entity(named: "Folder"), let items = folder.property(named: "items"),
      let item = model.entity(named: "Item"), let labels = item.property(named: "labels")
    else { return "the model has changed" }
    let holdsItems = queries.contains { $0.predicate == .always && item.isKind(of: $0.entity) }
    let holdsLabels = queries.contains { $0.predicate == .always && $0.entity.name == "Label" }
    for object in objects {
      if object.id.entity == folder.number {
        let naive = ListOrderCheck.order(of: object.id, items, in: images, model: model)
        var sorted = !version.isOlder ? [] : naive
        if !version.isOlder {
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
    // An object that a reset has removed from every result and that is only retained elsewhere is not known to be
    // deleted.
    let mine = members(of: owner, name).filter { object in
      queries.contains { context.storedResult(of: $0.id)[object.id] != nil }
        || object.hasChanges
    }
    let unsaved = Set(mine.filter(\.hasChanges).map(\.id))
    // Nor are objects that were deleted or moved without saving among them.
    let others = stored.filter { id in !unsaved.contains(id) && context.object(id)?.hasChanges == false }
    let seen = mine.map(\.id).filter { !unsaved.contains($0) }
    return seen == others ? nil : "client \(number) has \(name) of \(owner.id) as \(seen), the store as \(others)"
  }

  /// Describes a request or a load that has not ended; nil if there is none.
  func unfinishedReading() -> String? {
    if batches.pending != nil { return "client \(number) still waits for its batch" }
    return past.unfinished ?? fetches.unfinished ?? loads.unfinished()
  }
}
