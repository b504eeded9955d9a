import GraphModel
import GraphReplica

/// Reads: the jobs of the server's threads, and comparisons of what clients have read with the recorded graph.
extension Simulation {
  /// A thread of the server does one of its jobs.
  func runJob() {
    if let count = server?.jobs.count, count > 0, let job = server?.jobs.remove(at: random.below(count)) {
      trace("job")
      countResume(job)
      server?.run(job)
    }
  }

  func checkReads(of client: ClientNode) throws {
    for read in client.past.removeFinished() { try check(failure(of: read, client)) }
    for load in client.loads.removeFinished() { try check(failure(of: load, client)) }
    for fetch in client.fetches.removeFinished() { try check(failure(of: fetch, client)) }
  }

  private func failure(of fetch: ClientFetches.CompletedFetch, _ client: ClientNode) -> String? {
    let (pending, found) = (fetch.request, fetch.request.answer)
    let name = "client \(client.number), \(pending.event), \(pending.fetch.predicate) by \(pending.fetch.sort)"
    guard let graph = recorder.state(fetch.revision).map(client.version.downgraded) else {
      return "\(name): read at revision \(fetch.revision), which never existed"
    }
    let wanted = pending.expected(graph, pending.behind)
    guard found == wanted else {
      return
        "\(name): read at \(fetch.revision) are \(found.objects.map(\.id)), rows \(found.rows), \(found.count) of them"
        + ", there were \(wanted.objects.map(\.id)), rows \(wanted.rows), \(wanted.count) of them; next \(found.next == wanted.next)"
    }
    if wanted.count > 0 {
      events.record(pending.event)
      client.countThroughLens(.fetchedThroughLens)
    }
    return nil
  }

  private func failure(of read: ClientPast.PastRead, _ client: ClientNode) -> String? {
    guard let graph = recorder.state(read.revision).map(client.version.downgraded) else { return nil }
    events.record(read.isByID ? .pastReadByID : .pastRead)
    client.countThroughLens(.pastReadThroughLens)
    let wanted = graph.objects(of: read.entity, read.predicate)
    var found = [ObjectID: ObjectImage]()
    for image in read.images { found[image.id] = image }
    if found == wanted, found.count == read.images.count { return nil }
    let lost = wanted.keys.filter { found[$0] == nil }.count
    let extra = found.keys.filter { wanted[$0] == nil }.count
    let name = "\(read.entity.name) \(read.predicate.text(in: client.model))"
    return "client \(client.number) read \(name) as of \(read.revision): \(lost) lost, "
      + "\(extra) too many of \(wanted.count)"
  }

  private func failure(of finished: ClientLoads.CompletedLoad, _ client: ClientNode) -> String? {
    let isOfFaults = finished.load.paths.isEmpty
    if let id = finished.unfilled.first { return "client \(client.number) loaded \(id), which is still a fault" }
    // State from before a restore does not exist in the present history.
    for image in finished.images where image.revision >= 0 && !finished.isStale {
      // Each changed object has the revision of its commit, so a held object must equal the one stored then.
      guard let stored = recorder.version(of: image.id, image.revision).flatMap(client.version.downgraded) else {
        return "client \(client.number) holds \(image.id) of revision \(image.revision), which never existed"
      }
      if stored != image {
        return "client \(client.number) loaded \(image.id) of revision \(image.revision) as \(image.values), "
          + "it was \(stored.values)"
      }
      if isOfFaults { events.record(.faultFilled) }
    }
    if isOfFaults {
      for id in finished.missing {
        guard recorder.wasEverDeleted(id) || finished.isStale else {
          return "client \(client.number) considers \(id) deleted, which was never deleted"
        }
        events.record(.faultOfDeleted)
      }
    } else {
      events.record(.prefetched)
      client.countThroughLens(.loadedThroughLens)
    }
    return finished.load.isAtRest ? failure(atRest: finished, client) : nil
  }

  /// Checks that all related objects are loaded and current, and that the number of requests depends on the paths
  /// only.
  private func failure(atRest finished: ClientLoads.CompletedLoad, _ client: ClientNode) -> String? {
    guard let graph = recorder.state(recorder.revision).map(client.version.downgraded) else { return nil }
    let branches = finished.load.paths.reduce(0) { $0 + $1.count }
    // One relationship needs one request for the members of a to-many, or one for each of three root entities.
    if finished.requests > 3 * branches {
      return "client \(client.number) has sent \(finished.requests) requests to follow \(branches) relationships"
    }
    guard !finished.images.isEmpty else { return nil }
    let images = Dictionary(finished.images.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    for path in finished.load.paths {
      var level = finished.load.objects.filter { !$0.isDeleted }.map(\.id)
      for property in path {
        level = level.flatMap { id in
          let hasIt = client.model.entity(id.entity)?.property(property.number) != nil
          return hasIt ? graph.related(to: id, through: property) : []
        }
        for id in level where !client.version.isCurrent(images[id], graph.images[id]) {
          return "client \(client.number) followed \(property.name) to \(id): held \(Self.values(images[id])), "
            + "stored \(Self.values(graph.images[id]))"
        }
      }
    }
    events.record(.prefetchedAtRest)
    return nil
  }

  /// The values of an object for a message.
  private static func values(_ image: ObjectImage?) -> String {
    if let image { "\(image.values)" } else { "no object" }
  }
}
