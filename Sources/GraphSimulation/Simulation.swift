import GraphHub
import GraphModel
import GraphReplica
import GraphStore
import GraphWire

/// A bug that is planted to see whether the checkers catch it.
public enum PlantedBug: String, Sendable, CaseIterable {
  /// The store's, by the same names.
  case notSynchronous, replyBeforeCommit, forgottenTransactionID
  /// No live query and no window hears of an object that it loses.
  case lostRemoval
  /// Clients say of each update that it is of the newest revision, so that nothing moves their splices.
  case unmovedSplices
  /// Clients say of each update that its user saw what they were shown last.
  case forgottenBases
  /// The store's, by the same name.
  case unspreadPlaces
  /// The store's, by the same name.
  case lostCounts
  /// Whoever asks for the graph as it was gets it as it is.
  case pastOfToday
  /// A large batch does not say of which entities its objects are.
  case untoldBatch
  /// Nothing is found of what is asked for by ids.
  case forgottenFault
  /// The store's, by the same names.
  case forgottenPrunedID, forgottenFloor
  /// The server compares the numbers of revisions and nothing else.
  case forgottenFingerprint
  /// Clients do not hear that the store knows nothing of what they were shown.
  case unnoticedRestore
  /// A client of an older version is told names that its version does not have.
  case unsettledRead
  /// The last chunk of a read goes to the client past the hub, as those before it.
  case lastChunkPastTheHub

  var storeBug: SQLiteStore.PlantedBug? { SQLiteStore.PlantedBug(rawValue: rawValue) }
}

/// One hub, one real store and several replicas in one thread, under a seed: links that delay, cut and drop,
/// clients that come back while the server still believes in their old connection, and crashes of any part between
/// any two steps. A crash of the server leaves on disk what SQLite's own syncs had made
/// durable.
///
/// What is asserted: an acknowledged commit is never lost nor doubled, a refused one never there, revisions never go
/// back for a client, at every quiet moment each live query equals a fresh fetch, of what was typed into a text
/// nothing is gone that nobody deleted, lists are in the order that was asked for and everybody's is the same, counts
/// and rules hold of every object, nothing refers to nothing, and what was made has its time of birth for good; a batch
/// does what it says, all or nothing, whenever it is cut off; what is loaded, fetched in any form, and read of the
/// past, is what was taken down of the store then; what is restored is as it was; an undo takes the step that its user
/// means; a child context keeps to itself what is not confirmed; and while history is pruned under all that, what is
/// below its floor is refused and nothing else, and no edit takes another's without a word. Where the store is put back
/// to a backup, all of this holds of what it has then: clients notice, keep what they have not saved, and what was not
/// acknowledged lands once. Clients of an older version of the model see and say through a lens whatever the others do
/// without.
public final class Simulation {
  struct Ghost {
    let session: SessionID
    var up: [[UInt8]]
  }

  /// A promise that did not hold, with what it takes to see it again.
  public struct Failure: Error, CustomStringConvertible {
    /// The run that it happened in.
    public let seed: UInt64
    /// How far the run was.
    public let step: Int
    /// What did not hold.
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
  /// Connections that their clients have lost and the server has not, with what is still under way from each.
  var ghosts = [Ghost]()
  private var lastSession: SessionID = 0
  var storeOperator: StoreOperator
  var absences = Absences()
  var versions: VersionMix
  var clock: Int64 = 1_000
  var step = 0
  var recorder: GraphRecorder
  var happened = HappeningCounts()
  /// Undos right behind their steps that have been counted.
  var undoneSeen = 0
  var groupsSeen = 0
  /// Undos of steps of which some commits had been pruned.
  var undoneInPart = Set<TransactionID>()
  /// Objects that came back and have been counted.
  var returnsSeen = 0
  /// A quiet moment: everything comes to its end, and nothing is cut off.
  var isResting = false
  private let trace: ((String) -> Void)?

