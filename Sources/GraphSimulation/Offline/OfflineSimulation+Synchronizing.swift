import GraphModel
import GraphReplica
import GraphReplicaStore
import GraphStore
import GraphWire

/// Runs of the synchronizer, one step at a time, as `ReplicaSynchronizer` performs them.
extension OfflineSimulation {
  // MARK: - Beginning and ending

  /// Begins a run in a process of a device, unless another process has the lock, sync is off, or the user has no role.
  func startRun(_ device: OfflineDevice, _ index: Int? = nil) throws {
    let process = if let index { device.processes[index] } else { random.element(of: device.processes) }
    if process.run != nil || !accounts.users[device.user].mayConnect { return }
    guard let unsent = try UnsentFile.open(folder: device.folder) else {
      preconditionFailure("a device has a file of unsent edits")
    }
    guard try unsent.replica.state != .off else { return unsent.close() }
    guard let lock = try SenderLock.acquire(folder: device.folder) else {
      unsent.close()
      return count(.runLocked)
    }
    trace("device \(device.number), process \(process.number): a run begins")
    let run = OfflineRun(unsent: unsent, lock: lock, connection: connection(of: device, as: try unsent.replica.id))
    process.run = run
    connect(run.connection)
  }

  private func connection(of device: OfflineDevice, as id: UniqueID) -> ReplicaConnection {
    let user = accounts.users[device.user]
    // The keeper of the transactions recognizes a copy by its own numbers.
    return ReplicaConnection(
      id: id, author: user.principal.name, credential: user.credential, model: model.versions[device.version],
      lastSequence: .max)
  }

  private func connect(_ connection: ReplicaConnection) {
    let session = newSession(connection)
    handle(.opened(session, of: .network))
    connection.connect(as: session)
  }

  /// Ends a process at once.
  func kill(_ process: OfflineProcess) {
    if let run = process.run { disconnect(run.connection, isNoticed: random.chance(50)) }
    process.close()
  }

  /// Cuts the connection of a run.
  func cut(_ run: OfflineRun) {
    trace("a connection is cut")
    disconnect(run.connection, isNoticed: random.chance(50))
  }

  private func end(_ device: OfflineDevice, _ process: OfflineProcess, _ refusal: Refusal?, isCut: Bool = false) {
    guard let run = process.run else { preconditionFailure("a run that ends has begun") }
    trace("device \(device.number), process \(process.number): the run ends: \(refusal?.message ?? "complete")")
    count(isCut ? .runCut : refusal == nil ? .runCompleted : .runRefused)
    if refusal == SyncRun.changedRights { count(.rightsChanged) }
    disconnect(run.connection)
    run.close()
    process.run = nil
    // The others have the replica open, and their users see what they saw before.
    for other in device.processes where other.store != nil { other.isStale = true }
  }

  /// Performs a whole run without faults.
  func synchronize(_ device: OfflineDevice) throws {
    try settleServer()
    let process = device.processes[0]
    try startRun(device, 0)
    for _ in 0..<20_000 {
      if process.run == nil { return }
      advanceClock()
      if try !workServer() { try advance(device, process) }
      try advance(device, process)
    }
    try check("the run of device \(device.number) does not end")
  }

  // MARK: - Steps

  /// Handles what has arrived, and performs the next action.
  func advance(_ device: OfflineDevice, _ process: OfflineProcess) throws {
    guard let run = process.run else { return }
    do {
      while let notice = run.connection.takeNotice() { try receive(notice, run, device) }
      if case .ready(let action) = run.state {
        trace("device \(device.number): \(action.name)")
        try perform(action, run, device)
        try checkFile(of: device)
      } else if case .awaitingAnswer = run.state, !run.answers.isEmpty {
        let (id, outcome) = run.answers.removeFirst()
        try markLate(run, device)
        go(run, .answered(id, outcome))
      }
    } catch let refusal as Refusal {
      return end(device, process, refusal)
    }
    if case .ended(let refusal) = run.state {
      end(device, process, refusal)
    } else if run.connection.link.session == nil {
      end(device, process, Replica.lostConnection, isCut: true)
    }
  }

