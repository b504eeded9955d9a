// Tests: GraphClientTests.swift, AnyActorTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// Performs the context's actions: sends messages, and resumes the continuations of answers.
extension GraphClient: ContextOwner {
  /// Sends the messages that calls on the context have caused, at the end of the turn of its actor. A caller can begin
  /// to wait for the answer before that, and loads of the same turn share requests.
  package func contextHasWork() {
    mailbox.post {
      $0.context.sendLoads()
      $0.perform()
    }
  }

  package func editWasIgnored(of object: ObjectID, _ property: Property) {
    observers.recordIgnoredEdit(of: object, property)
  }

  // MARK: - The client's actor

  /// Begins to make the calls that other threads post.
  func begin(on actor: isolated any Actor) {
    precondition(owningActor.actor == nil, "a client belongs to one actor")
    owningActor.actor = actor
    mailbox.run(for: self, on: actor)
  }

  /// Asserts that the caller is on the client's actor. The compiler has checked it, in programs of language mode 6.
  func assertIsolation() {
    assert(
      {
        owningActor.actor?.assertIsolated("a client is used on the actor that made it")
        return true
      }())
  }

  /// The client as code on other actors has it.
  package var link: ClientLink { ClientLink(states: observers.states, mailbox: mailbox) }

  /// Starts a task on the client's actor, at the end of the turn. It may use the client and its objects. A `Task` in a
  /// method could not, because the method's actor is known only at run time. Without effect once the client is closed.
  ///
  /// The body must not have a capture list: Swift 6.3 runs an async closure with one on no actor, without a diagnostic.
  func spawn(_ body: @escaping () async -> Void) {
    // The mailbox drops the call that would start the task.
    if ending != nil { return }
    owningActor.unstartedTasks.append(body)
    mailbox.postStart { client, actor in client.startTasks(on: actor) }
  }

  /// Starts a task on the client's actor, as `spawn` does, for an object that it does not keep alive until it starts.
  func spawn<Owner: AnyObject>(for owner: Owner, _ body: @escaping (Owner) async -> Void) {
    let reference = WeakReference(owner)
    spawn { if let owner = reference.object { await body(owner) } }
  }

  private func startTasks(on actor: isolated any Actor) {
    let bodies = owningActor.unstartedTasks
    owningActor.unstartedTasks = []
    for body in bodies {
      Task {
        _ = actor
        await body()
      }
    }
  }

  // MARK: - Requests

  /// Sends a request that is answered by one message.
  /// - Parameter content: the content of a reply of the requested kind; nil for any other kind.
  func reply<Content>(
    to request: ToServer.Body, _ content: (ToClient.Body) -> Content?
  ) async throws -> Content {
    guard let reply = try await openReply(to: request).next(content) else { throw ReplyStream.incomplete }
    return reply
  }

  /// Sends a request.
  /// - Returns: the parts of its reply.
  func openReply(to request: ToServer.Body) -> ReplyStream {
    lastRequest += 1
    let number = lastRequest
    let stream = ReplyStream(
      number, hasOutcome: request.changesStore, requestPart: { [weak self] in self?.handle(.more(number)) },
      // The stream may be released in the middle of a call on this client.
      cancelRequest: { [mailbox] in mailbox.post { $0.cancel(number) } })
    if case .fetch(let fetch) = request { stream.measurement = beginMeasurement(of: fetch) }
    guard state != .closed else {
      stream.end(Refusal(.unavailable, "the connection is closed"))
      return stream
    }
    replies[number] = OpenReply(stream: stream)
    handle(.request(number, request))
    return stream
  }

  private func beginMeasurement(of fetch: Fetch) -> Measurement? {
    instruments.begin(
      .fetch,
      [
        "graph.entity": .string(context.model.entity(fetch.entity).map(\.name) ?? fetch.entity.description),
        "graph.result": .string("\(fetch.result)"),
      ])
  }

  /// Cancels a request whose answer is no longer needed; the server stops working on it.
  private func cancel(_ number: RequestID) {
    // The end of the answer may have arrived.
    if let reply = replies[number] {
      // A change may have been committed, and is answered.
      if reply.stream == nil || reply.stream?.hasOutcome == false { replies[number] = nil }
      handle(.cancel(number))
    }
  }

  func handle(_ event: ReplicaEvent) {
    assertIsolation()
    context.handle(event)
    perform()
  }

  /// Performs the context's actions since the last call.
  func perform() {
    // An action may cause further ones: a request that is too large is answered here.
    while performBatch(context.takeActions()) {}
    scheduleTick()
  }

  /// Performs the actions of one call.
  /// - Returns: false when there was nothing to do.
  private func performBatch(_ actions: [ReplicaAction]) -> Bool {
    guard !actions.isEmpty else { return false }
    let connection = connection
    // The handler of a notification may send requests, so earlier messages must be sent before it runs. The same
    // applies to handlers of the connection's state.
    var frames = [UInt8]()
    for action in actions {
      switch action {
      case .send(let message): append(message, to: &frames)
      case .welcomed(let welcome): self.welcome = welcome
      default: assert(!action.isForTheConnection, "these are the actions for the connection")
      }
    }
    write(&frames)
    for action in actions {
      switch action {
      case .welcomed: if connection == self.connection, transport != nil { execute(action) }
      case _ where action.isForTheConnection: break
      default: execute(action)
      }
    }
    return true
  }

