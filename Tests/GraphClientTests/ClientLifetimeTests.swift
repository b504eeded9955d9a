import GraphClientService
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import GraphClient

extension FixtureModel: ServedModel {
  static var classes: [ManagedObject.Type] { [Project.self] }
}

/// The beginning and the end of a client: scopes, services, states and the log.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct ClientLifetimeTests {
  private struct Failure: Error {}

  // MARK: - Scopes

  @Test func clientIsClosedWhenItsScopeReturns() async throws {
    try await ServedGraph.serve { graph in
      var inside: GraphClient?
      let count = try await FixtureModel.withClient(to: graph.address, author: "ann") { client in
        inside = client
        #expect(client.state == .connected)
        _ = try await client.commit([graph.insertion("one")], policy: .error)
        return try await client.count(of: Project.self)
      }
      #expect(count == 1)
      #expect(inside?.state == .closed)
    }
  }

  @Test func clientIsClosedWhenItsScopeThrows() async throws {
    try await ServedGraph.serve { graph in
      var inside: GraphClient?
      await #expect(throws: Failure.self) {
        try await GraphClient.withClient(to: graph.address, model: graph.model, options: .init(author: "ann")) {
          inside = $0
          throw Failure()
        }
      }
      #expect(inside?.state == .closed)
    }
  }

  /// The save would wait until the server returns, which it does not.
  @Test func cancellationOfScopeEndsWaitingRequests() async throws {
    try await ServedGraph.serve { graph in
      let (states, happened) = AsyncStream.makeStream(of: GraphClient.State.self)
      let address = graph.address
      let insertion = graph.insertion("one")
      let scope = Task { @MainActor in
        try await FixtureModel.withClient(to: address, options: .init(author: "ann")) { client in
          client.stateDidChange = { happened.yield($0) }
          happened.yield(client.state)
          for await state in client.states where state != .connected { break }
          _ = try await client.commit([insertion], policy: .error)
        }
      }
      for await state in states where state == .connected { break }
      try await graph.stop()
      for await state in states where state == .reconnecting(attempt: 1) { break }
      scope.cancel()
      await #expect(throws: CancellationError.self) { try await scope.value }
      for await state in states where state == .closed { break }
    }
  }

  @Test func liveLoopInCancelledScopeEndsWithoutAnError() async throws {
    try await ServedGraph.serve { graph in
      let address = graph.address
      let (begun, begin) = AsyncStream.makeStream(of: Void.self)
      let scope = Task { @MainActor in
        try await FixtureModel.withClient(to: address, author: "ann") { client in
          for try await _ in client.live(Project.self) { begin.yield() }
          return 7
        }
      }
      for await _ in begun { break }
      scope.cancel()
      let value = try await scope.value
      #expect(value == 7)
    }
  }

  /// Inserts a project in a scope, cancels the scope's task, and lets its body return 7.
  private func valueOfCancelledScope(at address: ServerAddress, isSaved: Bool) async throws -> Int {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let scope = Task { @MainActor in
      try await FixtureModel.withClient(to: address, author: "ann") { client in
        let project = Project(in: client.context)
        project["title"] = .string("one")
        project["year"] = .integer(2026)
        if isSaved { try await client.save() }
        begin.yield()
        while !Task.isCancelled { await Task.yield() }
        return 7
      }
    }
    for await _ in begun { break }
    scope.cancel()
    return try await scope.value
  }

  @Test func bodyThatReturnsAtCancellationHasItsValueReturned() async throws {
    try await ServedGraph.serve { graph in
      let value = try await valueOfCancelledScope(at: graph.address, isSaved: true)
      #expect(value == 7)
    }
  }

  @Test func cancelledScopeWithUnsavedEditsThrows() async throws {
    try await ServedGraph.serve { graph in
      let address = graph.address
      await #expect(throws: CancellationError.self) { try await valueOfCancelledScope(at: address, isSaved: false) }
      let client = try await graph.connect()
      #expect(try await client.titles == [])
      await client.close()
    }
  }

  // MARK: - Connecting

  @Test func modelConnectsWithItsClasses() async throws {
    try await ServedGraph.serve { graph in
      let client = try await FixtureModel.connect(to: graph.address, author: "bob")
      let project = graph.insert("one", into: client)
      try await client.save()
      #expect(try await client.log(limit: 1).map(\.author) == ["bob"])
      #expect(client.context.model.hash == graph.model.hash && !project.id.isTemporary)
      await client.close()
    }
  }

  // MARK: - States

  @Test func statesFollowConnectionUntilItIsClosed() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      var states = client.states.makeAsyncIterator()
      #expect(await states.next() == .connected)
      try await graph.stop()
      #expect(await states.next() == .reconnecting(attempt: 1))
      try await graph.start()
      var next = await states.next()
      while case .reconnecting? = next { next = await states.next() }
      #expect(next == .connected)
      await client.close()
      #expect(await states.next() == .closed)
      #expect(await states.next() == nil)
      var late = client.states.makeAsyncIterator()
      #expect(await late.next() == .closed)
      #expect(await late.next() == nil)
    }
  }

  @Test func streamOfStatesEndsWithItsConsumer() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      for await state in client.states where state == .connected { break }
      while client.observers.streamCount > 0 { await Task.yield() }
      var kept = client.states.makeAsyncIterator()
      #expect(client.observers.streamCount == 1)
      _ = await kept.next()
      await client.close()
      #expect(client.observers.streamCount == 0)
    }
  }

  // MARK: - The log

  /// Keeps the events of a logger.
  private struct Recorder: LogHandler {
    let lines: EventList
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let all = metadata.merging(event.metadata ?? [:]) { $1 }
      let keys = all.keys.sorted().filter { $0 != "graph.address" }
      let values = keys.map { key in all[key].map { "\(key)=\($0)" } ?? key }
      lines.append("\(event.level) \(event.message) \(values.joined(separator: " "))")
    }
  }

  /// The lines of a log, from any thread.
  private final class EventList: Sendable {
    private let lines = Mutex([String]())

    var all: [String] { lines.withLock { $0 } }

    func append(_ line: String) { lines.withLock { $0.append(line) } }
  }

  @Test func connectionIsLogged() async throws {
    try await ServedGraph.serve { graph in
      let list = EventList()
      let client = try await graph.connect { $0.logger = Logger(label: "test") { _ in Recorder(lines: list) } }
      try await graph.stop()
      await client.wait { if case .reconnecting = $0 { true } else { false } }
      try await graph.start()
      await client.wait { $0 == .connected }
      await client.close()
      let lines = list.all.filter { !$0.hasPrefix("debug") }
      #expect(
        lines == [
          "info connected to the graph graph.author=ann graph.revision=0 graph.server=tests",
          "warning the connection to the graph is lost; connecting again graph.attempt=1 graph.author=ann",
          "info connected to the graph graph.author=ann graph.revision=0 graph.server=tests",
          "info the connection to the graph is closed graph.author=ann",
        ])
    }
  }

  @Test func ignoredEditOfDeletedObjectIsLogged() async throws {
    try await ServedGraph.serve { graph in
      let list = EventList()
      let client = try await graph.connect { $0.logger = Logger(label: "test") { _ in Recorder(lines: list) } }
      let project = graph.insert("one", into: client)
      try await client.save()
      client.context.delete(project)
      try await client.save()
      project["title"] = .string("two")
      #expect(project.isDeleted && !project.hasChanges && !client.context.hasChanges)
      let saved = try await client.save()
      #expect(saved == nil)
      await client.close()
      let lines = list.all.filter { $0.hasPrefix("debug an edit of a deleted object was ignored") }
      #expect(lines.count == 1 && lines.first?.hasSuffix("graph.property=title") == true)
      #expect(lines.first?.contains("graph.object=\(project.id)") == true)
    }
  }

  @Test func refusedConnectionIsLoggedWithItsReason() async throws {
    let list = EventList()
    let directory = try TemporaryDirectory()
    var options = GraphClient.Options(author: "ann")
    options.logger = Logger(label: "test") { _ in Recorder(lines: list) }
    await #expect(throws: ConnectFailure.self) {
      _ = try await FixtureModel.connect(to: .unix(path: directory.path + "/socket"), options: options)
    }
    #expect(list.all.count == 1)
    let beginning = "error the connection to the graph is closed graph.author=ann graph.reason=unavailable: no server"
    #expect(list.all.first?.hasPrefix(beginning) == true)
  }

  // MARK: - Services

  @Test func serviceClosesClientWhenProgramShutsDown() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let group = ServiceGroup(
        services: [GraphClientService(client)], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      async let running: Void = group.run()
      while client.observers.streamCount == 0 { await Task.yield() }
      #expect(client.state == .connected)
      await group.triggerGracefulShutdown()
      try await running
      #expect(client.state == .closed)
    }
  }

  @Test func serviceFailsWithItsClient() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect { $0.reconnects = false }
      let running = Task { try await GraphClientService(client).run() }
      while client.observers.streamCount == 0 { await Task.yield() }
      try await graph.stop()
      let refusal = await #expect(throws: Refusal.self) { try await running.value }
      #expect(refusal?.code == .unavailable)
      #expect(client.state == .closed)
    }
  }
}
