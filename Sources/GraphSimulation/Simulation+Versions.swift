import GraphModel
import GraphReplica

/// Runs in which some clients have an older version of the model.
extension Simulation {
  /// Edits an estimate, sometimes, in a run of two versions; nil otherwise.
  func editEstimate(_ client: ClientNode) -> String? {
    guard versions.isMixed, versions.random.chance(15) else { return nil }
    return client.editEstimate(&versions.random)
  }

  /// Increments a counter, sometimes, in a run with counters; nil otherwise.
  func increment(_ client: ClientNode) -> String? {
    guard var random = counterRandom else { return nil }
    defer { counterRandom = random }
    return random.chance(20) ? client.counters.increment(&random) : nil
  }

  /// Compares a live query of an older client with the graph as seen through its lens.
  func checkDowngraded(
    _ query: (id: QueryID, entity: Entity, predicate: GraphPredicate), of client: ClientNode, _ sight: RecordedGraph
  ) throws {
    let fresh = sight.objects(of: query.entity, query.predicate)
    let held = client.context.storedResult(of: query.id)
    let name = "\(query.entity.name) \(query.predicate.text(in: client.model))"
    trace("client \(client.number) holds \(held.count) of \(name) through its lens")
    if !fresh.isEmpty { client.countThroughLens(.followedThroughLens) }
    let lost = fresh.keys.filter { held[$0] == nil }.count
    let extra = held.keys.filter { fresh[$0] == nil }.count
    let differing = fresh.values.sorted { $0.id < $1.id }.filter { held[$0.id] != nil }
      .first { !client.version.isCurrent(held[$0.id], $0) }
    let isEqual = lost + extra == 0 && differing == nil
    if isEqual { return }
    var reason =
      "client \(client.number), of an older version, \(name): \(lost) lost, \(extra) too many of \(fresh.count)"
    if let image = differing {
      guard let stale = held[image.id] else { preconditionFailure("an object that differs is held") }
      reason += "; \(image.id) should be \(image.revision) \(image.values), held is \(stale.revision) \(stale.values)"
    }
    try check(reason)
  }
}
