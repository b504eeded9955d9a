import GraphHub
import GraphModel
import GraphReplica
import GraphStore
import GraphStoreFaults
import GraphWire

/// A simulation of one hub, one real store and several replicas in one thread, controlled by a seed.
///
/// Links delay messages, break, and lose messages. Clients reconnect while the server still holds their old
/// connections. Any part may crash between any two steps; after a crash of the server, the disk has only the data that
/// SQLite had synced.
///
/// The invariants:
/// - An acknowledged commit is never lost or doubled, and a refused one never appears. Revisions never decrease for a
///   client.
/// - At every quiet moment, when no work is left, each live query equals a new fetch.
/// - No typed text disappears unless a user deleted it. Lists have the requested order, the same for all clients.
/// - Counts and rules hold for every object, no reference dangles, and objects keep their creation time.
/// - A batch has its exact effect, all or nothing, whenever it is interrupted.
/// - Loads, fetches of any form and reads of the past return the state that was recorded at that revision.
/// - A restored object equals its past state. An undo reverts the correct step of its user.
/// - A child context does not expose unsaved edits.
/// - While history is pruned, exactly the requests for pruned revisions are refused, and no edit silently overwrites
///   another.
/// - After a restore from a backup, all of this holds for the restored store: clients detect the restore, keep their
///   unsaved edits, and unacknowledged transactions are committed once.
/// - With counters: a count equals the number of committed increments without the undone ones.
/// - With clock jumps: revisions rise in the order of commits, each commit has the time of the server's clock, the
///   state at a time is the newest one up to that time, and no commit is pruned by age before it has reached that age.
/// - A second store, to which the entries of the commit log are applied, equals the server's store row by row.
/// - Clients with an older version of the model read and write through a lens with the same guarantees.
public final class Simulation {
  struct HalfOpenConnection {
    let session: SessionID
    var up: [[UInt8]]
  }

  /// The numbers of events that quiet moments have counted so far.
  struct CountedEvents {
    /// Undos right after their steps.
    var undone = 0
    /// Undos of whole groups.
    var groups = 0
    /// Revived objects.
    var returns = 0
  }

  /// The receivers of a run's trace and transcripts.
  private struct Output {
    let trace: ((String) -> Void)?
    let replicas: ReplicaRecorder?
  }

  /// The violation of an invariant, with the seed and the step that reproduce it.
  public struct Failure: Error, CustomStringConvertible {
    /// The seed of the run.
    public let seed: UInt64
    /// The step at which it was detected.
    public let step: Int
    /// The description of the violation.
    public let reason: String

    public var description: String { "seed \(seed), step \(step): \(reason)" }
  }

  let seed: UInt64
  let directory: String
  let model: Model
  let bug: PlantedBug?
  var random: SeededRandom
  private var ids: IDSource
  var server: ServerNode?
  var clients = [ClientNode]()
  var sessions = [SessionID: Int]()
  /// Connections that the client has lost but the server has not noticed, with the messages still in transit.
  var halfOpenConnections = [HalfOpenConnection]()
  private var lastSession: SessionID = 0
  var storeOperator: StoreOperator
  var offlineClients = OfflineClients()
  var versions: ClientVersionAssigner
  var clock: ServerClock
  /// The server's commit log; nil in runs without one.
  var serverLog: ServerLog?
  /// The second store; nil in runs with a planted bug, which other checks must find.
  private(set) var follower: RedoFollower?
  /// The generator of acts on counters; nil in a run without them.
  var counterRandom: SeededRandom?
  var step = 0
  var recorder: GraphRecorder
  var events = CoverageEventCounts()
  var counted = CountedEvents()
  /// Undos of steps of which some commits had been pruned.
  var undoneInPart = Set<TransactionID>()
  /// Whether all work is being finished, without failures.
  var isQuiescing = false
  private let output: Output

