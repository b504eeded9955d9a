import GraphHub
import GraphModel
import GraphStore
import GraphWire

/// The server of a run with offline replicas: the hub's actions, its threads and the links.
extension OfflineSimulation {
  func perform(_ action: HubAction, _ node: inout ServerNode) {
    if node.perform(action) { return }
    switch action {
    case .send(let frame, let id): deliver(frame, to: id)
    case .broadcast(let frame, let ids): for id in ids { deliver(frame, to: id) }
    case .recordAccess(let principal, let generation, let revision):
      accountJobs.append(.recordAccess(principal, generation, revision))
    case .authenticate(let credential, let session): accountJobs.append(.authenticate(credential, session))
    case .findReplica(let replica, let session): accountJobs.append(.findReplica(replica, session))
    case .close(let id):
      if let connection = sessions[id] { connection.link.closing = true }
    case .report(let failure, _): preconditionFailure("\(failure)")
    case .makeBrowserCode: preconditionFailure("the simulation's clients are no browsers")
    default: break
    }
  }

  private func deliver(_ frame: [UInt8], to id: SessionID) {
    if let connection = sessions[id], connection.link.session == id { connection.link.down.append(frame) }
  }

  // MARK: - Links

  /// Ends a connection. Servers often notice a lost connection late.
  func disconnect(_ connection: ReplicaConnection, isNoticed: Bool = true) {
    let (lost, up) = (connection.link.session, connection.link.up)
    connection.disconnect()
    if let session = lost {
      if isNoticed {
        close(session)
      } else {
        lostConnections.append((session, up))
      }
    }
  }

  func close(_ session: SessionID) {
    sessions[session] = nil
    handle(.closed(session))
  }

  private func receive(_ frame: [UInt8], from session: SessionID) throws {
    var decoder = FrameDecoder()
    decoder.append(frame)
    guard let bytes = try decoder.next() else { preconditionFailure("a client sends whole frames") }
    handle(.received(try ToServer(binary: bytes), from: session))
  }

  private func deliverDown(_ connection: ReplicaConnection, _ session: SessionID) throws {
    let frame = connection.link.down.removeFirst()
    for message in try AccessSimulation.messages(in: frame) { connection.handle(.received(message)) }
    handle(.drained(session, bytes: frame.count))
  }

  // MARK: - Work

  /// Delivers a message, or lets a thread of the server do something.
  /// - Returns: whether there was something to do.
  @discardableResult
  func workServer() throws -> Bool {
    var tasks = [() throws -> Void]()
    for (session, connection) in sessions.sorted(by: { $0.key < $1.key }) where connection.link.session == session {
      if !connection.link.up.isEmpty, server?.paused.contains(session) == false {
        tasks.append { try self.receive(connection.link.up.removeFirst(), from: session) }
      }
      if !connection.link.down.isEmpty {
        tasks.append { try self.deliverDown(connection, session) }
      } else if connection.link.closing {
        tasks.append { self.disconnect(connection) }
      }
    }
    if !lostConnections.isEmpty { tasks.append { try self.advanceLostConnection() } }
    if server?.commits.isEmpty == false { tasks.append { try self.write() } }
    if let count = server?.jobs.count, count > 0 {
      tasks.append {
        if let job = self.server?.jobs.remove(at: self.random.below(count)) { self.server?.run(job) }
      }
    }
    if server?.hasSubmissions == true { tasks.append { self.handleSubmission() } }
    if !accountJobs.isEmpty { tasks.append { try self.runAccountJob() } }
    guard let task = random.pick(tasks) else { return false }
    try task()
    return true
  }

  /// Lets the server finish all of its work.
  func settleServer() throws {
    for _ in 0..<5_000 { if try !workServer() { return } }
    try check("the server does not come to rest")
  }

  private func advanceLostConnection() throws {
    let index = random.below(lostConnections.count)
    let session = lostConnections[index].session
    if !lostConnections[index].up.isEmpty, random.chance(70), server?.paused.contains(session) == false {
      try receive(lostConnections[index].up.removeFirst(), from: session)
    } else {
      lostConnections.remove(at: index)
      close(session)
    }
  }

