import GraphModel
import GraphReplica
import GraphStore

/// Quiet moments: all work is finished, then the clients are compared with the store.
extension Simulation {
  /// Finishes all work, then compares the clients with the store.
  func quiesce() throws {
    trace("quiet")
    isQuiescing = true
    // A quiet moment needs all clients online.
    offlineClients = OfflineClients()
    defer { isQuiescing = false }
    try finishWork()
    try checkPromises()
    // Objects outside the live queries are only known to be current right after a load.
    for client in clients where random.chance(50) {
      let what = client.loads.prefetchAtRest(&random)
      trace("client \(client.number): \(what)")
      // A prefetch of objects that are all held already sends no request and has ended.
      try checkReads(of: client)
    }
    for client in clients { client.undo.requestState(&random) }
    try finishWork()
    try checkUndoStates()
  }

  private func finishWork() throws {
    // The next tick finds commits whose outcome was unknown.
    if server?.hub.mayLackCommit == true { handle(.tick(clock.monotonic)) }
    for _ in 0..<20_000 {
      for client in clients where client.link.session == nil { reconnect(client) }
      var isQuiet = true
      // A cancelled batch closes its connection even now.
      while !halfOpenConnections.isEmpty {
        isQuiet = false
        advanceHalfOpenConnection()
      }
      for client in clients {
        while let session = client.link.session, !client.link.up.isEmpty,
          server?.paused.contains(session) == false
        {
          isQuiet = false
          deliverUp(client)
        }
        while client.link.session != nil, !client.link.down.isEmpty {
          isQuiet = false
          try deliverDown(client)
        }
        if client.link.closing {
          isQuiet = false
          client.link.closing = false
          disconnect(client)
        }
      }
      while server?.commits.isEmpty == false {
        isQuiet = false
        try write()
      }
      while server?.jobs.isEmpty == false {
        isQuiet = false
        runJob()
      }
      while server?.hasSubmissions == true {
        isQuiet = false
        handleSubmission()
      }
      try check(clients.lazy.compactMap(\.failure).first)
      if isQuiet { return }
    }
    try check("the system does not come to rest")
  }

  private func checkPromises() throws {
    let server = runningServer
    let head = try server.store.head.revision
    let records = recorder.records
    try check(Int64(records.count) == head ? nil : "\(records.count) commits were recorded, the head is \(head)")
    try check(differingLog(server.store))
    var revisions = [TransactionID: Revision]()
    for record in records {
      if let other = revisions.updateValue(record.revision, forKey: record.transaction) {
        try check("transaction \(record.transaction) was committed as \(other) and as \(record.revision)")
      }
    }
    try checkHistory(records)
    try check(failureOfTimes(server.store))
    let objects = try checkObjects(server, records)
    for client in clients { try check(client, server, objects, revisions) }
    try checkRestores(revisions)
    try checkFollower(server)
    try check(
      server.hub.counts.sessions == clients.count ? nil : "\(server.hub.counts.sessions) sessions are registered")
  }

  /// Checks the rules that all commits together keep.
  private func checkHistory(_ records: [CommitRecord]) throws {
    if let item = model.entity(named: "Item"), let text = item.property(named: "text") {
      try check(TextMergeCheck.failure(in: records, of: clients.map(\.checks.textMerges), text: text, in: item))
    }
    try check(LostUpdateCheck.failure(in: records, of: clients.map(\.checks.lostUpdates), model: model))
    try check(ListOrderCheck.failure(in: records, of: clients.map(\.checks.listOrders), model: model))
    let undone = ImmediateUndoChecker(records, except: undoneInPart, model: model)
    try check(undone.failure)
    record(.undoneWholeGroup, upTo: undone.groups, &counted.groups)
    record(.undoneOrder, upTo: undone.count, &counted.undone)
    try checkCounters(records)
    let beginnings = CreationTimeCheck(records, model: model)
    try check(beginnings.failure)
    record(.cameBackAsOld, upTo: beginnings.returns, &counted.returns)
  }

  /// Records an event that is counted from the beginning at each rest, as often as it occurred since the previous rest.
  private func record(_ event: CoverageEvent, upTo count: Int, _ counted: inout Int) {
    for _ in counted..<max(counted, count) { events.record(event) }
    counted = max(counted, count)
  }

  /// Checks the objects of the store, and returns them.
  private func checkObjects(_ server: ServerNode, _ records: [CommitRecord]) throws -> [ObjectImage] {
    var objects = [ObjectImage]()
    for entity in model.entities where entity.parent == nil {
      _ = try server.store.fetch(FetchRequest(entity: entity.number)) { objects.append($0) }
    }
    trace("\(objects.count) objects, \(records.count) commits")
    try check(GraphInvariants(objects, model: model).failure())
    if SimulationModel.hasEveryType(objects, model) { events.record(.everyTypeIsThere) }
    countMembers(objects)
    let isEarly: (Value) -> Bool = { if case .date(let time) = $0 { time < 0 } else { false } }
    if objects.contains(where: { $0.values.contains(where: isEarly) }) { events.record(.dateBefore1970) }
    return objects
  }