  /// The seeded generator of the random part of new ids, shared with the store, which uses it on this thread.
  private final class IDSource: @unchecked Sendable {  // One thread runs a simulation.
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed ^ 0xABCD) }
  }

  /// Creates the server and the clients, and the initial objects.
  /// - Parameters:
  ///   - directory: an empty directory for the store.
  ///   - acts: the kinds of acts that the run has in addition to the usual ones.
  ///   - trace: called with a line for each step.
  ///   - recorder: records the clients' replicas.
  public init(
    seed: UInt64, directory: String, clients count: Int = 3, acts optional: Set<OptionalAction> = [],
    bug: PlantedBug? = nil, trace: ((String) -> Void)? = nil, recorder replicas: ReplicaRecorder? = nil
  ) throws {
    let acts = bug.map { optional.union($0.acts) } ?? optional
    self.seed = seed
    self.directory = directory
    self.bug = bug
    output = Output(trace: trace, replicas: replicas)
    versions = try ClientVersionAssigner(seed: seed, bug: bug, clients: count, acts: acts)
    model = versions.served
    recorder = GraphRecorder(model: model)
    random = SeededRandom(seed: seed)
    storeOperator = StoreOperator(seed: seed)
    clock = ServerClock(seed: seed, jumps: acts.contains(.clockJumps))
    counterRandom = acts.contains(.counters) ? SeededRandom(seed: seed ^ 0xC0DE) : nil
    ids = IDSource(seed: seed)
    CrashableFiles.watch(directory)
    if acts.contains(.commitLog) { serverLog = ServerLog(seed: seed, isSynced: bug != .unsyncedLog) }
    if bug == nil { follower = RedoFollower(of: directory, model: model) }
    try startServer()
    try follower?.begin()
    for number in 0..<count {
      let lens = versions.lens(of: number)
      let client = ClientNode(
        number: number, version: ClientVersion(model: lens?.old ?? model, lens: lens), bug: bug)
      client.restart(&random, replicas)
      clients.append(client)
    }
    try populate()
  }

  /// Creates the initial objects.
  private func populate() throws {
    for client in clients { reconnect(client) }
    clients[0].populate(&random)
    try quiesce()
  }

  deinit {
    CrashableFiles.unwatch(directory)
    follower?.remove()
  }

  /// The count of each event so far; events that have not occurred are missing.
  public var eventCounts: [CoverageEvent: Int] {
    var all = events
    for client in clients { all.add(client.events) }
    return all.counts
  }

  /// Runs this number of steps, with quiet moments in between and at the end.
  /// - Throws: `Failure` for the first violation.
  public func run(steps: Int) throws {
    for number in 1...max(1, steps) {
      step = number
      clock.advance(by: Int64(random.below(20)))
      try actOnClock()
      try runOperator()
      try performStep()
      try check(clients.lazy.compactMap(\.failure).first)
      // After a restore, the clients need more steps to catch up.
      let hasOperator = StoreOperator.exists(seed: seed, bug: bug)
      if number % (hasOperator ? 500 : 250) == 0 { try quiesce() }
    }
    try quiesce()
  }

  func check(_ reason: String?) throws {
    if let reason { throw Failure(seed: seed, step: step, reason: reason) }
  }

  func trace(_ line: @autoclosure () -> String) {
    if let trace = output.trace { trace("\(step) \(line())") }
  }

  // MARK: - Steps

  /// Performs a random step that has something to do.
  private func performStep() throws {
    for _ in 0..<8 { if try performStep(random.below(1_000)) { return } }
  }

  /// - Returns: whether there was something to do.
  private func performStep(_ kind: Int) throws -> Bool {
    switch kind {
    case 0..<140:
      guard let client = random.pick(clients) else { return false }
      let what = increment(client) ?? editEstimate(client) ?? client.performRandomAction(&random)
      trace("client \(client.number): \(what)")
    case 140..<340:
      guard let client = random.pick(clients.filter { !$0.link.up.isEmpty }) else { return false }
      for _ in 0..<burst() { deliverUp(client) }
    case 340..<570:
      guard let client = random.pick(clients.filter { !$0.link.down.isEmpty }) else { return false }
      for _ in 0..<burst() { try deliverDown(client) }
    case 570..<690:
      guard server?.commits.isEmpty == false else { return false }
      try write()
    case 690..<830:
      guard server?.jobs.isEmpty == false else { return false }
      for _ in 0..<burst() { runJob() }
    case 830..<840: try prune()
    case 840..<930:
      guard server?.hasSubmissions == true else { return false }
      for _ in 0..<burst() { handleSubmission() }
    case 930..<940:
      guard !halfOpenConnections.isEmpty else { return false }
      advanceHalfOpenConnection()
    case 940..<980:
      let away = clients.filter {
        $0.link.session == nil && !offlineClients.isOffline($0.number, at: recorder.revision)
      }
      guard let client = random.pick(away) else { return false }
      reconnect(client)
    case 980..<990: takeOffline(random.pick(clients))
    case 990..<992:
      guard let client = random.pick(clients) else { return false }
      disconnect(client)
      client.restart(&random, output.replicas)
      trace("client \(client.number) dies")
    case 992..<996: try crashServer(checkSetbacks)
    default: handle(.tick(clock.monotonic))
    }
    return true
  }

  /// The number of consecutive steps of one kind: usually one, sometimes enough to empty a queue.
  private func burst() -> Int { random.chance(50) ? 1 : 1 + random.below(12) }

  func deliverUp(_ client: ClientNode?) {
    if let client, let session = client.link.session, !client.link.up.isEmpty,
      server?.paused.contains(session) == false
    {
      trace("up \(client.number)")
      receive(client.link.up.removeFirst(), from: session)
    }
  }

  private func receive(_ frame: [UInt8], from session: SessionID) {
    var decoder = FrameDecoder()
    decoder.append(frame)
    guard let bytes = try? decoder.next(), let message = try? ToServer(binary: bytes) else {
      preconditionFailure("a client of the simulation sends whole messages")
    }
    handle(.received(bug == .forgottenFingerprint ? withoutFingerprint(message) : message, from: session))
  }

  func deliverDown(_ client: ClientNode?) throws {
    if let client, let session = client.link.session, !client.link.down.isEmpty {
      // A connection is a stream of bytes, so a message can arrive in parts.
      let frame = client.link.down.removeFirst()
      trace("down \(client.number) \(frame.count)")
      client.receive(frame)
      for line in client.traceLines { trace("client \(client.number): \(line)") }
      client.traceLines = []
      handle(.drained(session, bytes: frame.count))
      try checkReads(of: client)
      try checkPruned(client)
    }
  }

  /// Handles one event that a thread has submitted to the event loop. The readers' threads and the others have
  /// separate queues, chosen at random.
  func handleSubmission() {
    let hasOutputs = server?.outputs.isEmpty == false
    if server?.inbox.isEmpty == false, !hasOutputs || random.chance(50) {
      trace("a submission")
      return handle(server?.inbox.removeFirst())
    }
    if hasOutputs {
      trace("receive from a reader")
      let output = server?.takeOutput()
      if let (session, frame) = output?.frame { deliver(frame, to: session) }
      handle(output?.event)
    }
  }

  func reconnect(_ client: ClientNode?) {
    if let client, client.link.session == nil, server != nil {
      lastSession += 1
      sessions[lastSession] = client.number
      trace("client \(client.number) connects")
      countReturn(of: client)
      countStaleReturn(client)
      handle(.opened(lastSession))
      client.connect(as: lastSession)
      client.countThroughLens(.olderConnected)
    }
  }

  func disconnect(_ client: ClientNode?) {
    if let client, let session = client.link.session {
      trace("client \(client.number) is cut off")
      // Servers often notice a lost connection late; meanwhile the client reconnects and has two sessions.
      let halfOpen = random.chance(50) ? HalfOpenConnection(session: session, up: client.link.up) : nil
      client.disconnect()
      sessions[session] = nil
      if let halfOpen { halfOpenConnections.append(halfOpen) } else { handle(.closed(session)) }
    }
  }

  /// Disconnects a client, for a moment or until the others have committed for a while.
  private func takeOffline(_ client: ClientNode?) {
    if let client, client.link.session != nil {
      disconnect(client)
      if random.chance(40) {
        offlineClients.add(client.number, below: recorder.revision + Revision(3 + random.below(12)))
      }
    }
  }

  /// Delivers a message that a client sent before it was cut off, or lets the server notice the loss.
  func advanceHalfOpenConnection() {
    if halfOpenConnections.isEmpty { return }
    let index = random.below(halfOpenConnections.count)
    let session = halfOpenConnections[index].session
    if !halfOpenConnections[index].up.isEmpty, random.chance(70), server?.paused.contains(session) == false {
      trace("up from the lost connection \(session)")
      receive(halfOpenConnections[index].up.removeFirst(), from: session)
    } else {
      trace("the server notices that connection \(session) is lost")
      halfOpenConnections.remove(at: index)
      handle(.closed(session))
    }
  }

  // MARK: - The server

  private func startServer() throws {
    var options = SQLiteStore.Options()
    let ids = ids
    options.random = { ids.random.next() }
    if let bug { options.hooks = bug.storeHooks }
    options.commitLog = serverLog?.open
    options.gatheredCommits = 4
    options.heldLogBytes = ServerLog.heldBytes
    if let entries = follower?.entries { options.didCommit = { entries.append($0) } }
    options.maximumReaders = 1
    // A low limit, so that searches use both the full-text index and the changes that are not indexed yet, and that
    // crashes occur between the two.
    options.wordLimit = 5
    // A low limit, so that most batches have several slices and some are ordinary commits.
    options.sliceObjects = 3
    options.prunedCommits = 4
    let store: SQLiteStore
    do {
      store = try SQLiteStore(directory: directory, model: model, options: options)
    } catch {
      throw Failure(seed: seed, step: step, reason: "the store can't be opened: \(error)")
    }
    server = try ServerNode(store: store, older: versions.olderModels, bug: bug)
    handle(.tick(clock.monotonic))
    try recordCommits()
    if clock.jumps { clock.started(head: recorder.revision, newest: recorder.records.last?.time) }
  }

  /// - Parameter examine: examines the files as they are on disk before the server restarts.
  func crashServer(_ examine: () throws -> Void = {}) throws {
    trace("the server crashes after \(CrashableFiles.syncs(directory)) syncs")
    for client in clients { client.disconnect() }
    (sessions, halfOpenConnections) = ([:], [])
    CrashableFiles.crash(directory)
    // Closes the connections of the store, so that they can no longer write.
    server = nil
    CrashableFiles.recover(directory)
    serverLog?.disk.recover()
    try examine()
    try startServer()
    if let store = server?.store { try follower?.serverDidStart(store) }
  }

  func handle(_ event: HubEvent?) {
    guard let event, var node = server else { return }
    server = nil
    var actions = [HubAction]()
    node.hub.time = clock.wall
    node.hub.handle(event, into: &actions)
    for action in actions { perform(action, &node) }
    server = node
  }

  private func perform(_ action: HubAction, _ node: inout ServerNode) {
    switch action {
    case .send(let frame, let id): deliver(frame, to: id)
    case .broadcast(let frame, let ids): for id in ids { deliver(frame, to: id) }
    case .commit(let ticket, let request): node.commits.append((ticket, request))
    case .keepRows(let ticket, let rows, let request): node.keepRows(rows, ticket, request)
    case .dropRows(let ticket): node.keptRows[ticket] = nil
    case .assignRows(let rows, let ticket): node.keptRows[ticket] = node.keptRows.removeValue(forKey: rows)
    case .cancelBatch(let ticket): node.cancelled.insert(ticket)
    case .read(let ticket, let request, let session, let number):
      node.jobs.append(.read(ticket, request, session, number))
    case .collect(let ticket, let fetch, let visibility, _): node.jobs.append(.collect(ticket, fetch, visibility))
    case .continueOrder(let ticket): node.inbox.append(.continueOrder(ticket))
    case .discard, .audit: break
    case .continueRead(let ticket):
      // A finished or cancelled read ignores further credit.
      node.streams.modifyIfPresent(ticket) { $0.credit += 1 }
      node.release(ticket)
    case .cancelRead(let ticket): node.cancelRead(ticket)
    case .history(let ticket, let after, let through): node.jobs.append(.history(ticket, after, through))
    case .watch(let query, let number, let visibility):
      node.store.watch(query, number: number, seenBy: visibility)
    case .unwatch(let number): node.store.unwatch(number)
    case .recordReferences, .recordAccess: preconditionFailure("the simulation's clients have no accounts")
    case .makeBrowserCode: preconditionFailure("the simulation's clients are no browsers")
    case .authenticate: preconditionFailure("the simulation's clients send no credentials")
    // Answered immediately from the commits of the node, because a read of the store would change the time at which it
    // finishes its groups.
    case .findReplica(let replica, let session):
      let known = node.sequences[replica].map { KnownReplica(lastSequence: $0) }
      var actions = [HubAction]()
      node.hub.handle(.foundReplica(.success(known), session: session), into: &actions)
      for action in actions { perform(action, &node) }
    case .recognize(let ticket, let token): node.jobs.append(.recognize(ticket, token))
    case .statistics(let ticket): node.jobs.append(.statistics(ticket))
    case .findHead: node.jobs.append(.head)
    case .pauseReading(let id): node.paused.insert(id)
    case .resumeReading(let id): node.paused.remove(id)
    case .close(let id):
      // The socket closes after its bytes have been read, so a later step cuts the link.
      if let number = sessions[id] { clients[number].link.closing = true }
    case .report(let failure, _): preconditionFailure("\(failure)")
    case .finished: break
    }
  }

  private func deliver(_ frame: [UInt8], to id: SessionID) {
    // The client of a session that was cut off receives nothing.
    if let number = sessions[id] { clients[number].link.down.append(frame) }
  }
}
