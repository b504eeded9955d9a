import GraphHub
import GraphModel
import GraphReplica
import GraphStore
import GraphStoreFaults
import GraphWire

/// A simulation of a server with accounts, in one thread, controlled by a seed. Its runs do not depend on those of
/// `Simulation`.
///
/// Users have roles on the store and on folders. The roles change while clients are connected and while they are not.
/// Objects move between folders by edits, batches, undos and restores. Replica ids are stolen and cloned.
///
/// The promises:
/// - A session receives no id and no text of an object that was never visible to its principal by the present rights.
///   The answers to fetches, reads of the past, history and counts equal those over the reduced graph, which has only
///   the objects that the principal sees.
/// - Each live query equals the answer over the reduced graph, at each revision that a client is shown and at rest.
/// - Each change that is committed was permitted to its principal, and a restore writes only values that its principal
///   can read in the past.
/// - After the server has compared the grants, all sessions have the present ones.
/// - The transactions of a replica are those of one principal, and no other principal learns their outcomes. An edit of
///   a cloned replica is committed under a new replica id.
///
/// `NaiveAccess` decides about rights, without the code of the server.
public final class AccessSimulation {
  /// The simulation's own state of a session.
  struct SessionState {
    /// The number of the client; nil for a thief.
    let client: Int?
    /// The principal, once the credential was verified.
    var principal: Principal?
    /// The rights; nil for the machine's owner.
    var access: NaiveAccess?
    /// The earlier rights of the session. Answers in progress, and results until they are loaded again, may still show
    /// them.
    var earlier = [NaiveAccess]()
  }

  /// A request to the writer, with the rights of its principal at that time; nil for the machine's owner.
  struct Attempt {
    let author: Principal
    let access: NaiveAccess?
    let isBatch: Bool
    let isUndo: Bool
    let restore: RestoreRequest?
  }

  /// A job of the thread that looks up accounts.
  enum AccountJob {
    case authenticate(String?, SessionID)
    case findReplica(UniqueID, SessionID)
    case recordAccess(String, Int64, Revision)
    case checkTokens([UInt64: Int64])
  }