  /// Reports an event of the last action to the run.
  private func go(_ run: OfflineRun, _ event: SyncRun.Event) {
    guard let action = run.run?.handle(event) else { preconditionFailure("a run that goes on has begun") }
    wait(for: action, run)
  }

  private func wait(for action: SyncRun.Action, _ run: OfflineRun) {
    switch action {
    case .awaitAnswer: run.state = .awaitingAnswer
    case .end: run.state = .ended(nil)
    case .fail(let refusal): run.state = .ended(refusal)
    default: run.state = .ready(action)
    }
  }

  // MARK: - What arrives

  private func receive(_ notice: ReplicaAction, _ run: OfflineRun, _ device: OfflineDevice) throws {
    switch notice {
    case .welcomed(let welcome): try begin(run, device, welcome)
    case .saved(let id, let outcome): run.answers.append((id, outcome.map(\.committed)))
    case .reply(let request, let body, let isLast): try receive(body, of: request, isLast: isLast, run, device)
    case .refused(let request, let refusal): try receive(refusal, of: request, run)
    // Commits that are answered for other rights may lack changes, so the mirror would claim what it does not have.
    case .rights: throw SyncRun.changedRights
    case .disconnect(let refusal), .rejected(let refusal): run.state = .ended(refusal)
    default: break
    }
  }

  private func begin(_ run: OfflineRun, _ device: OfflineDevice, _ welcome: Welcome) throws {
    var server = SyncRun.Server(welcome, model.versions[device.version])
    run.seesAll = server.seesAll
    if bug == .reusedSequence { server.lastSequence = 0 }
    if run.run != nil { return go(run, .renewed(server)) }
    let isCopy = try run.unsent.isCopy && bug != .reusedSequence
    var fresh = SyncRun(try run.unsent.replica, isCopy: isCopy, server: server, folder: device.folder)
    let action = fresh.begin()
    run.run = fresh
    wait(for: action, run)
  }

  private func receive(
    _ body: ToClient.Body, of request: RequestID, isLast: Bool, _ run: OfflineRun, _ device: OfflineDevice
  ) throws {
    switch (run.state, body) {
    case (.asking(request), .followed): go(run, .isKnown(true))
    case (.following(request, let end, let waiting), .followed(let entries, let at, let head, _)):
      try receive(entries, at, end: end ?? head.revision, waiting, run)
    case (.loading(request, _, _), .exportHead(let head)):
      let loader = try MirrorLoader(
        path: device.mirrorPath, model: model.versions[device.version], store: head.at.store,
        isPartial: !run.seesAll)
      run.state = .loading(request, loader, head.at)
      run.connection.handle(.more(request))
    case (.loading(request, let loader?, let token?), .chunk(let chunk)):
      try loader.add(chunk.objects)
      if run.run?.isUnverified == true, run.lost == nil, let mirror = run.mirror {
        run.lost = LostObjects(over: mirror)
        count(.unverified)
      }
      try run.lost?.compare(chunk.objects)
      guard isLast else { return run.connection.handle(.more(request)) }
      let form = IntentForm(model.versions[device.version])
      let parked = if let lost = run.lost { try lost.rebase(run.unsent, at: now, form: form) } else { 0 }
      run.lost = nil
      try loader.finish(at: token, time: now)
      run.mirror?.close()
      let mirror = try MirrorStore(path: device.mirrorPath, model: model.versions[device.version])
      run.mirror = mirror
      device.generation = history.generation
      count(.loaded)
      go(run, .loaded(try mirror.head.revision, parked: parked))
    default: try check("device \(device.number) receives an answer that it has not asked for: \(body)")
    }
  }

