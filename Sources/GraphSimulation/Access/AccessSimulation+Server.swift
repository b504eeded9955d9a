import GraphHub
import GraphModel
import GraphReplica
import GraphStore
import GraphWire

/// The server of a run with accounts: the actions of the hub, its threads and the links.
extension AccessSimulation {
  func perform(_ action: HubAction, _ node: inout ServerNode) {
    switch action {
    case .send(let frame, let id): deliver(frame, to: id)
    case .broadcast(let frame, let ids): for id in ids { deliver(frame, to: id) }
    case .commit(let ticket, let request):
      promises.record(request)
      _ = node.perform(.commit(ticket, bug == .judgedByOldScope ? withForeignFolders(request) : request))
    case .recordAccess(let principal, let generation, let revision):
      accountJobs.append(.recordAccess(principal, generation, revision))
    case .authenticate(let credential, let session): accountJobs.append(.authenticate(credential, session))
    case .findReplica(let replica, let session): accountJobs.append(.findReplica(replica, session))
    case .close(let id):
      if let client = client(of: id) {
        client.link.closing = true
      } else if let index = thieves.firstIndex(where: { $0.session == id }) {
        thieves[index].isClosed = true
      }
    case .report(let failure, _): preconditionFailure("\(failure)")
    case .makeBrowserCode: preconditionFailure("the simulation's clients are no browsers")
    default:
      let isKnown = node.perform(action)
      precondition(isKnown, "an action of the hub is performed: \(action)")
    }
  }

  /// The client of a session; nil if the client has lost the connection, and for a thief.
  func client(of session: SessionID) -> AccessClient? {
    guard let number = sessions[session]?.client, clients.indices.contains(number),
      clients[number].link.session == session
    else { return nil }
    return clients[number]
  }

  private func deliver(_ frame: [UInt8], to id: SessionID) {
    if let client = client(of: id) {
      client.link.down.append(frame)
    } else if let index = thieves.firstIndex(where: { $0.session == id }) {
      thieves[index].received.append(frame)
    }
  }

  // MARK: - Links

  func deliverUp(_ client: AccessClient) {
    if let session = client.link.session, !client.link.up.isEmpty, server?.paused.contains(session) == false {
      trace("up \(client.number)")
      receive(client.link.up.removeFirst(), from: session)
    }
  }

  func receive(_ frame: [UInt8], from session: SessionID) {
    var decoder = FrameDecoder()
    decoder.append(frame)
    guard let bytes = try? decoder.next(), let message = try? ToServer(binary: bytes) else {
      preconditionFailure("a client sends messages that the server can read")
    }
    if let principal = sessions[session]?.principal { promises.record(sent: frame, by: principal) }
    handle(.received(message, from: session))
  }

  func deliverDown(_ client: AccessClient) throws {
    if let session = client.link.session, !client.link.down.isEmpty, let state = sessions[session] {
      try deliver(client.link.down.removeFirst(), to: client, session, state)
    }
  }

  private func deliver(
    _ frame: [UInt8], to client: AccessClient, _ session: SessionID, _ state: SessionState
  ) throws {
    trace("down \(client.number) \(frame.count)")
    let shown = bug == .deltaOfOtherClass && state.access != nil ? withWholeDeltas(frame) : frame
    let messages: [ToClient]
    do {
      messages = try Self.messages(in: shown)
    } catch {
      return try check("client \(client.number) can't read the server's message: \(error)")
    }
    var state = state
    for case .rights(let grants) in messages.map(\.body) { giveRights(grants, &state) }
    sessions.modifyIfPresent(session) { $0 = state }
    if let access = state.access, let principal = state.principal {
      try check(promises.failure(of: shown, messages, for: access, principal, recorder))
    }
    for message in messages { client.receive(message) }
    handle(.drained(session, bytes: frame.count))
    try checkAnswers(of: client, state)
    try checkShown(client, state)
  }

  /// Gives the session the rights that the server uses from this message on.
  private func giveRights(_ grants: [Welcome.GrantEntry], _ state: inout SessionState) {
    guard let former = state.access else { preconditionFailure("the machine's owner keeps its rights") }
    var roles = [UniqueID?: Role]()
    for grant in grants { roles[grant.scope] = Role(rawValue: grant.role) }
    state.earlier.append(former)
    state.access = NaiveAccess(user: former.user, grants: roles)
    promises.record(.sessionRightsChanged)
  }

  static func messages(in frame: [UInt8]) throws -> [ToClient] {
    var decoder = FrameDecoder()
    decoder.append(frame)
    var messages = [ToClient]()
    while let bytes = try decoder.next() { messages.append(try ToClient(binary: bytes)) }
    return messages
  }

  // MARK: - Threads

  func runJob() {
    if let count = server?.jobs.count, count > 0, let job = server?.jobs.remove(at: random.below(count)) {
      trace("job")
      server?.run(job)
    }
  }

