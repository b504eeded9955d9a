import Foundation
import GraphHTTP
import GraphHub
import GraphModel
import GraphServer
import GraphStore
import GraphTesting
import GraphWire
import Logging
import Testing

/// A real store that a real server of this process serves over HTTP, on a free port.
struct ServedHTTP: Sendable {
  let port: Int
  let model: Model
  /// The port of `/metrics`.
  let metricsPort: Int

  /// Serves an empty graph, or the store of a test, while `body` runs, and closes the store.
  /// - Parameter model: the model of the empty graph; nil for the company's.
  static func serve(
    _ existing: TestStore? = nil, model given: Model? = nil, authenticator: (any Authenticating)? = nil,
    logins: (any BrowserLogins)? = nil, links: (any ShareLinks)? = nil, publicURL: String? = nil,
    directory: TemporaryDirectory? = nil, limits: HubLimits = HubLimits(), app: WebApp? = nil,
    maximumConnections: Int? = nil, unfinishedBodies: Int? = nil, _ body: (ServedHTTP) async throws -> Void
  ) async throws {
    let model = if let given { given } else { try existing?.model ?? Fixtures.company() }
    let directory = try existing?.directory ?? directory ?? TemporaryDirectory()
    let store = try existing?.store ?? SQLiteStore(directory: directory.path, model: model)
    let log = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    var configuration = HTTPInterface.Configuration(host: "127.0.0.1", port: 0, author: "ann")
    configuration.publicURL = publicURL.flatMap { PublicURL(parsing: $0) }
    configuration.app = app
    configuration.cookieName = "stickies"
    if let maximumConnections { configuration.maximumConnections = maximumConnections }
    if let unfinishedBodies { configuration.unfinishedBodies = unfinishedBodies }
    let interface = HTTPInterface(configuration: configuration, log: log)
    let metrics = MetricsInterface(
      host: "127.0.0.1", port: 0, publicURL: configuration.publicURL, http: interface, log: log)
    var served = GraphServer.Configuration(addresses: [.unix(path: directory.path + "/socket")], name: "tests")
    served.authenticator = authenticator
    served.limits = limits
    served.browserLogins = logins
    served.shareLinks = links
    let (listening, listens) = AsyncStream.makeStream(of: Void.self)
    var server = GraphServer(
      store: store, configuration: served, log: log,
      ready: { _ in
        listens.yield()
        listens.finish()
      })
    server.interfaces = [interface, metrics]
    let serving = server
    let running = Task.detached {
      // Otherwise a server that can't start would leave the caller waiting.
      defer { listens.finish() }
      try await serving.run()
    }
    for await _ in listening {}
    let address = try #require(interface.address, "the interface listens")
    let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
    let path = try #require(metrics.address?.split(separator: ":").last, "the metrics have an address")
    let metricsPort = try #require(Int(path.prefix { $0 != "/" }))
    do {
      try await body(ServedHTTP(port: port, model: model, metricsPort: metricsPort))
    } catch {
      running.cancel()
      try await running.value
      throw error
    }
    running.cancel()
    try await running.value
    withExtendedLifetime(directory) {}
  }

  // MARK: - Requests

  func connect() throws -> RawHTTPClient { try RawHTTPClient(port: port) }

  /// Sends a request on a connection of its own, and reads the complete answer.
  func send(
    _ method: String, _ target: String, _ fields: [String] = [], body: String? = nil
  ) async throws -> RawHTTPClient.Answer {
    let client = try connect()
    defer { client.close() }
    client.send(RawHTTPClient.request(method, target, port: port, fields, body: body))
    return try await client.answer(isForHead: method == "HEAD")
  }

  /// Requests the metrics.
  func metrics(_ method: String = "GET", _ target: String = "/metrics") async throws -> RawHTTPClient.Answer {
    let client = try RawHTTPClient(port: metricsPort)
    defer { client.close() }
    client.send(RawHTTPClient.request(method, target, port: metricsPort))
    return try await client.answer(isForHead: method == "HEAD")
  }

  func get(_ target: String, _ fields: [String] = []) async throws -> RawHTTPClient.Answer {
    try await send("GET", target, fields)
  }

  func post(_ target: String, _ body: String, _ fields: [String] = []) async throws -> RawHTTPClient.Answer {
    try await send("POST", target, ["Content-Type: application/json"] + fields, body: body)
  }

  func patch(_ target: String, _ body: String, _ fields: [String] = []) async throws -> RawHTTPClient.Answer {
    try await send("PATCH", target, ["Content-Type: application/json"] + fields, body: body)
  }

  /// Inserts a project, and returns its id.
  func insertProject(_ title: String = "one", fields: [String] = []) async throws -> String {
    let answer = try await post("/v1/objects/Project", #"{"title":"\#(title)","year":2026}"#, fields)
    #expect(answer.status == 201, "\(answer)")
    return try #require(answer.json["id"]?.stringValue)
  }
}
