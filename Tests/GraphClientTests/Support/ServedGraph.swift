import GraphClient
import GraphModel
import GraphReplica
import GraphServer
import GraphStore
import GraphTesting
import GraphWire
import Logging
import Synchronization
import Testing

/// A project of the company's model.
final class Project: ManagedObject {
  override class var entityName: String { "Project" }
}

/// A real store that a real server of this process serves, by default on a Unix socket.
@MainActor
final class ServedGraph {
  let model: Model
  let directory: TemporaryDirectory
  private(set) var address: ServerAddress
  private let certificate: ServerCertificate?
  let project: Entity
  let title: Property
  let year: Property
  private var running: Task<Void, any Error>?
  private let probe = Mutex<ServerProbe?>(nil)
  /// Verifies credentials; nil for a server without accounts.
  private let authenticator: (any Authenticating)?
  private let configure: ConfigureStore

  /// Sets options of the store in a directory.
  typealias ConfigureStore = @Sendable (_ options: inout SQLiteStore.Options, _ directory: String) -> Void

  private init(
    _ address: ServerAddress?, _ certificate: ServerCertificate?, _ authenticator: (any Authenticating)?,
    _ configure: @escaping ConfigureStore
  ) throws {
    (self.authenticator, self.configure) = (authenticator, configure)
    model = try Fixtures.company()
    directory = try TemporaryDirectory()
    self.address = address ?? .unix(path: directory.path + "/socket")
    self.certificate = certificate
    project = try #require(model.entity(named: "Project"))
    title = try #require(project.property(named: "title"))
    year = try #require(project.property(named: "year"))
  }

  /// Serves an empty graph while `body` runs.
  static func serve(
    at address: ServerAddress? = nil, _ certificate: ServerCertificate? = nil,
    authenticator: (any Authenticating)? = nil, store configure: @escaping ConfigureStore = { _, _ in },
    _ body: (ServedGraph) async throws -> Void
  ) async throws {
    let graph = try ServedGraph(address, certificate, authenticator, configure)
    try await graph.start()
    do {
      try await body(graph)
    } catch {
      try await graph.stop()
      throw error
    }
    try await graph.stop()
  }

  /// Opens the store and returns when the server listens.
  func start() async throws {
    var options = SQLiteStore.Options()
    configure(&options, directory.path)
    let store = try SQLiteStore(directory: directory.path, model: model, options: options)
    let (listening, listens) = AsyncStream.makeStream(of: ServerAddress.self)
    var configuration = GraphServer.Configuration(addresses: [address], name: "tests")
    configuration.certificate = certificate
    configuration.authenticator = authenticator
    var server = GraphServer(
      store: store, configuration: configuration, log: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() },
      ready: { addresses in
        for address in addresses { listens.yield(address) }
        listens.finish()
      })
    server.started = { [self] started in probe.withLock { $0 = started } }
    let serving = server
    running = Task.detached {
      // Otherwise a server that can't start would leave the caller waiting.
      defer { listens.finish() }
      try await serving.run()
    }
    // A further start listens on the same port.
    for await bound in listening { address = bound }
  }

  /// Shuts the server down and returns when the store is closed.
  func stop() async throws {
    guard let running else { return }
    self.running = nil
    running.cancel()
    try await running.value
  }

  /// The server's work in progress.
  func workInProgress() async throws -> ServerProbe.WorkInProgress {
    try await #require(probe.withLock { $0 }, "the server runs").workInProgress()
  }

  /// Waits until the server has no work in progress, at most ten seconds.
  func waitUntilIdle() async throws -> ServerProbe.WorkInProgress {
    try await #require(probe.withLock { $0 }, "the server runs").workWhenIdle(withinSeconds: 10)
  }

  // MARK: - Clients

  /// A client of the server, or of a proxy before it.
  func connect(
    to proxy: ServerAddress? = nil, configure: (inout GraphClient.Options) -> Void = { _ in }
  ) async throws -> GraphClient {
    var options = GraphClient.Options(author: "ann")
    options.firstPauseMilliseconds = 2
    options.lastPauseMilliseconds = 20
    configure(&options)
    return try await GraphClient.connect(
      to: proxy ?? address, model: model, classes: [Project.self, Step.self], options: options)
  }

  /// The insertion of a project of 2026.
  func insertion(_ name: String, number: UInt64 = 1) -> Change {
    Change(
      .insert, .temporary(number, entity: project.number),
      edits: [Edit(title.number, .set(.string(name))), Edit(year.number, .set(.integer(2026)))])
  }

  /// Inserts a project of 2026 into a client's context.
  func insert(_ name: String, into client: GraphClient) -> Project {
    let object = Project(in: client.context)
    object["title"] = .string(name)
    object["year"] = .integer(2026)
    return object
  }

  /// Commits a project "p" with a step.
  func insertStep(by client: GraphClient) async throws {
    let step = try #require(model.entity(named: "Step"))
    let reference = Edit(Step.projectNumber, .set(.object(.temporary(1, entity: project.number))))
    let insertion = Change(
      .insert, .temporary(2, entity: step.number), edits: [reference, Edit(Step.labelNumber, .set(.string("a")))])
    _ = try await client.commit([self.insertion("p"), insertion], policy: .error)
  }

  /// Runs `body` with a client that has the steps of a query when its connection is lost: at the fetch of their
  /// projects.
  func loseConnectionAtProjects(_ body: @MainActor (GraphClient) async throws -> Void) async throws {
    let writer = try await connect()
    try await insertStep(by: writer)
    let proxy = try CuttingProxy(to: address, cutAfter: nil)
    defer { proxy.stop() }
    let client = try await connect(to: proxy.address)
    proxy.cut(atFetchOf: project.number)
    try await body(client)
    #expect(proxy.wasCut)
    await client.close()
    await writer.close()
  }

  /// Fills the store with projects whose answer has several chunks.
  func insertMany(_ count: Int, by client: GraphClient) async throws {
    let text = String(repeating: "many words ", count: 20)
    let rows = (0..<count).map { [Value.string("\($0) \(text)"), .integer(2026)] }
    _ = try await client.batchInsert(project, [title, year], rows: rows)
  }
}

@MainActor
extension GraphClient {
  /// Returns when the client's state satisfies a condition, at once if it does already.
  func wait(until isReached: @escaping (State) -> Bool) async {
    if isReached(state) { return }
    await withCheckedContinuation { (reached: CheckedContinuation<Void, Never>) in
      stateDidChange = { [unowned self] state in
        guard isReached(state) else { return }
        stateDidChange = nil
        reached.resume()
      }
    }
  }

  var titles: [String] {
    get async throws {
      try await fetch(Project.self, where: "", sort: "title").compactMap { $0["title"].stringValue }
    }
  }
}
