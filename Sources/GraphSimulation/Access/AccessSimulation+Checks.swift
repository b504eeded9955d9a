import GraphModel
import GraphReplica
import GraphStore

/// Compares what clients hold and receive with the graph that their users see.
extension AccessSimulation {
  /// The graph that a session sees at a revision.
  private func graph(_ revision: Revision, seenBy access: NaiveAccess?) -> RecordedGraph? {
    recorder.state(revision).map { access?.reduced($0, model) ?? $0 }
  }

  func checkAnswers(of client: AccessClient, _ state: SessionState) throws {
    for (request, answer) in client.removeFinished() {
      guard let access = state.access else { continue }
      // An answer that was in progress when the rights grew shows the graph that was visible before.
      let failures = ([access] + state.earlier).map {
        AccessAnswerCheck(access: $0, recorder: recorder, model: model).failure(of: request, answer)
      }
      if failures.allSatisfy({ $0 != nil }), let failure = failures.first ?? nil {
        try check("client \(client.number) with \(access.grants): \(failure)")
      }
      if answer.refusal == nil { promises.record(event(of: request)) }
    }
  }

  private func event(of request: AccessRequest) -> AccessEvent {
    switch request.kind {
    case .fetch:
      if case .fetch(let fetch) = request.body, fetch.at != nil { .pastCompared } else { .fetchCompared }
    case .groups: .groupsCompared
    case .log, .follow, .revisionAt, .other: .historyCompared
    case .differences: .differencesCompared
    case .origin: .originCompared
    case .export: .exportCompared
    case .status: .statusCompared
    }
  }

  /// Compares the queries that have changed with the revision that the client was shown last. A query shows what is
  /// visible with the rights with which it was loaded: if later ones show other objects, it is loaded again.
  func checkShown(_ client: AccessClient, _ state: SessionState) throws {
    defer { client.touched = [] }
    if client.touched.isEmpty { return }
    let rights = state.earlier.map(Optional.some) + [state.access]
    for query in client.queries where client.touched.contains(query.id) && query.window == nil {
      guard client.context.isLoaded(query.id) else { continue }
      guard let number = client.loadedAfter[query.id], rights.indices.contains(number),
        let graph = graph(client.shownRevision, seenBy: rights[number])
      else {
        return try check("client \(client.number) was shown revision \(client.shownRevision), which does not exist")
      }
      // The answer to the client's own commit may be ahead of the deltas.
      let held = client.context.storedResult(of: query.id).filter { $0.value.revision <= client.shownRevision }
      let ahead = Set(client.context.storedResult(of: query.id).keys).subtracting(held.keys)
      let wanted = graph.objects(of: query.entity, query.predicate).filter { !ahead.contains($0.key) }
      if let difference = Self.difference(held, wanted) {
        try check("\(name(query, client)) at \(client.shownRevision) after \(number) changes of rights: \(difference)")
      }
    }
  }

  private func name(_ query: AccessClient.Query, _ client: AccessClient) -> String {
    "client \(client.number), \(query.entity.name) \(query.predicate.text(in: model.model))"
  }

  private static func difference(
    _ held: [ObjectID: ObjectImage], _ wanted: [ObjectID: ObjectImage]
  ) -> String? {
    if held == wanted { return nil }
    let lost = wanted.keys.filter { held[$0] == nil }.sorted()
    let extra = held.keys.filter { wanted[$0] == nil }.sorted()
    let stale = wanted.values.filter { held[$0.id] != nil && held[$0.id] != $0 }.map { image in
      "\(image.id): holds \(String(describing: held[image.id])), sees \(image)"
    }
    return "\(lost) lost, \(extra) too many, stale \(stale)"
  }

  /// Performs the checks that do not depend on a session, after each step.
  func checkClients() throws {
    for client in clients {
      try check(client.failure)
      for (id, revision) in client.removeAcknowledged() {
        try check(
          promises.failure(
            ofAcknowledged: id, revision, client: client.number, name: client.principalName, recorder))
      }
      if client.takeCopied() { promises.record(.cloneRenewed) }
    }
    for thief in thieves {
      try check(thief.failure(owners: promises.owners))
      if thief.isClosed { end(thief) }
    }
  }

  // MARK: - Quiet moments

  /// Finishes all work, then compares all clients with the store.
  func quiesce() throws {
    trace("quiet")
    isQuiescing = true
    defer { isQuiescing = false }
    try finishWork()
    try checkSessions()
    for client in clients where mayConnect(client) { try checkAtRest(client) }
  }

