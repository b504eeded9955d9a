import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Metrics
import Testing
import Tracing

@testable import GraphClient

/// The measurements of a client, as the metrics and the tracer of its program receive them.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct InstrumentsTests {
  /// A key of the task's context, as a tracer of a framework has one.
  private enum Request: ServiceContextKey {
    typealias Value = String
  }

  // MARK: - Metrics

  @Test func connectFetchAndSaveAreTimed() async throws {
    try await ServedGraph.serve { graph in
      let metrics = RecordedMetrics()
      let client = try await graph.connect { $0.metricsFactory = metrics }
      #expect(metrics["graph.client.connect.duration ok"].count == 1)
      #expect(metrics["graph.client.connections"] == [1])
      _ = graph.insert("one", into: client)
      try await client.save()
      _ = try await client.commit([graph.insertion("two")], policy: .error)
      _ = try await client.batchUpdate(graph.project, set: [(graph.year, .value(.integer(2027)))])
      #expect(try await client.titles == ["one", "two"])
      #expect(metrics["graph.client.save.duration ok"].count == 3)
      #expect(metrics["graph.client.fetch.duration ok"].count == 1)
      #expect(metrics["graph.client.fetch.duration ok"].allSatisfy { $0 > 0 })
      await client.close()
      #expect(metrics["graph.client.connections"] == [1, -1])
    }
  }

  @Test func outcomesOfFailuresAreDimensions() async throws {
    try await ServedGraph.serve { graph in
      let metrics = RecordedMetrics()
      let client = try await graph.connect { $0.metricsFactory = metrics }
      try await graph.insertMany(3_000, by: client)
      _ = try await client.commit([graph.insertion("one")], policy: .error)
      await #expect(throws: Refusal.self) { try await client.commit([graph.insertion("one")], policy: .error) }
      #expect(metrics["graph.client.save.duration refused"].count == 1)
      // Released before its end, and in the middle.
      _ = client.images(of: graph.project)
      #expect(metrics["graph.client.fetch.duration cancelled"].count == 1)
      let chunk = try await client.images(of: graph.project).nextChunk()
      #expect(chunk != nil)
      #expect(metrics["graph.client.fetch.duration cancelled"].count == 2)
      await client.close()
      await #expect(throws: Refusal.self) { try await client.count(of: graph.project) }
      #expect(metrics["graph.client.fetch.duration unavailable"].count == 1)
      #expect(metrics["graph.client.fetch.duration ok"].isEmpty)
    }
  }

  @Test func failedConnectionIsTimed() async throws {
    let (metrics, spans) = (RecordedMetrics(), RecordedSpans())
    let directory = try TemporaryDirectory()
    var options = GraphClient.Options(author: "ann")
    (options.metricsFactory, options.tracer) = (metrics, spans)
    let nowhere = ServerAddress.unix(path: directory.path + "/socket")
    await #expect(throws: ConnectFailure.self) {
      _ = try await GraphClient.connect(to: nowhere, model: FixtureModel.model, options: options)
    }
    // A client that adopts the server's model connects in another way.
    await #expect(throws: ConnectFailure.self) { _ = try await GraphClient.connect(to: nowhere, options: options) }
    #expect(metrics.names == ["graph.client.connect.duration unavailable"])
    #expect(metrics["graph.client.connect.duration unavailable"].count == 2)
    #expect(spans.ended.map(\.operationName) == ["graph.connect", "graph.connect"])
    #expect(spans.ended.map(\.failure) == ["error unavailable", "error unavailable"])
  }

  @Test func reconnectionIsCountedAndTimed() async throws {
    try await ServedGraph.serve { graph in
      let (metrics, spans) = (RecordedMetrics(), RecordedSpans())
      let client = try await graph.connect { ($0.metricsFactory, $0.tracer) = (metrics, spans) }
      try await graph.stop()
      await client.wait { if case .reconnecting = $0 { true } else { false } }
      #expect(metrics["graph.client.connections"] == [1, -1])
      #expect(spans.named("graph.reconnect").isEmpty, "the outage goes on")
      try await graph.start()
      await client.wait { $0 == .connected }
      #expect(metrics["graph.client.reconnects"] == [1])
      #expect(!metrics["graph.client.reconnect.attempts"].isEmpty)
      #expect(metrics["graph.client.reconnect.duration ok"].count == 1)
      #expect(metrics["graph.client.connections"] == [1, -1, 1])
      #expect(spans.named("graph.reconnect").map(\.endCount) == [1])
      // A client that is closed while it reconnects has not been connected again.
      try await graph.stop()
      await client.wait { if case .reconnecting = $0 { true } else { false } }
      await client.close()
      #expect(metrics["graph.client.reconnects"] == [1])
      #expect(metrics["graph.client.reconnect.duration cancelled"].count == 1)
      #expect(metrics["graph.client.connections"] == [1, -1, 1, -1])
    }
  }

  @Test func clientThatIsReleasedCountsNoLonger() async throws {
    try await ServedGraph.serve { graph in
      let metrics = RecordedMetrics()
      _ = try await graph.connect { $0.metricsFactory = metrics }
      // A call of the mailbox may hold the client for a turn.
      while metrics["graph.client.connections"].count < 2 { await Task.yield() }
      #expect(metrics["graph.client.connections"] == [1, -1])
    }
  }

  @Test func clientOfAnyModelCountsItsConnection() async throws {
    try await ServedGraph.serve { graph in
      let metrics = RecordedMetrics()
      var options = GraphClient.Options(author: "ann")
      options.metricsFactory = metrics
      let client = try await GraphClient.connect(to: graph.address, options: options)
      #expect(metrics["graph.client.connect.duration ok"].count == 1)
      #expect(metrics["graph.client.connections"] == [1])
      await client.close()
      #expect(metrics["graph.client.connections"] == [1, -1])
    }
  }

  @Test func lagOfLiveQueryIsRecordedForEachCommit() async throws {
    try await ServedGraph.serve { graph in
      let metrics = RecordedMetrics()
      let reader = try await graph.connect { $0.metricsFactory = metrics }
      let writer = try await graph.connect()
      var seen = 0
      for try await projects in reader.live(Project.self) {
        // The first result is no commit.
        #expect(metrics["graph.client.live.lag"].count == seen)
        #expect(projects.count == seen)
        if seen == 2 { break }
        seen += 1
        _ = try await writer.commit([graph.insertion("\(seen)")], policy: .error)
      }
      // Both clocks are this machine's.
      #expect(metrics["graph.client.live.lag"].allSatisfy { $0 >= 0 && $0 < 60_000_000_000 })
      await writer.close()
      await reader.close()
    }
  }

  // MARK: - Spans

  @Test func spansDescribeOperations() async throws {
    try await ServedGraph.serve { graph in
      let spans = RecordedSpans()
      let client = try await graph.connect { $0.tracer = spans }
      _ = try await client.commit([graph.insertion("one"), graph.insertion("two", number: 2)], policy: .error)
      #expect(try await client.titles == ["one", "two"])
      #expect(try await client.count(of: graph.project) == 2)
      #expect(
        spans.ended.map(\.operationName) == ["graph.connect", "graph.save", "graph.fetch", "graph.fetch"])
      #expect(spans.ended.allSatisfy { $0.kind == .client && $0.failure == nil && $0.endCount == 1 })
      #expect(spans.ended.allSatisfy { $0.text("graph.address") == graph.address.description })
      let save = try #require(spans.named("graph.save").first)
      #expect(["graph.revision", "graph.objects", "graph.conflicts"].map(save.text) == ["1", "2", "0"])
      let fetches = spans.named("graph.fetch")
      #expect(fetches.map { $0.text("graph.entity") } == ["Project", "Project"])
      #expect(fetches.map { $0.text("graph.result") } == ["objects", "count"])
      #expect(fetches.map { $0.text("graph.objects") } == ["2", "2"])
      await client.close()
    }
  }

  @Test func spanOfFailureHasCodeAndNoMessage() async throws {
    try await ServedGraph.serve { graph in
      let spans = RecordedSpans()
      let client = try await graph.connect { $0.tracer = spans }
      _ = try await client.commit([graph.insertion("one")], policy: .error)
      await #expect(throws: Refusal.self) { try await client.commit([graph.insertion("one")], policy: .error) }
      let save = try #require(spans.named("graph.save").last)
      #expect(save.failure == "error refused")
      #expect(save.text("graph.code") == "unique")
      await client.close()
    }
  }

  @Test func spanBelongsToTrace() async throws {
    try await ServedGraph.serve { graph in
      let spans = RecordedSpans()
      let client = try await graph.connect { $0.tracer = spans }
      var context = ServiceContext.topLevel
      context[Request.self] = "request 7"
      try await ServiceContext.withValue(context) {
        _ = graph.insert("one", into: client)
        try await client.save()
        _ = try await client.fetch(Project.self)
      }
      #expect(spans.named("graph.connect").map { $0.context[Request.self] } == [nil])
      #expect(spans.named("graph.save").map { $0.context[Request.self] } == ["request 7"])
      #expect(spans.named("graph.fetch").map { $0.context[Request.self] } == ["request 7"])
      await client.close()
    }
  }

  // MARK: - Without a backend

  @Test func nothingIsMeasuredWithoutBackend() {
    let instruments = ClientInstruments(.init(author: "ann"), address: .unix(path: "/nowhere"))
    func attributes() -> SpanAttributes {
      Issue.record("attributes of no span are built")
      return [:]
    }
    #expect(instruments.begin(.fetch, attributes()) == nil)
  }

  @Test func lagOfWrongClockIsBounded() {
    let metrics = RecordedMetrics()
    var options = GraphClient.Options(author: "ann")
    options.metricsFactory = metrics
    let instruments = ClientInstruments(options, address: .unix(path: "/nowhere"))
    func record(_ time: Timestamp) {
      instruments.recordLag(of: CommitUpdate(revision: 1, time: time, author: "bob", changes: []))
    }
    record(.max)
    record(.min)
    #expect(metrics["graph.client.live.lag"] == [0], "a time that can't be subtracted is no lag")
    record(0)
    #expect(metrics["graph.client.live.lag"].count == 2)
  }
}