  private func handleSubmission() {
    let hasOutputs = server?.outputs.isEmpty == false
    if server?.inbox.isEmpty == false, !hasOutputs || random.chance(50) { return handle(server?.inbox.removeFirst()) }
    if !hasOutputs { return }
    let output = server?.takeOutput()
    if let (session, frame) = output?.frame { deliver(frame, to: session) }
    handle(output?.event)
  }

  private func write() throws {
    guard let waiting = server?.commits, !waiting.isEmpty else {
      preconditionFailure("the server has something to write")
    }
    let count = 1 + random.below(waiting.count)
    var edits = [StoreRequestID: (number: UInt64, transaction: TransactionID)]()
    for (ticket, request) in waiting.prefix(count) {
      guard case .transaction(let transaction, _, _) = request, let group = transaction.undo else { continue }
      edits[ticket] = (group.group, transaction.id)
    }
    let plan = BatchFaultPlan(.done, directory: serverDirectory, cancelled: [])
    server?.write(groups: [count], reads: false, now: now, faultPlan: plan)
    if let inbox = server?.inbox {
      for case .committed(let results) in inbox {
        for (ticket, result) in results {
          if let edit = edits[ticket], case .committed(let result) = result.outcome {
            history.recordConflicts(result.conflicts, of: edit.number, edit.transaction)
          }
        }
      }
    }
    try recordCommits()
  }

  func recordCommits() throws {
    guard let store = server?.store else { preconditionFailure("the server has started") }
    let head = try store.head.revision
    try check(head < history.present.revision ? "the server has lost revision \(history.present.revision)" : nil)
    if head == history.present.revision { return }
    for record in try store.commits(after: history.present.revision, through: nil, maximumChanges: .max) {
      trace(
        "revision \(record.revision) by \(record.author), edit \(record.undo?.group ?? 0): "
          + record.changes.map { "\($0.kind) \($0.id) \($0.edits)" }.joined(separator: ", "))
      try check(history.record(record, served))
    }
  }

  private func runAccountJob() throws {
    guard let store = server?.store else { preconditionFailure("the server has started") }
    switch accountJobs.removeFirst() {
    case .authenticate(let credential, let session):
      server?.inbox.append(.authenticated(accounts.authenticate(credential), session: session))
    case .findReplica(let replica, let session):
      server?.inbox.append(.foundReplica(.success(try store.replica(replica)), session: session))
    case .recordAccess(let principal, let generation, let revision):
      accounts.record(generation, of: principal, at: revision)
    case .checkTokens(let tokens):
      let changed = accounts.changed(among: tokens)
      if !changed.isEmpty { server?.inbox.append(.rightsChanged(changed.mapValues(\.access))) }
    }
  }

  // MARK: - Reads of the present

  /// All objects of the server.
  func servedObjects() throws -> [ObjectID: ObjectImage] {
    guard let store = server?.store else { preconditionFailure("the server has started") }
    var images = [ObjectID: ObjectImage]()
    _ = try store.export(seenBy: nil, begin: { _, _ in }, body: { images[$0.id] = $0 })
    return images
  }

  /// All objects that a user sees, as a client of it receives them.
  func objects(seenBy user: Int) throws -> [ObjectID: ObjectImage] {
    try settleServer()
    let account = accounts.users[user]
    let connection = ReplicaConnection(
      id: newID(), author: account.principal.name, credential: account.credential, model: served)
    let session = newSession(connection)
    handle(.opened(session, of: .network))
    connection.connect(as: session)
    try settleServer()
    let request = connection.request(.exportGraph)
    var images = [ObjectID: ObjectImage]()
    var isComplete = false
    while !isComplete {
      try settleServer()
      var hasPart = false
      while let notice = connection.takeNotice() {
        guard case .reply(request, let body, let isLast) = notice else { continue }
        hasPart = true
        if case .chunk(let chunk) = body { for image in chunk.objects { images[image.id] = image } }
        if isLast { isComplete = true } else { connection.handle(.more(request)) }
      }
      if !hasPart { try check("user \(user) receives no objects") }
    }
    disconnect(connection)
    return images
  }
}