  private func finishWork() throws {
    for _ in 0..<5_000 {
      for client in clients {
        if client.wantsReconnect || client.link.closing && client.link.down.isEmpty { disconnect(client) }
        if client.link.session == nil, mayConnect(client) { connect(client) }
      }
      var isQuiet = true
      while advanceLostConnection() { isQuiet = false }
      for client in clients { if try finishLink(of: client) { isQuiet = false } }
      while server?.commits.isEmpty == false {
        isQuiet = false
        try write()
      }
      while server?.jobs.isEmpty == false {
        isQuiet = false
        runJob()
      }
      while try runAccountJob() { isQuiet = false }
      while server?.hasSubmissions == true {
        isQuiet = false
        handleSubmission()
      }
      try checkClients()
      guard isQuiet else { continue }
      if !thieves.isEmpty {
        for thief in thieves { end(thief) }
        continue
      }
      // Lets the server notice the grants that have changed since its last comparison.
      guard let tokens = server?.hub.tokensInUse else { preconditionFailure("the server runs at rest") }
      let isCurrent = accounts.ended(among: tokens).isEmpty && accounts.changed(among: tokens).isEmpty
      if isCurrent, !clients.contains(where: { $0.wantsReconnect || $0.link.closing }) { return }
      checkTokens()
    }
    try check("the system does not come to rest")
  }

  /// - Returns: whether there was something to deliver.
  private func finishLink(of client: AccessClient) throws -> Bool {
    var hasDelivered = false
    while let session = client.link.session, !client.link.up.isEmpty, server?.paused.contains(session) == false {
      hasDelivered = true
      deliverUp(client)
    }
    while client.link.session != nil, !client.link.down.isEmpty {
      hasDelivered = true
      try deliverDown(client)
    }
    return hasDelivered
  }

  /// Checks that each session has the present rights of its user.
  private func checkSessions() throws {
    guard let hub = server?.hub else { preconditionFailure("the server runs between two events") }
    let connected = clients.filter { $0.link.session != nil }
    for client in clients where mayConnect(client) && client.link.session == nil {
      try check("client \(client.number) is not connected: \(client.lastRefusal?.message ?? "no refusal")")
    }
    try check(
      hub.counts.sessions == connected.count
        ? nil : "\(hub.counts.sessions) sessions are registered for \(connected.count) clients")
    for client in connected {
      guard let session = client.link.session, let state = sessions[session] else { continue }
      let present = client.user.map { accounts.users[$0].access }
      try check(
        state.access == present
          ? nil
          : "client \(client.number) has the rights \(String(describing: state.access)) instead of "
            + String(describing: present))
    }
  }

  private func checkAtRest(_ client: AccessClient) throws {
    guard let session = client.link.session, let state = sessions[session],
      let graph = graph(recorder.revision, seenBy: state.access)
    else { return try check("client \(client.number) has no session at rest") }
    for query in client.queries {
      let held = client.context.storedResult(of: query.id)
      let all = graph.objects(of: query.entity, query.predicate)
      trace("\(name(query, client)): \(held.count) of \(all.count)")
      guard let window = query.window else {
        try check(Self.difference(held, all).map { "\(name(query, client)) at rest: \($0)" })
        continue
      }
      let sorted = SortOrder(window.sort, model: model.model).sorted(Array(all.values), in: graph)
      let rows = sorted.dropFirst(window.offset).prefix(window.limit)
      let place = "\(name(query, client)), window \(window.offset)+\(window.limit)"
      let total = client.context.window(of: query.id)?.total
      try check(total == all.count ? nil : "\(place): counts \(String(describing: total)) of \(all.count)")
      let ids = client.context.storedWindow(of: query.id)
      try check(ids == rows.map(\.id) ? nil : "\(place): shows \(ids), the user sees \(rows.map(\.id))")
      let images = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
      try check(Self.difference(held, images).map { "\(place): \($0)" })
    }
    try check(failure(ofHeldObjectsOf: client, state.access))
    try check(client.pending.isEmpty ? nil : "client \(client.number) still waits for an answer")
    try check(
      client.context.replica.pendingTransactions.isEmpty
        ? nil : "client \(client.number) still waits for an outcome")
  }

  /// Describes an object that a client keeps although no state of it that it holds is visible to its user now.
  private func failure(ofHeldObjectsOf client: AccessClient, _ access: NaiveAccess?) -> String? {
    guard let access else { return nil }
    let held = client.held.sorted { $0.key < $1.key }.filter { !$0.value.isDeleted }
    for id in held.map(\.key) where !client.queries.contains(where: { client.context.object(id, in: $0.id) != nil }) {
      guard let image = client.context.storedObjects.image(of: id), let graph = recorder.state(image.revision),
        let state = graph.images[id]
      else { return "client \(client.number) holds \(id) in a state that never existed" }
      if !access.sees(state, in: graph, model) {
        return "client \(client.number) with \(access.grants) holds \(id) of revision \(image.revision), which its "
          + "user does not see"
      }
    }
    return nil
  }
}