  func handleSubmission() {
    let hasOutputs = server?.outputs.isEmpty == false
    if server?.inbox.isEmpty == false, !hasOutputs || random.chance(50) {
      trace("a submission")
      return handle(server?.inbox.removeFirst())
    }
    if !hasOutputs { return }
    let output = server?.takeOutput()
    if let (session, frame) = output?.frame { deliver(frame, to: session) }
    handle(output?.event)
  }

  /// Performs the next job of the reader: a lookup in the accounts or among the replicas.
  /// - Returns: whether there was something to do.
  func runAccountJob() throws -> Bool {
    guard !accountJobs.isEmpty, let store = server?.store else { return false }
    switch accountJobs.removeFirst() {
    case .authenticate(let credential, let session):
      let result = accounts.authenticate(credential)
      trace("session \(session) authenticates")
      if case .success(.user(let principal, _, let access)) = result,
        let user = accounts.users.first(where: { $0.principal == principal })
      {
        promises.register(user.access, for: access.rights)
        sessions.modifyIfPresent(session) { ($0.principal, $0.access) = (principal, user.access) }
      }
      server?.inbox.append(.authenticated(result, session: session))
    case .findReplica(let replica, let session):
      var known = try store.replica(replica)
      if bug == .foreignReplica { known = known.map { KnownReplica(lastSequence: $0.lastSequence) } }
      server?.inbox.append(.foundReplica(.success(known), session: session))
    case .recordAccess(let principal, let generation, let revision):
      accounts.record(generation, of: principal, at: revision)
    case .checkTokens(let tokens):
      let ended = accounts.ended(among: tokens)
      for _ in ended { promises.record(.sessionEndedByRemoval) }
      if !ended.isEmpty { server?.inbox.append(.tokensEnded(ended)) }
      let changed = accounts.changed(among: tokens)
      for (user, access) in changed.values { promises.register(user.access, for: access.rights) }
      if !changed.isEmpty { server?.inbox.append(.rightsChanged(changed.mapValues(\.access))) }
    }
    return true
  }

  /// Compares the tokens in use with the accounts, as the server does twice a second.
  func checkTokens() {
    if let tokens = server?.hub.tokensInUse, !tokens.isEmpty { accountJobs.append(.checkTokens(tokens)) }
  }

  // MARK: - Planted bugs

  /// The planted bug: the access check ignores the folder to which an item moves, as if the user were an editor there.
  private func withForeignFolders(_ request: WriteRequest) -> WriteRequest {
    guard case .transaction(let transaction, let author, let rights?) = request else { return request }
    let folder = model.property("Item", "folder").number
    let folders = transaction.changes.filter { $0.kind == .update }.flatMap(\.edits).compactMap { edit -> UniqueID? in
      guard edit.property == folder, case .set(.object(let id)) = edit.action else { return nil }
      return id.key
    }
    var grants = rights.scopes.map { Grant($0.value, on: $0.key) } + folders.map { Grant(.editor, on: $0) }
    if let role = rights.role { grants.append(Grant(role)) }
    return .transaction(transaction, author: author, rights: Rights(user: rights.user, grants: grants))
  }

  /// The planted bug: the refusal of a duplicate key names the object that has the key.
  func nameHolders() {
    guard var node = server, let graph = recorder.state(recorder.revision) else {
      preconditionFailure("the server has written, and its state is recorded")
    }
    node.inbox = node.inbox.map { event in
      guard case .committed(var results) = event else { return event }
      for index in results.indices {
        guard case .refused(var refusal) = results[index].result.outcome else { continue }
        for place in refusal.violations.indices where refusal.violations[place].commonRule == .unique {
          let violation = refusal.violations[place]
          let holder = graph.images.values.filter { image in
            model.model.entity(image.id.entity)?.property(violation.property).map { image[$0] } == violation.value
          }.map(\.id).min()
          if let holder { refusal.violations[place].value = .object(holder) }
        }
        results[index].result.outcome = .refused(refusal)
      }
      return .committed(results)
    }
    server = node
  }

  /// The planted bug: deltas are encoded for a visibility class that sees everything.
  private func withWholeDeltas(_ frame: [UInt8]) -> [UInt8] {
    guard let messages = try? Self.messages(in: frame) else { return frame }
    return messages.flatMap { message -> [UInt8] in
      guard case .delta(var delta) = message.body, let graph = recorder.state(delta.revision) else {
        return Frame.encode(message)
      }
      for index in delta.changes.indices where delta.changes[index].kind == .inserted {
        delta.changes[index].object = graph.images[delta.changes[index].id]
      }
      let entities = Set(delta.changes.map(\.id.entity))
      let known = Set(delta.changes.map(\.id))
      for case let image? in recorder.records.filter({ $0.revision == delta.revision }).flatMap(\.changes).map(\.after)
      where entities.contains(image.id.entity) && !known.contains(image.id) {
        delta.changes.append(Delta.Change(kind: .inserted, id: image.id, object: image))
      }
      return Frame.encode(ToClient(message.request, .delta(delta)))
    }
  }
}
