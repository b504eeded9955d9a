import GraphModel
import GraphReplica
import GraphStore

/// A window that a simulated client follows, to be compared with a fresh fetch of the same rows.
struct FollowedWindow {
  let id: QueryID
  let entity: Entity
  let predicate: GraphPredicate
  let sort: [SortKey]
  var offset: Int
  var limit: Int

  /// Describes a difference between the client's window and the store; nil if there is none.
  /// - Parameter sight: the graph as the client sees it through its lens; nil without a lens.
  func failure(of client: ClientNode, in store: SQLiteStore, _ sight: RecordedGraph?) throws -> String? {
    let (fresh, total) = try sight.map { rows(in: $0) } ?? rows(in: store)
    let name =
      "client \(client.number), window \(offset)+\(limit) of \(entity.name) "
      + "\(predicate.text(in: client.model)) by \(sort.text(in: client.model))"
    guard let window = client.context.window(of: id) else { return "\(name): it is not there" }
    guard (window.offset, window.limit) == (offset, limit) else {
      return "\(name): it stands at \(window.offset)+\(window.limit)"
    }
    guard window.total == total else { return "\(name): it counts \(window.total) of \(total)" }
    let held = client.context.storedResult(of: id)
    let ids = client.context.storedWindow(of: id)
    guard ids == fresh.map(\.id), held.count == ids.count else {
      return "\(name): it shows \(ids.map(\.description)), the store has \(fresh.map(\.id.description))"
    }
    let stale = fresh.filter { !client.version.isCurrent(held[$0.id], $0) }
    if !ids.isEmpty { client.countThroughLens(.scrolledThroughLens) }
    return stale.isEmpty ? nil : "\(name): \(stale.count) rows are stale"
  }

  private func rows(in store: SQLiteStore) throws -> (rows: [ObjectImage], total: Int) {
    var request = FetchRequest(entity: entity.number, predicate: predicate, sort: sort, limit: limit, offset: offset)
    var fresh = [ObjectImage]()
    _ = try store.fetch(request) { fresh.append($0) }
    (request.limit, request.offset) = (nil, 0)
    return (fresh, try store.count(request).count)
  }

  /// Computes the rows from all objects of the graph.
  private func rows(in graph: RecordedGraph) -> (rows: [ObjectImage], total: Int) {
    let all = graph.objects(of: entity, predicate)
    let sorted = SortOrder(sort, model: graph.model).sorted(Array(all.values), in: graph)
    return (Array(sorted.dropFirst(offset).prefix(limit)), all.count)
  }
}

/// The windows of a client, with their expected ranges.
final class ClientWindows {
  private unowned let client: ClientNode
  private(set) var all = [FollowedWindow]()

  init(_ client: ClientNode) { self.client = client }

  /// Forgets the windows, because the process has died.
  func restart() { all = [] }

  /// Opens, moves, resizes or closes a window.
  func scroll(_ random: inout SeededRandom) -> String {
    if all.isEmpty || all.count < 4 && random.chance(25) {
      follow(&random)
      return "follow a window"
    }
    let place = random.below(all.count)
    if random.chance(15) {
      client.context.unfollow(all.remove(at: place).id)
      return "unfollow a window"
    }
    // Possibly two moves at once: the second is requested while the first is in progress.
    for _ in 0..<(1 + random.below(2)) {
      all[place].offset = random.chance(20) ? random.below(60) : random.below(8)
      if random.chance(30) { all[place].limit = 1 + random.below(9) }
      client.context.moveWindow(of: all[place].id, offset: all[place].offset, limit: all[place].limit)
    }
    return "move a window"
  }

  func follow(_ random: inout SeededRandom) {
    if let (name, text) = SimulationModel.randomQuery(&random), let entity = client.model.entity(named: name) {
      follow(name, text, entity, &random)
    }
  }

  private func follow(_ name: String, _ text: String, _ entity: Entity, _ random: inout SeededRandom) {
    let orders = SimulationModel.orders.filter { $0.entity == name }.map(\.sort) + ["", "-id"]
    guard
      let predicate = client.version.predicate(text, of: entity),
      let order = random.pick(orders).flatMap(client.version.inClientVersion),
      let sort = order.isEmpty ? [] : try? [SortKey](parsing: order, entity: entity, model: client.model)
    else { return }
    let (offset, limit) = (random.below(6), 1 + random.below(9))
    let id = client.context.follow(entity: entity, predicate: predicate, sort: sort, offset: offset, limit: limit)
    all.append(
      FollowedWindow(id: id, entity: entity, predicate: predicate, sort: sort, offset: offset, limit: limit))
    client.perform()
  }
}

extension SimulationModel {
  /// The sorts of windows: by few and many values, by null, and by properties that the server sets.
  static let orders: [(entity: String, sort: String)] = [
    ("Item", "size"), ("Item", "-size,kind"), ("Item", "kind,-weight"), ("Item", "text"), ("Item", "-updated"),
    ("Item", "heading[localized],number"), ("Item", "labelCount"), ("Item", "labels.@count,-size"),
    ("Folder", "name"), ("Folder", "-itemCount,caption"), ("Label", "-use"), ("Label", "name[natural]"),
    ("Thing", "memo,-number"), ("Thing", "place.column,place.row"), ("Thing", "-childCount"), ("Thing", "remark"),
    ("Task", "due,-starts"), ("Task", "code"), ("Thing", "-at,price"), ("Thing", "done,-share"),
    ("Item", "token,photo"),
    ("Thing", "day,-cost,link"),
  ]
}