  /// Checks a client's outcomes of its transactions, and compares its objects with the server's.
  /// - Parameter revisions: the revision of each committed transaction.
  private func check(
    _ client: ClientNode, _ server: ServerNode, _ objects: [ObjectImage], _ revisions: [TransactionID: Revision]
  ) throws {
    for (id, revision) in client.outcomes.acknowledged where revisions[id] != revision {
      try check("transaction \(id) was acknowledged as \(revision) and is \(revisions[id].map(String.init) ?? "gone")")
    }
    for id in client.outcomes.refused where revisions[id] != nil {
      try check("transaction \(id) was refused but exists")
    }
    var visible: RecordedGraph?
    if client.version.isOlder {
      let images = Dictionary(uniqueKeysWithValues: objects.map { ($0.id, $0) })
      visible = client.version.downgraded(RecordedGraph(images: images, model: model))
    }
    if objects.contains(where: client.version.isChangedByLens) { client.countThroughLens(.seenOtherwise) }
    for query in client.queries {
      if let visible {
        try checkDowngraded(query, of: client, visible)
      } else {
        try checkQuery(query, of: client, server)
      }
    }
    for window in client.windows.all { try check(window.failure(of: client, in: server.store, visible)) }
    try check(client.brokenOrder(in: server.store, objects.compactMap(client.version.downgraded)))
    try check(client.unsaved.lostEdit(of: client.number))
    try check(client.unsaved.lostTransientEdit(of: client.number, &client.events))
    try check(client.childEditor.lostEdit())
    try check(client.unfinishedReading())
    try check(
      client.context.replica.pendingTransactions.isEmpty ? nil : "client \(client.number) still waits for an answer")
  }

  private func checkFollower(_ server: ServerNode) throws {
    if let follower {
      do {
        let (difference, applied) = try follower.compare(floor: server.store.oldestRevision)
        for _ in 0..<applied { events.record(.entryApplied) }
        try check(difference.map { "the store of the entries differs: \($0)" })
      } catch let failure as StoreFailure {
        try check("an entry can't be applied: \(failure)")
      }
    }
  }

  private func checkCounters(_ records: [CommitRecord]) throws {
    if counterRandom != nil {
      let increments = clients.reduce(into: [:]) { all, client in
        all.merge(client.counters.increments) { first, _ in first }
      }
      let counters = CounterCheck(records, increments, model: model)
      try check(counters.failure)
      if counters.undos > 0 { events.record(.incrementUndone) }
    }
  }

  private func countMembers(_ objects: [ObjectImage]) {
    for (name, relationship, event) in [
      ("Crew", "members", CoverageEvent.unorderedMembers), ("Label", "near", .recursiveMembers),
    ] {
      guard let entity = model.entity(named: name), let property = entity.property(named: relationship),
        objects.contains(where: { $0.id.entity == entity.number && !$0[property].objectIDs.isEmpty })
      else { continue }
      events.record(event)
    }
  }

  private func countFollowed(_ text: String, _ predicate: GraphPredicate) {
    if predicate.searchesText {
      let isOverPath = [".text SEARCH", ".memo SEARCH"].contains(where: text.contains)
      events.record(isOverPath ? .searchOverPathFollowed : .searchFollowed)
    }
    if text.contains("@") { events.record(.aggregateFollowed) }
    if ["ANY ", "ALL ", "NONE ", "SUBQUERY"].contains(where: text.contains) { events.record(.manyFollowed) }
  }

  private func checkQuery(
    _ query: (id: QueryID, entity: Entity, predicate: GraphPredicate), of client: ClientNode, _ server: ServerNode
  ) throws {
    var fresh = [ObjectID: ObjectImage]()
    _ = try server.store.fetch(FetchRequest(entity: query.entity.number, predicate: query.predicate)) {
      fresh[$0.id] = $0
    }
    let held = client.context.storedResult(of: query.id)
    let text = query.predicate.text(in: model)
    trace("client \(client.number) holds \(held.count) of \(query.entity.name) \(text)")
    if !held.isEmpty { countFollowed(text, query.predicate) }
    if fresh == held { return }
    let lost = fresh.keys.filter { held[$0] == nil }.count
    let extra = held.keys.filter { fresh[$0] == nil }.count
    let stale = fresh.filter { held[$0.key] != nil && held[$0.key] != $0.value }.count
    let place = "client \(client.number), \(query.entity.name) \(text): "
    let counts = "\(lost) lost, \(extra) too many, \(stale) stale of \(fresh.count)"
    let revisions = fresh.values.filter { held[$0.id] == nil }.map { String($0.revision) }.sorted()
    let differing = fresh.values.compactMap { image -> String? in
      guard let other = held[image.id], other != image else { return nil }
      return "; stored \(image.revision) \(image.values), held \(other.revision) \(other.values)"
    }
    let lostOnes = "; lost were of revisions " + revisions.joined(separator: ", ")
    try check(place + counts + lostOnes + differing.joined())
  }
}
