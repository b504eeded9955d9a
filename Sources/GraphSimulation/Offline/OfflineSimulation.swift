import GraphHub
import GraphModel
import GraphReplicaStore
import GraphStore
import GraphStoreFaults

/// A simulation of replicas that work without their server, in one thread, controlled by a seed. Its runs do not depend
/// on those of the other simulations.
///
/// Each device has the production files, mirror and queue, and two processes, which edit and synchronize. They are
/// killed between any two steps, connections are cut at any message, replicas are copied and restored from old copies.
/// Roles are taken and given, and the server's model, history and store are migrated, pruned and restored.
///
/// The promises:
/// - An edit that a replica has acknowledged stays in its file until the server has committed all of it, or its user
///   discards it.
/// - Each edit is committed at most once, for each time that its user tries it and for each copy of its file.
/// - Nothing is deleted that no user has deleted, and nothing that was deleted is back.
/// - An edit replaces no value that its user has not seen, unless its merge policy allows that. This holds for values
///   that others have set since the server was restored, too.
/// - Once everything is sent, each replica shows what the server shows to its user.
public final class OfflineSimulation {
  /// The generator of the random part of new ids, shared with the store, which uses it on this thread.
  private final class IDSource: @unchecked Sendable {  // One thread runs a simulation.
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed ^ 0x0FF1) }
  }

  /// A backup of the server.
  struct Backup {
    let file: String
    let version: Int
    let present: OfflineHistory.Present
  }

  let seed: UInt64
  let directory: String
  let model: OfflineModel
  let bug: OfflineBug?
  var random: SeededRandom
  private let ids: IDSource
  var server: ServerNode?
  var accounts = SimulatedAccounts(users: 2, bug: nil)
  var history = OfflineHistory()
  /// The version of the server's model.
  var version = 0
  var backup: Backup?
  var devices = [OfflineDevice]()
  /// The client of the other users, who are always connected to the server.
  var others: ReplicaConnection
  var sessions = [SessionID: ReplicaConnection]()
  /// Connections that their clients have lost and that the server has not noticed, with what was sent on them.
  var lostConnections = [(session: SessionID, up: [[UInt8]])]()
  var accountJobs = [AccessSimulation.AccountJob]()
  private var lastSession: SessionID = 0
  private(set) var milliseconds: Int64 = 1_000
  /// The number of the last word of a text.
  var lastWord = 0
  /// The number of the last transaction of a process, which its replica replaces.
  var lastTransaction: UInt64 = 0
  private(set) var step = 0
  /// The count of each event so far; events that have not occurred are missing.
  public private(set) var eventCounts = [OfflineEvent: Int]()
  private let didTrace: ((String) -> Void)?

  /// The most devices.
  static let deviceCount = 4

  var served: Model { model.versions[version] }

  var now: Timestamp { milliseconds * 1_000 }

  /// Creates the server, with some objects, and two devices, each with a replica.
  /// - Parameters:
  ///   - directory: an empty directory for all files.
  ///   - trace: called with a line for each step.
  public init(seed: UInt64, directory: String, bug: OfflineBug? = nil, trace: ((String) -> Void)? = nil) throws {
    (self.seed, self.directory, self.bug, didTrace) = (seed, directory, bug, trace)
    model = try OfflineModel(seed: seed)
    random = SeededRandom(seed: seed ^ 0x0FF11E)
    ids = IDSource(seed: seed)
    others = ReplicaConnection(
      id: UniqueID(high: 1, low: 1), author: "bob", credential: "", model: model.versions[0])
    CrashableFiles.watch(serverDirectory)
    try startServer()
    accounts.setRole(.owner, of: 0, on: nil)
    accounts.setRole(random.chance(50) ? .editor : .owner, of: 1, on: nil)
    for _ in 0..<20 { try editAsOther() }
    for user in 0..<2 { try addDevice(user: user) }
  }

  deinit {
    for device in devices { device.closeFiles() }
    CrashableFiles.unwatch(serverDirectory)
  }

  var serverDirectory: String { directory + "/server" }

  /// Runs this number of steps, sends everything, and compares all replicas with the server.
  /// - Throws: `Simulation.Failure` for the first violation.
  public func run(steps: Int) throws {
    for number in 1...max(1, steps) {
      step = number
      milliseconds += 1 + Int64(random.below(20))
      do {
        try performStep()
        for device in devices { try checkFile(of: device) }
      } catch {
        try fail(error)
      }
    }
    do {
      try finish()
    } catch {
      try fail(error)
    }
  }

  private func fail(_ error: any Error) throws {
    if error is Simulation.Failure { throw error }
    try check("an error that no user can do anything about: \(error)")
  }

  func check(_ reason: String?) throws {
    if let reason { throw Simulation.Failure(seed: seed, step: step, reason: reason) }
  }

  func trace(_ line: @autoclosure () -> String) {
    if let didTrace { didTrace("\(step) \(line())") }
  }

  func count(_ event: OfflineEvent) { eventCounts[event, default: 0] += 1 }

  func newID() -> UniqueID { UniqueID(high: ids.random.next() >> 1 | 1, low: ids.random.next()) }

  func advanceClock() { milliseconds += 1 }

  // MARK: - Steps

  private func performStep() throws {
    switch random.below(100) {
    case 0..<38: for _ in 0..<(1 + random.below(3)) { try edit(random.element(of: devices)) }
    case 38..<50: try editAsOther()
    case 50..<52: try backUpOrRestore()
    case 52..<78:
      try startRun(random.element(of: devices))
      if random.chance(15) { try startRun(random.element(of: devices)) }
      try advanceRuns()
    case 78..<82: try settleParked(random.element(of: devices))
    case 82..<84: try undo(random.element(of: devices))
    case 84..<86: try changeState(random.element(of: devices))
    case 86..<88: try cloneDevice()
    case 88..<91: try keepOrRestoreCopy(random.element(of: devices))
    case 91..<94: try changeGrants()
    case 94..<95: try migrate()
    case 95..<96: upgrade(random.element(of: devices))
    case 96..<97: try prune()
    case 97..<99: try backUpOrRestore()
    default: try crashServer()
    }
  }

  /// Delivers messages and performs the steps of runs, at random, until no run is left or the step ends before.
  private func advanceRuns() throws {
    for _ in 0..<4_000 {
      let active = devices.flatMap { device in device.processes.filter { $0.run != nil }.map { (device, $0) } }
      guard let (device, process) = random.pick(active) else { return }
      advanceClock()
      switch random.below(1_000) {
      case 0..<6:
        trace("a process of device \(device.number) is killed")
        count(.runKilled)
        kill(process)
      case 6..<12:
        if let run = process.run { cut(run) }
      case 12..<18: try edit(random.element(of: devices))
      case 18..<24: try editAsOther()
      case 24..<26: try changeGrants()
      case 26..<27: try crashServer()
      case 27..<28: if random.chance(20) { return trace("runs go on later") }
      case 28..<400: try advance(device, process)
      default: try workServer()
      }
    }
    try check("the runs of \(devices.count) devices do not end")
  }

  // MARK: - The server

  func startServer() throws {
    var options = SQLiteStore.Options()
    let ids = ids
    options.random = { ids.random.next() }
    options.maximumReaders = 1
    options.wordLimit = 5
    let store = try SQLiteStore(directory: serverDirectory, model: served, options: options)
    server = try ServerNode(store: store, older: [], bug: nil, accounts: ServerNode.AccountsMode(bug: nil))
    handle(.tick(milliseconds))
    try recordCommits()
    others = ReplicaConnection(
      id: newID(), author: "bob", credential: "", model: served)
    let session = newSession(others)
    handle(.opened(session, of: .owner))
    others.connect(as: session)
  }

  func newSession(_ connection: ReplicaConnection) -> SessionID {
    lastSession += 1
    sessions[lastSession] = connection
    return lastSession
  }

  /// Ends the server: its connections close here and can no longer write.
  func stopServer() {
    for device in devices {
      for process in device.processes { if let run = process.run { run.connection.disconnect() } }
    }
    others.disconnect()
    (sessions, lostConnections, accountJobs) = ([:], [], [])
    server = nil
  }

  func crashServer() throws {
    trace("the server crashes")
    count(.serverCrashed)
    CrashableFiles.crash(serverDirectory)
    stopServer()
    CrashableFiles.recover(serverDirectory)
    try startServer()
  }

  /// Handles an event of the server's loop.
  func handle(_ event: HubEvent?) {
    if let event, var node = server {
      server = nil
      var actions = [HubAction]()
      node.hub.time = now
      node.hub.handle(event, into: &actions)
      for action in actions { perform(action, &node) }
      server = node
    }
  }
}
