import GraphModel
import GraphWire

/// Live queries of a session: subscribe, resume, load and drop.
extension Hub {
  mutating func subscribe(
    _ subscribe: Subscribe, _ session: Session, _ request: UInt64, _ actions: inout [HubAction]
  ) throws {
    let entity = try resolver.entity(subscribe.entity)
    let predicate = try resolver.predicate(subscribe.predicate, entity)
    let steps = predicate.evaluationSteps
    guard steps <= limits.liveQuerySteps else {
      throw Refusal(
        .limit,
        "a live query may take \(limits.liveQuerySteps) steps for each changed object, and this one takes \(steps): use "
          + "fewer comparisons, above all of texts, or fetch instead")
    }
    let query = LiveQuery(entity: subscribe.entity, predicate: predicate, wholeObjects: subscribe.wholeObjects)
    guard session.readers.count < limits.queriesPerSession else {
      throw Refusal(.limit, "a connection follows at most \(limits.queriesPerSession) queries")
    }
    try session.user?.checkQuery(steps: steps)
    let window = try subscribe.window.map { try resolver.window($0, entity) }
    // The old query is dropped only after the last step that can fail.
    if subscribe.replaces != 0 { drop(session.presentNumber(of: subscribe.replaces), session, &actions) }
    let number =
      if let window { register(query, window.range, window.sort, for: session, &actions) } else {
        queries.register(query, through: session.lens, seenBy: session.visibility, for: session.id)
      }
    session.access.assign(number)
    session.user?.follow(number, of: session.id, steps: steps)
    sendWatches(&actions)
    guard let since = subscribe.since else { return load(number, session, request, &actions) }
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
    case true?: resume(number, session, request, since: since.revision, &actions)
    case false?: load(number, session, request, &actions)
    case nil:
      let ticket = startRead(.recognize(session, query: number), session, request)
      session.readers[number] = Session.Subscription(
        state: .recognizing(ticket, since: since.revision), through: .max, request: request)
      actions.append(.recognize(ticket, since))
    }
  }

  mutating func finishRecognizing(
    _ ticket: StoreRequestID, _ query: UInt64, _ session: Session, _ isKnown: Bool, _ actions: inout [HubAction]
  ) {
    guard let reader = session.readers[query], case .recognizing(ticket, let since) = reader.state else {
      return assertionFailure("a token is checked for a reader that waits for the answer")
    }
    session.endRead(reader.request)
    defer { executeWaiting(session, &actions) }
    if isKnown {
      resume(query, session, reader.request, since: since, &actions)
    } else {
      load(query, session, reader.request, &actions)
    }
  }

  /// Resumes a query whose result the client holds as of `since`: the client receives the missed deltas.
  private mutating func resume(
    _ query: UInt64, _ session: Session, _ request: UInt64, since: Revision, _ actions: inout [HubAction]
  ) {
    // The effect of old commits on key-path queries and windows is not recorded, and a state from before a change of
    // grants or rules may contain objects that the present ones do not show.
    let changed = session.rights == nil ? 0 : max(session.access.since, accessRulesSince)
    if queries.hasUnrecordedEffects(query) || changed > 0 && since <= changed {
      return load(query, session, request, known: true, &actions)
    }
    session.readers[query] = Session.Subscription(state: .live, through: since, request: request)
    sender.send(ToClient(request, .subscribed(query: query, resumed: true, known: true)), to: session, &actions)
    rewind(session, to: since, for: query)
    pump(session, &actions)
  }

  /// Requests a first result from the store, which streams to the session directly.
  mutating func load(
    _ query: UInt64, _ session: Session, _ request: UInt64, known: Bool = false, _ actions: inout [HubAction]
  ) {
    guard let entry = queries[query] else { return assertionFailure("a query with a reader is registered") }
    if entry.window != nil { return loadWindow(query, session, request, known: known, &actions) }
    let ticket = startRead(.load(session, query: query), session, request)
    session.readers[query] = Session.Subscription(state: .loading(ticket), through: .max, request: request)
    sender.send(ToClient(request, .subscribed(query: query, resumed: false, known: known)), to: session, &actions)
    var fetch = FetchRequest(entity: entry.query.entity, predicate: entry.query.predicate)
    fetch.isUnordered = true
    fetch.omitsDamage = !fetch.predicate.namesObjects
    actions.append(.read(ticket, session.perspective(of: .objects(fetch)), session: session.id, request: request))
  }

  mutating func drop(_ query: UInt64, _ session: Session, _ actions: inout [HubAction]) {
    // A client may drop a query that it has never followed, or that has ended.
    guard let reader = session.readers.removeValue(forKey: query) else { return }
    switch reader.state {
    case .loading(let ticket):
      requests.remove(ticket)
      session.endRead(reader.request)
      actions.append(.cancelRead(ticket))
    case .recognizing(let ticket, _):
      requests.remove(ticket)
      session.endRead(reader.request)
    case .waiting, .live: break
    }
    unregister(query, session, &actions)
  }
}
