import Foundation
import GraphModel
import GraphServer
import GraphStore
import GraphStoreTools
import Logging

/// A store and its server in this process. Unlike a daemon's, the server has no addresses.
package struct EmbeddedServer: Sendable {
  private let connections: LocalConnections
  private let running: Task<Void, any Error>
  private let log: Logger

  /// Opens the store in a folder, after a migration if it has an earlier version, and starts its server.
  /// - Throws: `StoreFailure` or `MigrationRefusal`; then the store is closed.
  static func start(
    in folder: String, model: Model, options: EmbeddedGraph.Options, log: Logger
  ) async throws -> EmbeddedServer {
    let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
    if !options.earlierModels.isEmpty, access(folder + "/" + StoreFiles.name, F_OK) == 0 {
      let report = try StoreMigration(directory: folder, models: options.earlierModels + [model], now: now).run()
      if report.revision > 0 {
        log.info("the store was migrated", metadata: ["from": "\(report.from)", "to": "\(report.to)"])
      }
    }
    var storeOptions = SQLiteStore.Options()
    storeOptions.created = now
    storeOptions.commitLog = SQLiteStore.localLog(in: folder)
    let store = try SQLiteStore(directory: folder, model: model, options: storeOptions, log: log)
    var configuration = GraphServer.Configuration(addresses: [], name: "embedded")
    configuration.olderModels = options.earlierModels
    configuration.history = options.history
    return try await serve(store, configuration, log: log)
  }

  /// Starts the server of an open store, which it closes at its end.
  /// - Throws: `StoreFailure`; then the store is closed.
  package static func serve(
    _ store: any GraphStoring, _ configuration: GraphServer.Configuration, log: Logger
  ) async throws -> EmbeddedServer {
    let (started, starts) = AsyncStream.makeStream(of: LocalConnections.self)
    var server = GraphServer(store: store, configuration: configuration, log: log)
    server.acceptsLocally = { starts.yield($0) }
    // Detached: the graph outlives the task that opens it, and the shutdown of a service that opens it must not shut it
    // down.
    let running = Task.detached { [server] in
      // Otherwise a server that can't start would leave the caller waiting.
      defer { starts.finish() }
      try await server.run()
    }
    guard let connections = await started.first(where: { _ in true }) else {
      let result = await running.result
      try store.close()
      try result.get()
      return try invariant(nil, "a server that ends without an error has started")
    }
    return EmbeddedServer(connections: connections, running: running, log: log)
  }

  /// Makes a connection to the server.
  /// - Returns: the descriptor of the client's end, which the caller closes.
  package func connect() async throws -> CInt {
    let pair = try SocketPair()
    do {
      try await connections.adopt(pair.server)
    } catch {
      close(pair.client)
      throw error
    }
    return pair.client
  }

  /// Finishes accepted requests and closes the store.
  package func stop() async {
    running.cancel()
    do {
      try await running.value
    } catch {
      log.error("the graph can't be closed properly", metadata: ["failure": "\(error)"])
    }
  }
}