  /// Handles a part of the commits up to a revision.
  private func receive(
    _ entries: [CommitEntry], _ at: Token, end: Revision, _ waiting: [MirroredCommit], _ run: OfflineRun
  ) throws {
    guard let mirror = run.mirror else { preconditionFailure("commits are received for an open mirror") }
    var commits = waiting
    for entry in entries where entry.revision <= end {
      let token = Token(store: at.store, revision: entry.revision, fingerprint: entry.fingerprint)
      guard let commit = MirroredCommit(entry, at: token, now: now) else { return go(run, .outdated) }
      commits.append(commit)
    }
    let last = if let last = commits.last?.token.revision { last } else { try mirror.head.revision }
    if at.revision <= end, at.revision > last { commits.append(MirroredCommit(unchangedUpTo: at, time: now)) }
    if at.revision < end {
      let request = run.connection.request(.changes(.follow(FollowRequest(since: at))))
      run.state = .following(request, end: end, commits)
      return
    }
    if bug == .tokenAheadOfData, let newest = commits.last, random.chance(50) {
      commits = [MirroredCommit(unchangedUpTo: newest.token, time: now)]
    }
    if !commits.isEmpty {
      do {
        _ = try mirror.apply(commits)
      } catch is MirrorStore.Outdated {
        count(.hiddenReferrer)
        return go(run, .outdated)
      }
      count(.received)
    }
    go(run, .received(try mirror.head.revision, commits: commits.count))
  }

  private func receive(_ refusal: Refusal, of request: RequestID, _ run: OfflineRun) throws {
    switch (run.state, refusal.code) {
    case (.asking(request), .notFound): go(run, .isKnown(false))
    case (.asking(request), .pruned): go(run, bug == .keptLostBases ? .isKnown(true) : .isPruned)
    case (.asking(request), .limit): go(run, .isKnown(true))
    case (.following(request, _, _), .notFound), (.following(request, _, _), .pruned),
      (.following(request, _, _), .limit):
      go(run, .outdated)
    default: run.state = .ended(refusal)
    }
  }

  // MARK: - Actions

  private func perform(_ action: SyncRun.Action, _ run: OfflineRun, _ device: OfflineDevice) throws {
    let form = IntentForm(model.versions[device.version])
    switch action {
    case .setState(let state): try run.unsent.setState(state)
    case .openMirror: return go(run, try openMirror(run, device))
    case .readStates:
      guard let mirror = run.mirror else { preconditionFailure("the states are those of an open mirror") }
      return go(run, .states(try mirror.states()))
    case .ask(let token):
      run.state = .asking(run.connection.request(.changes(.follow(FollowRequest(since: token, limit: 1)))))
    case .rebase(let common, let isLoaded):
      return go(run, .rebased(parked: try rebase(onto: common, isLoaded: isLoaded, run, form)))
    case .load: run.state = .loading(run.connection.request(.exportGraph), nil, nil)
    case .receive:
      guard let head = try run.mirror?.head else { preconditionFailure("commits are received for an open mirror") }
      let request = run.connection.request(.changes(.follow(FollowRequest(since: head))))
      run.state = .following(request, end: nil, [])
    case .readQueue(let number):
      let entries = try run.unsent.entries(form, .waiting, after: number, limit: SyncRun.page)
      if entries.contains(where: { !$0.isParked && $0.intent?.hasLeft == true }) { count(.askedAgain) }
      return go(run, .queue(entries))
    case .markLeft(let numbers):
      run.marked.formUnion(numbers)
      return go(run, .marked(try mark(numbers, run, form)))
    case .send(let intent):
      if let mirror = run.mirror, let refusal = try intent.refusalOfMissingText(in: mirror) {
        if run.marked.contains(intent.number) { return go(run, .answered(intent.transaction, .failure(refusal))) }
        run.connection.handle(.save(intent.question))
        break
      }
      try send(intent, run)
    case .park(let number, let refusal, let left): try park(number, refusal, left, run, form)
    case .parkUnreadable(let number, let refusal):
      let parking = Parking(code: Parking.model, message: refusal.message, at: now)
      try run.unsent.parkUnreadable(number, parking, form: form)
      count(.parkedForModel)
    case .finish(let finished):
      guard let mirror = run.mirror else { preconditionFailure("an intent is removed when the mirror has its commit") }
      let parked = try CommittedIntent.finish(finished, in: run.unsent, over: mirror, at: now, form: form)
      if parked > 0 { count(.parkedInPart) }
      if parked < finished.count { count(.committed) }
      return go(run, .finished(parked: parked))
    case .renew:
      let fresh = newID()
      try run.unsent.renew(fresh, form: form)
      count(.renewed)
      disconnect(run.connection)
      (run.connection, run.state) = (connection(of: device, as: fresh), .connecting)
      return connect(run.connection)
    case .release, .endUnloaded: preconditionFailure("the mirrors of the simulation can be loaded: \(action)")
    case .awaitAnswer, .end, .fail: preconditionFailure("an action that is performed does something: \(action)")
    }
    if case .ready = run.state { go(run, .done) }
  }