  /// The random half of new ids, from the seed as everything else; shared with the store, which asks on this thread.
  private final class IDSource: @unchecked Sendable {  // One thread runs a simulation.
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed ^ 0xABCD) }
  }

  /// - Parameters:
  ///   - directory: an empty folder for the store.
  ///   - trace: called with a line for each step.
  public init(
    seed: UInt64, directory: String, clients count: Int = 3, bug: PlantedBug? = nil,
    trace: ((String) -> Void)? = nil
  ) throws {
    self.seed = seed
    self.directory = directory
    self.bug = bug
    self.trace = trace
    versions = try VersionMix(seed: seed, bug: bug, clients: count)
    model = versions.served
    recorder = GraphRecorder(model: model)
    random = SeededRandom(seed: seed)
    storeOperator = StoreOperator(seed: seed)
    ids = IDSource(seed: seed)
    CrashableFiles.watch(directory)
    try startServer()
    for number in 0..<count {
      let lens = versions.lens(of: number)
      let client = ClientNode(number: number, model: lens?.old ?? model, lens: lens, bug: bug)
      client.restart(&random)
      clients.append(client)
    }
    try populate()
  }

  /// Something to work on from the first step.
  private func populate() throws {
    for client in clients { reconnect(client) }
    clients[0].populate(&random)
    try quiesce()
  }

  deinit { CrashableFiles.unwatch(directory) }

  /// How often each thing has happened so far; a thing that is missing never has.
  public var happenings: [Happening: Int] {
    var all = happened
    for client in clients { all.add(client.happened) }
    return all.counts
  }

  /// Runs so many steps, with a quiet moment now and then and one at the end.
  /// - Throws: `Failure` at the first promise that was broken.
  public func run(steps: Int) throws {
    for number in 1...max(1, steps) {
      step = number
      clock += Int64(random.below(20))
      try operate()
      try takeStep()
      try check(clients.lazy.compactMap(\.failure).first)
      // Behind a restore everybody has to catch up before it goes on.
      let hasOperator = StoreOperator.isThere(seed: seed, bug: bug)
      if number % (hasOperator ? 500 : 250) == 0 { try quiesce() }
    }
    try quiesce()
  }

  func check(_ reason: String?) throws {
    if let reason { throw Failure(seed: seed, step: step, reason: reason) }
  }

  func note(_ line: @autoclosure () -> String) {
    if let trace { trace("\(step) \(line())") }
  }

  // MARK: - Steps

  /// Something happens that can: where there is nothing to deliver or nobody to come back, something else does.
  private func takeStep() throws {
    for _ in 0..<8 { if try takeStep(random.below(1_000)) { return } }
  }

  /// - Returns: whether there was something to work on.
  private func takeStep(_ kind: Int) throws -> Bool {
    switch kind {
    case 0..<140:
      guard let client = random.pick(clients) else { return false }
      let what = estimate(client) ?? client.act(&random)
      note("client \(client.number): \(what)")
    case 140..<340:
      guard let client = random.pick(clients.filter { !$0.up.isEmpty }) else { return false }
      for _ in 0..<burst() { deliverUp(client) }
    case 340..<570:
      guard let client = random.pick(clients.filter { !$0.down.isEmpty }) else { return false }
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
      for _ in 0..<burst() { hear() }
    case 930..<940:
      guard !ghosts.isEmpty else { return false }
      haunt()
    case 940..<980:
      let away = clients.filter { $0.session == nil && !absences.holds($0.number, at: recorder.revision) }
      guard let client = random.pick(away) else { return false }
      reconnect(client)
    case 980..<990: leave(random.pick(clients))
    case 990..<992:
      guard let client = random.pick(clients) else { return false }
      cut(client)
      client.restart(&random)
      note("client \(client.number) dies")
    case 992..<996: try crashServer()
    default: feed(.tick(clock))
    }
    return true
  }

  /// How many of a kind come at once: mostly one, and now and then so many that nobody waits any more.
  private func burst() -> Int { random.chance(50) ? 1 : 1 + random.below(12) }

  func deliverUp(_ client: ClientNode?) {
    guard let client, let session = client.session, !client.up.isEmpty, server?.paused.contains(session) == false else {
      return
    }
    note("up \(client.number)")
    receive(client.up.removeFirst(), from: session)
  }

  private func receive(_ frame: [UInt8], from session: SessionID) {
    var decoder = FrameDecoder()
    decoder.append(frame)
    guard let bytes = try? decoder.next(), let message = try? ToServer(binary: bytes) else { return }
    feed(.received(bug == .forgottenFingerprint ? withoutFingerprint(message) : message, from: session))
  }

  func deliverDown(_ client: ClientNode?) throws {
    guard let client, let session = client.session, !client.down.isEmpty else { return }
    // Streams keep no message boundaries.
    let frame = client.down.removeFirst()
    note("down \(client.number) \(frame.count)")
    client.receive(frame)
    for line in client.told { note("client \(client.number): \(line)") }
    client.told = []
    feed(.drained(session, bytes: frame.count))
    try checkReads(of: client)
    try checkPruned(client)
  }

  func runJob() {
    guard let count = server?.jobs.count, count > 0, let job = server?.jobs.remove(at: random.below(count)) else {
      return
    }
    note("job")
    keepResume(job)
    server?.run(job)
  }

  /// The event loop takes something that a thread has submitted. The readers' threads and the others have a path each: which
  /// of them comes first is chance.
  func hear() {
    let hasOutputs = server?.outputs.isEmpty == false
    if server?.inbox.isEmpty == false, !hasOutputs || random.chance(50) {
      note("hear")
      return feed(server?.inbox.removeFirst())
    }
    guard hasOutputs else { return }
    note("hear a reader")
    let output = server?.takeOutput()
    if let (session, frame) = output?.frame { deliver(frame, to: session) }
    feed(output?.event)
  }

  func reconnect(_ client: ClientNode?) {
    guard let client, client.session == nil, server != nil else { return }
    lastSession += 1
    sessions[lastSession] = client.number
    note("client \(client.number) connects")
    keepReturn(of: client)
    keepAstray(client)
    feed(.opened(lastSession))
    client.connect(as: lastSession)
    client.keepThroughLens(.olderConnected)
  }

  func cut(_ client: ClientNode?) {
    guard let client, let session = client.session else { return }
    note("client \(client.number) is cut off")
    // A server often hears late that a client is gone; meanwhile that client comes back, and is there twice.
    let ghost = random.chance(50) ? Ghost(session: session, up: client.up) : nil
    client.disconnect()
    sessions[session] = nil
    if let ghost { ghosts.append(ghost) } else { feed(.closed(session)) }
  }

  /// A client is cut off, for a moment or until others have been at work for a while.
  private func leave(_ client: ClientNode?) {
    guard let client, client.session != nil else { return }
    cut(client)
    if random.chance(40) { absences.keep(client.number, below: recorder.revision + Revision(3 + random.below(12))) }
  }

  /// Something that a client sent before it was cut off arrives after all, or the server learns that it is gone.
  func haunt() {
    guard !ghosts.isEmpty else { return }
    let place = random.below(ghosts.count)
    let session = ghosts[place].session
    if !ghosts[place].up.isEmpty, random.chance(70), server?.paused.contains(session) == false {
      note("up from the lost connection \(session)")
      receive(ghosts[place].up.removeFirst(), from: session)
    } else {
      note("the server hears that connection \(session) is lost")
      ghosts.remove(at: place)
      feed(.closed(session))
    }
  }

  // MARK: - The server

  private func startServer() throws {
    var options = SQLiteStore.Options()
    let ids = ids
    options.random = { ids.random.next() }
    options.plantedBug = bug?.storeBug
    options.maximumReaders = 1
    // Few, so that both a fed index and what waits for it are met, and crashes fall between.
    options.wordLimit = 5
    // So a batch has several slices, and also is now and then an ordinary commit.
    options.sliceObjects = 3
    options.prunedCommits = 4
    let store = try SQLiteStore(directory: directory, model: model, options: options)
    server = try ServerNode(store: store, older: versions.olderModels, bug: bug)
    feed(.tick(clock))
    try takeDown()
  }

  /// - Parameter examine: looks at the files as the disk has them, before the daemon is there again.
  func crashServer(_ examine: () throws -> Void = {}) throws {
    note("the server crashes after \(CrashableFiles.syncs(directory)) syncs")
    for client in clients { client.disconnect() }
    (sessions, ghosts) = ([:], [])
    CrashableFiles.crash(directory)
    // The connections close here, and can write nothing any more.
    server = nil
    CrashableFiles.recover(directory)
    try examine()
    try startServer()
  }

  func feed(_ event: HubEvent?) {
    guard let event, var node = server else { return }
    server = nil
    var actions = [HubAction]()
    node.hub.time = clock * 1_000
    node.hub.handle(event, into: &actions)
    for action in actions { perform(action, &node) }
    server = node
  }

  private func perform(_ action: HubAction, _ node: inout ServerNode) {
    switch action {
    case .send(let frame, let id): deliver(frame, to: id)
    case .broadcast(let frame, let ids): for id in ids { deliver(frame, to: id) }
    case .commit(let ticket, let request): node.commits.append((ticket, request))
    case .keepRows(let ticket, let rows, let request): node.keep(rows, ticket, request)
    case .dropRows(let ticket): node.keptRows[ticket] = nil
    case .takeRows(let rows, let ticket): node.keptRows[ticket] = node.keptRows.removeValue(forKey: rows)
    case .cancelBatch(let ticket): node.cancelled.insert(ticket)
    case .read(let ticket, let request, let session, let number):
      node.jobs.append(.read(ticket, request, session, number))
    case .collect(let ticket, let fetch, _): node.jobs.append(.collect(ticket, fetch))
    case .continueOrder(let ticket): node.inbox.append(.continueOrder(ticket))
    case .discard: break
    case .continueRead(let ticket):
      node.streams[ticket]?.credit += 1
      node.release(ticket)
    case .cancelRead(let ticket): node.streams[ticket] = nil
    case .history(let ticket, let after, let through): node.jobs.append(.history(ticket, after, through))
    case .watch(let query, let number): node.store.watch(query, number: number)
    case .unwatch(let number): node.store.unwatch(number)
    case .recognize(let ticket, let token): node.jobs.append(.recognize(ticket, token))
    case .statistics(let ticket): node.jobs.append(.statistics(ticket))
    case .pauseReading(let id): node.paused.insert(id)
    case .resumeReading(let id): node.paused.remove(id)
    case .close(let id):
      // The socket closes once its bytes have been taken: the link is cut at a later step.
      if let number = sessions[id] { clients[number].closing = true }
    case .report(let failure, _): preconditionFailure("\(failure)")
    case .finished: break
    }
  }

  private func deliver(_ frame: [UInt8], to id: SessionID) {
    guard let number = sessions[id], clients.indices.contains(number) else { return }
    clients[number].down.append(frame)
  }
}