  /// The generator of the random part of new ids, shared with the store, which uses it on this thread.
  private final class IDSource: @unchecked Sendable {  // One thread runs a simulation.
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed ^ 0xACCE) }
  }

  let seed: UInt64
  let directory: String
  let model: AccessModel
  let bug: AccessBug?
  var random: SeededRandom
  private let ids: IDSource
  var server: ServerNode?
  var recorder: GraphRecorder
  var accounts: SimulatedAccounts
  private(set) var clients = [AccessClient]()
  var sessions = [SessionID: SessionState]()
  /// Connections that their clients have lost without the server's notice, with the messages that were sent on them.
  var lostConnections = [(session: SessionID, up: [[UInt8]])]()
  var accountJobs = [AccountJob]()
  var thieves = [ReplicaThief]()
  var promises: AccessPromises
  private var lastSession: SessionID = 0
  var milliseconds: Int64 = 1_000
  /// The numbers of the last word and of the last temporary id.
  var lastWord = 0
  var lastTemporary: UInt64 = 0
  var step = 0
  var isQuiescing = false
  private let didTrace: ((String) -> Void)?
  /// The users and their clients: the first one has two.
  static let users = [0, 0, 1, 2]

  /// Creates the server and the clients, and the initial objects.
  /// - Parameters:
  ///   - directory: an empty directory for the store.
  ///   - trace: called with a line for each step.
  public init(seed: UInt64, directory: String, bug: AccessBug? = nil, trace: ((String) -> Void)? = nil) throws {
    (self.seed, self.directory, self.bug, didTrace) = (seed, directory, bug, trace)
    model = try AccessModel(seed: seed)
    random = SeededRandom(seed: seed ^ 0xACCE55)
    ids = IDSource(seed: seed)
    recorder = GraphRecorder(model: model.model)
    accounts = SimulatedAccounts(users: 3, bug: bug)
    promises = AccessPromises(model: model)
    CrashableFiles.watch(directory)
    try startServer()
    clients = [AccessClient(number: 0, user: nil, model: model)]
    for (index, user) in Self.users.enumerated() {
      clients.append(AccessClient(number: index + 1, user: user, model: model))
    }
    for client in clients { restart(client) }
    try populate()
  }

  deinit { CrashableFiles.unwatch(directory) }

  /// The count of each event so far; events that have not occurred are missing.
  public var eventCounts: [AccessEvent: Int] { promises.events }

  /// Runs this number of steps, with quiet moments in between and at the end.
  /// - Throws: `Simulation.Failure` for the first violation.
  public func run(steps: Int) throws {
    for number in 1...max(1, steps) {
      step = number
      milliseconds += Int64(random.below(20))
      try performStep()
      try checkClients()
      if number % 150 == 0 { try quiesce() }
    }
    try quiesce()
  }

  func check(_ reason: String?) throws {
    if let reason { throw Simulation.Failure(seed: seed, step: step, reason: reason) }
  }

  func trace(_ line: @autoclosure () -> String) {
    if let didTrace { didTrace("\(step) \(line())") }
  }

  // MARK: - Steps

  private func performStep() throws {
    for _ in 0..<8 { if try performStep(random.below(1_000)) { return } }
  }

  /// - Returns: whether there was something to do.
  private func performStep(_ kind: Int) throws -> Bool {
    switch kind {
    case 0..<170:
      guard let client = random.pick(clients) else { return false }
      let what = act(client)
      trace("client \(client.number): \(what)")
    case 170..<350:
      guard let client = random.pick(clients.filter { !$0.link.up.isEmpty }) else { return false }
      for _ in 0..<burst() { deliverUp(client) }
    case 350..<570:
      guard let client = random.pick(clients.filter { !$0.link.down.isEmpty }) else { return false }
      for _ in 0..<burst() { try deliverDown(client) }
    case 570..<680:
      guard server?.commits.isEmpty == false else { return false }
      try write()
    case 680..<790:
      guard server?.jobs.isEmpty == false else { return false }
      for _ in 0..<burst() { runJob() }
    case 790..<860:
      guard server?.hasSubmissions == true else { return false }
      for _ in 0..<burst() { handleSubmission() }
    case 860..<895: return try runAccountJob()
    case 895..<900: return actAsThief()
    case 900..<930:
      let away = clients.filter { $0.link.session == nil && mayConnect($0) }
      guard let client = random.pick(away) else { return false }
      connect(client)
    case 930..<945:
      guard let client = random.pick(clients.filter { $0.wantsReconnect || $0.link.closing }) else { return false }
      disconnect(client)
    case 945..<953:
      guard let client = random.pick(clients) else { return false }
      disconnect(client)
    case 953..<960: return advanceLostConnection()
    case 960..<980: return changeGrants()
    case 980..<984: return changeUser()
    case 984..<989: return actAsThief()
    case 989..<991: return cloneClient()
    case 991..<992: try crashServer()
    case 992..<997: checkTokens()
    default: handle(.tick(milliseconds))
    }
    return true
  }

  private func burst() -> Int { random.chance(50) ? 1 : 1 + random.below(12) }

  // MARK: - Clients

  /// Whether the server would accept the client.
  func mayConnect(_ client: AccessClient) -> Bool {
    if let user = client.user { accounts.users[user].mayConnect } else { true }
  }

  func credential(of client: AccessClient) -> String {
    if let user = client.user { accounts.users[user].credential } else { "" }
  }

  /// The name of the client's principal, which is the author of its commits in history.
  func name(of client: AccessClient) -> String {
    client.user.map { accounts.users[$0].principal.name } ?? "client \(client.number)"
  }

  func restart(_ client: AccessClient, as replica: UniqueID? = nil) {
    client.restart(credential: credential(of: client), name: name(of: client), as: replica, &random)
  }

  func connect(_ client: AccessClient) {
    if client.link.session != nil { return }
    // The client was rejected, or its user was replaced: both end the replica.
    if client.isRejected || client.credential != credential(of: client) { restart(client) }
    let session = newSession(client: client.number)
    trace("client \(client.number) connects as session \(session)")
    handle(.opened(session, of: client.user == nil ? .owner : .network))
    client.connect(as: session)
  }

  func newSession(client: Int?) -> SessionID {
    lastSession += 1
    sessions[lastSession] = SessionState(client: client)
    return lastSession
  }

  func disconnect(_ client: AccessClient) {
    let (lost, up) = (client.link.session, client.link.up)
    client.disconnect()
    guard let session = lost else { return trace("client \(client.number) is not connected") }
    trace("client \(client.number) is cut off")
    // Servers often notice a lost connection late.
    if !isQuiescing, random.chance(50) {
      lostConnections.append((session, up))
    } else {
      close(session)
    }
  }

  func close(_ session: SessionID) {
    sessions[session] = nil
    handle(.closed(session))
  }

  /// Delivers a message that a client sent before it was cut off, or lets the server notice the loss.
  func advanceLostConnection() -> Bool {
    guard !lostConnections.isEmpty else { return false }
    let index = random.below(lostConnections.count)
    let session = lostConnections[index].session
    if !lostConnections[index].up.isEmpty, random.chance(70), server?.paused.contains(session) == false {
      receive(lostConnections[index].up.removeFirst(), from: session)
    } else {
      lostConnections.remove(at: index)
      close(session)
    }
    return true
  }

  // MARK: - The server

  func startServer() throws {
    var options = SQLiteStore.Options()
    let ids = ids
    options.random = { ids.random.next() }
    options.maximumReaders = 1
    options.wordLimit = 5
    options.sliceObjects = 3
    let store = try SQLiteStore(directory: directory, model: model.model, options: options)
    server = try ServerNode(store: store, older: [], bug: nil, accounts: ServerNode.AccountsMode(bug: bug))
    handle(.tick(milliseconds))
    try recordCommits()
  }

  func crashServer() throws {
    trace("the server crashes")
    promises.record(.serverCrashed)
    for client in clients { client.disconnect() }
    (sessions, lostConnections, accountJobs, thieves) = ([:], [], [], [])
    CrashableFiles.crash(directory)
    server = nil
    CrashableFiles.recover(directory)
    try startServer()
  }

  func write() throws {
    guard let waiting = server?.commits, let cancelled = server?.cancelled, !waiting.isEmpty else {
      preconditionFailure("the server has something to write")
    }
    var count = 1 + random.below(waiting.count)
    // A batch is written alone, so that its state can be recorded.
    if let place = waiting.prefix(count).firstIndex(where: { if case .batch = $0.1 { true } else { false } }) {
      count = max(1, place)
    }
    trace("write \(count) of \(waiting.count)")
    let plan = BatchFaultPlan(.done, directory: directory, cancelled: cancelled)
    server?.write(groups: [count], reads: false, now: milliseconds * 1_000, faultPlan: plan)
    if bug == .namedInvisible { nameHolders() }
    try recordCommits()
  }

  func recordCommits() throws {
    guard let store = server?.store else { preconditionFailure("the server has started") }
    for record in try recorder.catchUp(with: store) { try check(promises.record(record, recorder)) }
  }

  /// Handles an event of the loop.
  func handle(_ event: HubEvent?) {
    if let event, var node = server {
      server = nil
      var actions = [HubAction]()
      node.hub.time = milliseconds * 1_000
      node.hub.handle(event, into: &actions)
      for action in actions { perform(action, &node) }
      server = node
    }
  }
}
