import GraphModel
import GraphWire

/// Live queries of a session: subscribe, resume, load and drop.
extension Hub {
  mutating func subscribe(
    _ subscribe: Subscribe, _ id: SessionID, _ request: UInt64, _ actions: inout [HubAction]
  ) throws {
    let entity = try entity(subscribe.entity)
    let predicate = try predicate(subscribe.predicate, entity)
    let query = LiveQuery(entity: subscribe.entity, predicate: predicate, wholeObjects: subscribe.wholeObjects)
    guard let session = sessions[id] else { return }
    guard session.readers.count < limits.queriesPerSession else {
      throw Refusal(.limit, "a connection follows at most \(limits.queriesPerSession) queries")
    }
    let window = try subscribe.window.map {
      (range: try range($0.offset, $0.limit), sort: try windowOrder($0.sort, entity))
    }
    // The old query is dropped only after nothing can fail.
    if subscribe.replaces != 0 { drop(subscribe.replaces, id, &actions) }
    let number =
      if let window { register(query, window.range, window.sort, for: id, &actions) } else {
        queries.register(query, through: session.lens, for: id)
      }
    tellWriter(&actions)
    guard let since = subscribe.since else { return load(number, id, request, &actions) }
    // Whether the client's state is part of the store's history; nil when only the store knows.
    let isKnown: Bool?
    if since.store != head.store || since.revision > head.revision {
      isKnown = false
    } else if since.revision == head.revision {
      isKnown = since.fingerprint == head.fingerprint
    } else {
      isKnown = ring[since.revision].map { $0.record.fingerprint == since.fingerprint }
    }
    switch isKnown {
    case true?: resume(number, id, request, since: since.revision, &actions)
    case false?: load(number, id, request, &actions)
    case nil:
      let ticket = ticket()
      tickets[ticket] = .recognize(id, query: number)
      sessions[id]?.readers[number] = Session.Subscription(
        state: .recognizing(ticket, since: since.revision), through: .max, request: request)
      sessions[id]?.reads[request] = ticket
      actions.append(.recognize(ticket, since))
    }
  }

  mutating func takeRecognition(_ ticket: StoreRequestID, _ isKnown: Bool, _ actions: inout [HubAction]) {
    guard case .recognize(let id, let query)? = tickets.removeValue(forKey: ticket),
      let reader = sessions[id]?.readers[query], case .recognizing(ticket, let since) = reader.state
    else { return }
    sessions[id]?.reads[reader.request] = nil
    defer { performWaiting(id, &actions) }
    if isKnown {
      resume(query, id, reader.request, since: since, &actions)
    } else {
      load(query, id, reader.request, &actions)
    }
  }

  /// Resumes a query whose result the client holds as of `since`: the client receives the missed deltas.
  private mutating func resume(
    _ query: UInt64, _ id: SessionID, _ request: UInt64, since: Revision, _ actions: inout [HubAction]
  ) {
    // The effect of old commits on key-path queries and windows is not recorded.
    if queries[query]?.isToldByOthers == true { return load(query, id, request, known: true, &actions) }
    sessions[id]?.readers[query] = Session.Subscription(state: .live, through: since, request: request)
    send(ToClient(request, .subscribed(query: query, resumed: true, known: true)), to: id, &actions)
    rewind(id, to: since, for: query)
    pump(id, &actions)
  }

  /// Requests a first result from the store, which streams to the session directly.
  mutating func load(
    _ query: UInt64, _ id: SessionID, _ request: UInt64, known: Bool = false, _ actions: inout [HubAction]
  ) {
    guard let entry = queries[query] else { return }
    if entry.window != nil { return loadWindow(query, id, request, known: known, &actions) }
    let ticket = ticket()
    tickets[ticket] = .load(id, query: query)
    sessions[id]?.readers[query] = Session.Subscription(state: .loading(ticket), through: .max, request: request)
    sessions[id]?.reads[request] = ticket
    send(ToClient(request, .subscribed(query: query, resumed: false, known: known)), to: id, &actions)
    var fetch = FetchRequest(entity: entry.query.entity, predicate: entry.query.predicate)
    fetch.isUnordered = true
    actions.append(.read(ticket, seen(.objects(fetch), by: id), session: id, request: request))
  }

  mutating func drop(_ query: UInt64, _ id: SessionID, _ actions: inout [HubAction]) {
    guard let reader = sessions[id]?.readers.removeValue(forKey: query) else { return }
    switch reader.state {
    case .loading(let ticket):
      tickets[ticket] = nil
      sessions[id]?.reads[reader.request] = nil
      actions.append(.cancelRead(ticket))
    case .recognizing(let ticket, _):
      tickets[ticket] = nil
      sessions[id]?.reads[reader.request] = nil
    case .waiting, .live: break
    }
    unregister(query, id, &actions)
  }
}
