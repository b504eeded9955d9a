import Foundation
import GraphClient
import GraphModel
import GraphStore
import Logging
import Synchronization

/// One client's part in an open graph. The graph closes with its last lease.
final class GraphLease: Sendable {
  /// The folder of the graph, with links resolved.
  let folder: String
  private let graph: EmbeddedServer
  /// Opens the graph again for a further client, if it is closed by then.
  private let start: @Sendable () async throws -> EmbeddedServer
  /// Guards the end of this lease, which several callers may wait for.
  private let ending = Mutex<Task<Void, Never>?>(nil)

  /// Counts a client of a folder.
  private init(_ folder: String, start: @escaping @Sendable () async throws -> EmbeddedServer) async throws {
    graph = try await OpenGraphs.shared.acquire(folder, start)
    (self.folder, self.start) = (folder, start)
  }

  /// Opens the graph in a folder, or joins the clients that have it open.
  static func open(
    _ url: URL, model: Model, options: EmbeddedGraph.Options, log: Logger
  ) async throws -> GraphLease {
    try await advising {
      let folder = try location(of: url)
      return try await GraphLease(folder) {
        try await EmbeddedServer.start(in: folder, model: model, options: options, log: log)
      }
    }
  }

  private static func advising(_ body: () async throws -> GraphLease) async throws -> GraphLease {
    do { return try await body() } catch let failure as StoreFailure { throw failure.withAdviceForPrograms }
  }

  /// Creates the folder and resolves links, so that a folder has one path.
  private static func location(of url: URL) throws -> String {
    let path = url.path
    guard url.isFileURL, !path.isEmpty, !path.utf8.contains(0), !url.absoluteString.contains("%00") else {
      throw StoreFailure(
        .inputOutput, "\(url) is not a folder of this computer", advice: "Give the file URL of a folder.")
    }
    try StoreFiles.prepare(directory: path)
    return StoreFiles.real(path)
  }

  /// The server that the client connects to.
  var server: LocalServer {
    LocalServer(
      connect: { [graph] in try await graph.connect() },
      // The client keeps the lease alive, which ends with it.
      clientDidClose: { await self.end() },
      forAnotherClient: { [folder, start] in
        try await Self.advising { try await GraphLease(folder, start: start) }.server
      })
  }

  /// Returns when the client no longer counts; if it was the last one, when the store is closed.
  func end() async {
    let ended = ending.withLock { ending in
      if let ending { return ending }
      let task = Self.release(folder)
      ending = task
      return task
    }
    await ended.value
  }

  /// A client that was never closed ends with its program's last reference to it.
  deinit {
    if ending.withLock({ $0 == nil }) { _ = Self.release(folder) }
  }

  private static func release(_ folder: String) -> Task<Void, Never> {
    Task.detached { await OpenGraphs.shared.release(folder) }
  }
}

extension StoreFailure {
  /// The failure with advice for the author of a program, where it names options of the daemon.
  var withAdviceForPrograms: StoreFailure {
    var failure = self
    switch code {
    case .inUse:
      failure.advice =
        "One process opens a graph: connect to that process if it is a daemon, end it, or use another folder."
    case .modelDiffers:
      failure.advice =
        "Open the graph with the model that it was made with; an older version is migrated if "
        + "EmbeddedGraph.Options.earlierModels has it."
    case .notAStore: failure.advice = "Move the file away, or use another folder; it was not touched."
    case .inputOutput where advice.contains("--data"):
      failure.advice = "Use a folder; nothing was touched."
    default: break
    }
    return failure
  }
}
