import GraphClient
import GraphServer
import GraphTesting
import GraphWire
import Logging

/// A store of a test that a real server of this process serves to users with accounts.
@MainActor
enum ServedStore {
  /// Serves the store on a Unix socket while `body` runs, and closes it.
  static func serve(
    _ store: TestStore, _ accounts: any Authenticating, _ body: (ServerAddress) async throws -> Void
  ) async throws {
    let address = ServerAddress.unix(path: store.directory.path + "/socket")
    let (listening, listens) = AsyncStream.makeStream(of: Void.self)
    var configuration = GraphServer.Configuration(addresses: [address], name: "tests")
    configuration.authenticator = accounts
    let server = GraphServer(
      store: store.store, configuration: configuration, log: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() },
      ready: { _ in listens.finish() })
    let running = Task.detached {
      // Otherwise a server that can't start would leave the test waiting.
      defer { listens.finish() }
      try await server.run()
    }
    for await _ in listening {}
    do {
      try await body(address)
    } catch {
      running.cancel()
      _ = await running.result
      throw error
    }
    running.cancel()
    try await running.value
  }

  /// A client that logs in with a token.
  static func connect(_ token: String, to address: ServerAddress, _ store: TestStore) async throws -> GraphClient {
    var options = GraphClient.Options(author: "eve")
    options.credentials = .token(token)
    return try await GraphClient.connect(to: address, model: store.model, options: options)
  }
}