  private func execute(_ action: ReplicaAction) {
    switch action {
    case .send: preconditionFailure("messages are sent before other actions")
    case .disconnect(let refusal): connectionLost(refusal)
    case .copied: handle(.renew(Self.newReplicaID()))
    case .welcomed:
      state = .connected
      reconnection.resetPause(to: options.firstPauseMilliseconds)
      reconnection.endAttempt()
      opening?.resume()
      opening = nil
      usedUndoStack?.refresh()
      if let grants = welcome?.grants { record(grants) }
      if offlineState.changesServer { mailbox.post { $0.changeServerIfAnswered() } }
    case .rights(let grants): replaceRights(grants)
    // A server that rejects this client has not reported the outcome of its commit.
    case .rejected(let refusal): fail(commits.deadline == nil ? refusal : Self.unknownOutcome)
    case .saved(let id, let result):
      commits.finish(id, result)
      usedUndoStack?.refresh()
      changeServerIfAnswered()
    case .incomplete(let query, let damage):
      watches[query]?.body(.incomplete(query, damage))
      damageDidAppear?(damage)
    case .loaded(let query, let images, let at):
      loadingQueries.removeValue(forKey: query)?.end()
      watches[query]?.body(.loaded(query, images, at: at))
    case .loadedWindow(let query, let rows, let at):
      loadingQueries.removeValue(forKey: query)?.end()
      watches[query]?.body(.loadedWindow(query, rows, at: at))
    case .resumed(let query, let since):
      loadingQueries.removeValue(forKey: query)?.end()
      watches[query]?.body(.resumed(query, since: since))
    case .changed(let update):
      instruments.recordLag(of: update)
      notifyWatches(of: update)
    case .refusedQuery(let query, let refusal):
      loadingQueries.removeValue(forKey: query)?.end(.failure(refusal))
      watches.removeValue(forKey: query)?.body(.ended(refusal))
    case .reply(let request, let part, let isLast):
      replies[request]?.stream?.put(part, isLast: isLast)
      if isLast { replies[request] = nil }
    case .filled(let load, let refusal): loadWaiters.finish(load, refusal)
    case .refused(let request, let refusal): replies.removeValue(forKey: request)?.stream?.end(refusal)
    case .presence(let session, let author, let state, let left):
      presenceDidChange?(Presence(session: session, author: author, state: left ? nil : state))
    case .silence(let isSilent): self.isSilent = isSilent
    // The context has built it again.
    case .outdated: break
    case .diverged:
      var notified = Set<ObjectIdentifier>()
      for (_, watch) in watches.sorted(by: { $0.key < $1.key }) where notified.insert(ObjectIdentifier(watch)).inserted
      {
        watch.body(.diverged)
      }
    }
  }

  /// Replaces the rights of the welcome.
  private func replaceRights(_ grants: [Welcome.GrantEntry]) {
    guard var welcome else { return assertionFailure("rights change on a connection that was welcomed") }
    welcome.grants = grants
    if let role = grants.compactMap({ Role(rawValue: $0.role) }).max() { welcome.role = role.rawValue }
    self.welcome = welcome
    record(grants)
  }

  private func record(_ grants: [Welcome.GrantEntry]) {
    if observers.record(grants: grants) { rightsDidChange?() }
  }

  /// The size from which frames are written at once.
  private static let enoughFrames = 64 << 10

  /// Appends the frame of a message to those that are written together: each write wakes the connection's thread.
  private func append(_ message: ToServer, to frames: inout [UInt8]) {
    let frame = Frame.encode(message)
    // Before the first welcome only the hello is sent.
    let limit =
      welcome.map { min(Int(clamping: $0.maximumFrameSize), ProtocolLimits.maximumFrameSize) }
      ?? ProtocolLimits.maximumFrameSize
    guard frame.count - ProtocolLimits.headerSize <= max(limit, 1 << 16) else {
      // The server would close the connection, and each later one on which it is sent again.
      let refusal = Refusal(.limit, "the request has \(frame.count) bytes; a frame can have at most \(limit): split it")
      return context.handle(.received(ToClient(message.request, .refused(refusal))))
    }
    frames += frame
    if frames.count >= Self.enoughFrames { write(&frames) }
  }

  private func write(_ frames: inout [UInt8]) {
    if !frames.isEmpty { transport?.write(frames) }
    frames = []
  }

  /// Calls each watch once for a commit, with all of its changes to the watch's queries.
  private func notifyWatches(of update: CommitUpdate) {
    var parts = [(watch: Watch, update: CommitUpdate)]()
    for (query, changes) in update.changes {
      // The other queries are the context's.
      guard let watch = watches[query] else { continue }
      let index = parts.firstIndex { $0.watch === watch } ?? parts.count
      if index == parts.count {
        let part = CommitUpdate(revision: update.revision, time: update.time, author: update.author, changes: [])
        parts.append((watch, part))
      }
      parts[index].update.changes.append((query, changes))
      if let total = update.totals[query] { parts[index].update.totals[query] = total }
    }
    for (watch, part) in parts { watch.body(.changed(part)) }
  }
}

/// A request whose answer is not complete. The reader of the answer holds the stream, so that its release cancels the
/// request.
struct OpenReply {
  weak var stream: ReplyStream?
}

extension ToServer.Body {
  /// Whether the request is a change whose outcome matters even if it is cancelled.
  fileprivate var changesStore: Bool {
    switch self {
    case .batch, .importGraph: true
    default: false
    }
  }
}
