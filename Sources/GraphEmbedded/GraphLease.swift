import Foundation
import GraphClient
import GraphModel
import GraphStore
import Logging
import Synchronization

/// The parameters of an embedded graph.
struct GraphSource: Sendable {
  /// The folder, with links resolved.
  let folder: String
  let model: Model
  let options: EmbeddedGraph.Options
  let log: Logger

  /// Creates the folder and resolves links, so that a folder has one path.
  init(_ url: URL, model: Model, options: EmbeddedGraph.Options, log: Logger) async throws {
    let path = url.path
    guard url.isFileURL, !path.isEmpty, !path.utf8.contains(0), !url.absoluteString.contains("%00") else {
      throw StoreFailure(
        .inputOutput, "\(url) is not a folder of this computer", advice: "Give the file URL of a folder.")
    }
    do {
      try StoreFiles.prepare(directory: path)
    } catch let failure as StoreFailure {
      throw failure.withAdviceForPrograms
    }
    folder = StoreFiles.real(path)
    (self.model, self.options, self.log) = (model, options, log)
  }
}

/// Keeps an open graph open for one client, from its first connection until it is closed. The graph closes with its
/// last lease.
final class GraphLease: Sendable {
  private struct State {
    /// The graph; nil before the first connection, and after it could not be opened.
    var opening: Task<EmbeddedServer, any Error>?
    /// The end of this lease, which several callers may wait for.
    var ending: Task<Void, Never>?
    /// Whether a client has this lease.
    var isTaken: Bool
  }

  private let source: GraphSource
  private let state: Mutex<State>

  /// - Parameter isTaken: whether the lease is made for a client that asks for it.
  init(_ source: GraphSource, isTaken: Bool = false) {
    self.source = source
    state = Mutex(State(isTaken: isTaken))
  }

  /// Opens the graph, or joins the clients that have it open.
  /// - Throws: `StoreFailure` or `MigrationRefusal`; the next call tries again.
  @discardableResult
  func open() async throws -> EmbeddedServer {
    let opening = state.withLock { state in
      if state.ending != nil { return nil as Task<EmbeddedServer, any Error>? }
      let opening = state.opening ?? Self.opening(source)
      state.opening = opening
      return opening
    }
    guard let opening else { throw Refusal(.unavailable, "the client is closed") }
    do {
      return try await opening.value
    } catch {
      state.withLock { state in
        if state.opening == opening { state.opening = nil }
      }
      throw (error as? StoreFailure)?.withAdviceForPrograms ?? error
    }
  }

  private static func opening(_ source: GraphSource) -> Task<EmbeddedServer, any Error> {
    // Detached, because several clients wait for the graph: the cancellation of one must not end it for the others.
    Task.detached {
      try await OpenGraphs.shared.acquire(source.folder) {
        try await EmbeddedServer.start(
          in: source.folder, model: source.model, options: source.options, log: source.log)
      }
    }
  }

  /// The server that the client connects to.
  var server: LocalServer {
    LocalServer(
      // The client keeps the lease alive, so the lease ends with the client.
      connect: { try await self.open().connect() },
      clientDidClose: { await self.end() },
      forNewClient: { self.take().server })
  }

  /// Returns this lease for the first client, and a new one for each further client with the same options.
  private func take() -> GraphLease {
    let isTaken = state.withLock { state in
      defer { state.isTaken = true }
      return state.isTaken
    }
    return isTaken ? GraphLease(source, isTaken: true) : self
  }

  /// Ends the lease. After the last one, returns when the store is closed.
  func end() async {
    let ended = state.withLock { state in
      let ending = state.ending ?? Self.release(state.opening, source.folder)
      state.ending = ending
      return ending
    }
    await ended.value
  }

  /// A client that was never closed ends with the last reference to it.
  deinit {
    state.withLock { state in
      if state.ending == nil, state.opening != nil { state.ending = Self.release(state.opening, source.folder) }
    }
  }

  private static func release(_ opening: Task<EmbeddedServer, any Error>?, _ folder: String) -> Task<Void, Never> {
    // Detached, because it may start in the deinitializer, and because it must complete without the actor and the task
    // of the client.
    Task.detached {
      // A graph that could not be opened has no clients.
      if let opening, (try? await opening.value) != nil { await OpenGraphs.shared.release(folder) }
    }
  }
}

extension StoreFailure {
  /// The failure with advice for the author of a program, in place of advice about options of the daemon.
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
