import Dispatch
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

@testable import GraphClient

/// Clients on actors of their own, without the main actor.
@Suite(.timeLimit(.minutes(1))) struct AnyActorTests {
  private struct NotConnected: Error {}

  /// An actor of a server-side program, with a client that it made.
  private actor Worker {
    private var client: GraphClient?

    private var connected: GraphClient {
      get throws {
        guard let client else { throw NotConnected() }
        return client
      }
    }

    func connect(to address: ServerAddress, author: String = "worker") async throws {
      try await connect(to: address, options: GraphClient.Options(author: author))
    }

    func connect(to address: ServerAddress, options: GraphClient.Options) async throws {
      client = try await GraphClient.connect(
        to: address, model: FixtureModel.model, classes: [Project.self], options: options)
    }

    /// Connects without a model of the program's own.
    func connectToAnyModel(at address: ServerAddress) async throws {
      client = try await GraphClient.connect(to: address, options: GraphClient.Options(author: "worker"))
    }

    func close() async { await client?.close() }

    func insert(_ title: String) async throws -> ObjectID {
      let client = try connected
      let project = Project(in: client.context)
      project["title"] = .string(title)
      project["year"] = .integer(2026)
      try await client.save()
      return project.id
    }

    func rename(_ id: ObjectID, _ title: String) async throws {
      let client = try connected
      guard let project = try await client.fetchOne(Project.self, id: id) else { throw NotConnected() }
      project["title"] = .string(title)
      try await client.save()
    }

    func title(of id: ObjectID) async throws -> String? {
      let client = try connected
      return try await client.fetchOne(Project.self, id: id)?.title
    }

    func count() async throws -> Int {
      let client = try connected
      guard let entity = client.context.model.entity(named: "Project") else { return 0 }
      return try await client.count(of: entity)
    }

    /// The titles of the first two snapshots; `change` runs between them.
    func liveTitles(_ change: @Sendable () async throws -> Void) async throws -> [[String]] {
      let client = try connected
      var titles = [[String]]()
      for try await projects in client.live(Project.self, sort: [\.title]) {
        titles.append(projects.map(\.title))
        if titles.count == 2 { break }
        try await change()
      }
      return titles
    }

    /// The titles at a revision, through faults.
    func titles(at revision: Revision, _ ids: [ObjectID]) async throws -> [String] {
      let past = try connected.graph(at: revision)
      let faults = past.context.faults(ids).compactMap { $0 as? Project }
      try await past.load(faults)
      return faults.map(\.title)
    }

    func undo() async throws { _ = try await connected.undo() }
  }

  private static func serve(_ body: @Sendable (ServerAddress) async throws -> Void) async throws {
    try await ServedGraph.serve { graph in try await body(graph.address) }
  }

  // MARK: - Without the main actor

  /// Runs a body while the main actor does nothing else, at most twenty seconds.
  private static func whileMainActorIsBusy(_ body: () async throws -> Void) async throws {
    let (beginnings, begins) = AsyncStream.makeStream(of: Void.self)
    let end = DispatchSemaphore(value: 0)
    let busy = Task { @MainActor in
      begins.finish()
      return Self.wait(for: end)
    }
    for await _ in beginnings {}
    do {
      try await body()
    } catch {
      end.signal()
      throw error
    }
    end.signal()
    #expect(await busy.value == .success, "the work waited for the main actor")
  }

  private static func wait(for end: DispatchSemaphore) -> DispatchTimeoutResult { end.wait(timeout: .now() + 20) }

  @Test func eightActorsWorkWhileMainActorIsBusy() async throws {
    try await Self.serve { address in
      try await Self.whileMainActorIsBusy {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<8 {
            group.addTask {
              let worker = Worker()
              try await worker.connect(to: address, author: "worker \(number)")
              for step in 0..<20 {
                let id = try await worker.insert("\(number).\(step)")
                #expect(try await worker.title(of: id) == "\(number).\(step)")
              }
              await worker.close()
            }
          }
          try await group.waitForAll()
        }
        let observer = Worker()
        try await observer.connect(to: address)
        #expect(try await observer.count() == 160)
        await observer.close()
      }
    }
  }

  @Test func liveQueriesPastAndUndoNeedNoMainActor() async throws {
    try await Self.serve { address in
      try await Self.whileMainActorIsBusy {
        let (reader, writer) = (Worker(), Worker())
        try await reader.connect(to: address)
        try await writer.connect(to: address)
        let id = try await writer.insert("one")
        let titles = try await reader.liveTitles { try await writer.rename(id, "two") }
        #expect(titles == [["one"], ["two"]])
        #expect(try await reader.titles(at: 1, [id]) == ["one"])
        try await writer.undo()
        #expect(try await reader.title(of: id) == "one")
        await reader.close()
        await writer.close()
      }
    }
  }

  @Test func metricsNeedNoMainActor() async throws {
    try await Self.serve { address in
      let metrics = RecordedMetrics()
      try await Self.whileMainActorIsBusy {
        let worker = Worker()
        var options = GraphClient.Options(author: "worker")
        options.metricsFactory = metrics
        try await worker.connect(to: address, options: options)
        let id = try await worker.insert("one")
        #expect(try await worker.title(of: id) == "one")
        await worker.close()
      }
      for operation in ["connect", "save", "fetch"] {
        #expect(metrics["graph.client.\(operation).duration ok"].count == 1)
      }
      #expect(metrics["graph.client.connections"] == [1, -1])
    }
  }

  @Test func actorAdoptsServedModel() async throws {
    try await Self.serve { address in
      try await Self.whileMainActorIsBusy {
        let (writer, reader) = (Worker(), Worker())
        try await writer.connect(to: address)
        _ = try await writer.insert("one")
        try await reader.connectToAnyModel(at: address)
        #expect(try await reader.count() == 1)
        await reader.close()
        await writer.close()
      }
    }
  }

  // MARK: - Ids

  @Test func idIsHandedFromOneActorToAnother() async throws {
    try await Self.serve { address in
      let (one, two) = (Worker(), Worker())
      try await one.connect(to: address)
      try await two.connect(to: address)
      let id = try await one.insert("one")
      #expect(try await two.title(of: id) == "one")
      try await two.rename(id, "two")
      #expect(try await one.title(of: id) == "two")
      await one.close()
      await two.close()
    }
  }

  // MARK: - The end of an actor

  @Test func actorIsReleasedWhenItsClientIsClosed() async throws {
    try await Self.serve { address in
      weak var released: Worker?
      do {
        let worker = Worker()
        released = worker
        try await worker.connect(to: address)
        _ = try await worker.insert("one")
        await worker.close()
      }
      // The task that empties the mailbox ends in a turn of its own.
      while released != nil { await Task.yield() }
      #expect(released == nil)
    }
  }

  /// A client that is closed still refuses requests, and does not wait.
  @Test func closedClientOfActorRefusesRequests() async throws {
    try await Self.serve { address in
      let worker = Worker()
      try await worker.connect(to: address)
      let id = try await worker.insert("one")
      await worker.close()
      for request in [
        { _ = try await worker.insert("two") }, { _ = try await worker.titles(at: 1, [id]) },
        { _ = try await worker.liveTitles {} },
      ] as [@Sendable () async throws -> Void] {
        let refusal = await #expect(throws: Refusal.self) { try await request() }
        #expect(refusal?.code == .unavailable)
      }
    }
  }
}