  private func openMirror(_ run: OfflineRun, _ device: OfflineDevice) throws -> SyncRun.Event {
    do {
      let mirror = try MirrorStore(path: device.mirrorPath, model: model.versions[device.version])
      run.mirror = mirror
      return .opened(isPartial: mirror.isPartial)
    } catch let failure as StoreFailure where failure.isMissingMirror {
      return .noMirror(states: MirrorStore.states(at: device.mirrorPath))
    }
  }

  private func rebase(onto common: Revision?, isLoaded: Bool, _ run: OfflineRun, _ form: IntentForm) throws -> Int {
    count(.rebased)
    if bug == .keptLostBases { return 0 }
    return try run.unsent.rebase(onto: common, at: now, form: form, text: isLoaded ? nil : run.mirror?.pastText)
  }

  private func send(_ intent: Intent, _ run: OfflineRun) throws {
    guard let mirror = run.mirror else { preconditionFailure("an intent is sent over an open mirror") }
    trace("number \(intent.number) is sent as \(intent.transaction.sequence) of \(intent.transaction.replica)")
    if !intent.texts.isEmpty { count(.followedText) }
    switch intent.content {
    case .changes: run.connection.handle(.save(try intent.transaction(over: mirror)))
    case .undo(let revision, let redo):
      count(.sentUndo)
      run.connection.handle(.undo(UndoRequest(intent.transaction, revision: revision, redo: redo)))
    case .undoEdit: preconditionFailure("the undo of an edit is sent as that of its revision: \(intent.number)")
    }
  }

  private func mark(_ numbers: [Int64], _ run: OfflineRun, _ form: IntentForm) throws -> [Intent] {
    guard bug == .sentBeforeMark else { return try run.unsent.markLeft(numbers, at: now, form: form) }
    run.unmarked += numbers
    return try run.unsent.entries(form).compactMap { entry in
      guard numbers.contains(entry.number), var intent = entry.intent, !intent.isParked else { return nil }
      intent.state = .left(now)
      return intent
    }
  }

  /// Makes the marks that a planted bug has omitted.
  private func markLate(_ run: OfflineRun, _ device: OfflineDevice) throws {
    if run.unmarked.isEmpty { return }
    let form = IntentForm(model.versions[device.version])
    _ = try run.unsent.markLeft(run.unmarked, at: now, form: form)
    run.unmarked = []
  }

  private func park(
    _ number: Int64, _ refusal: Refusal, _ left: Timestamp?, _ run: OfflineRun, _ form: IntentForm
  ) throws {
    trace("number \(number) is parked: \(refusal.code) \(refusal.message)")
    if bug == .droppedParked { return try run.unsent.finish(number, ids: [:], form: form) }
    let before = try run.unsent.counts().parked
    try run.unsent.park(
      number, Parking(refusal, at: now, left: left), form: form, text: run.mirror?.pastText)
    count(.parked)
    if try run.unsent.counts().parked > before + 1 { count(.parkedBehind) }
  }
}

extension SyncRun.Action {
  /// The action for a trace.
  fileprivate var name: String {
    switch self {
    case .setState(let state): "the state becomes \(state)"
    case .openMirror: "open the mirror"
    case .readStates: "read the states of the mirror"
    case .ask(let token): "ask for revision \(token.revision)"
    case .rebase(let common?, _): "adapt the queue to the restored server, which has revision \(common)"
    case .rebase(nil, _): "adapt the queue to the restored server"
    case .load: "load a mirror"
    case .receive: "receive commits"
    case .readQueue: "read the queue"
    case .markLeft(let numbers): "mark \(numbers) as sent"
    case .send(let intent): "send \(intent.number)"
    case .awaitAnswer: "wait"
    case .park(let number, _, _), .parkUnreadable(let number, _): "park \(number)"
    case .release(let finished): "release \(finished.map(\.committed.number)) without a mirror"
    case .finish(let finished): "finish \(finished.map(\.committed.number))"
    case .renew: "take another id"
    case .end, .endUnloaded, .fail: "end"
    }
  }
}
