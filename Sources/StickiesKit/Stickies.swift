import GraphClient
import GraphModel
import GraphReplica
import GraphWire
import StickiesModel

extension Stickies {
  /// Connects to the daemon at `address`, by default the user's own.
  /// - Throws: `ConnectFailure` if no daemon answers, `Refusal` if it refuses this client.
  public static func connect(
    to address: ServerAddress? = nil, author: String? = nil, program: String = "stickies", reconnects: Bool = true,
    actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    let options = options(author, program, reconnects)
    return try await attempt(address) { address, actor in
      try await GraphClient.connect(
        to: address, model: StickiesModel.model, classes: StickiesModel.classes, options: options, actor: actor)
    }
  }

  /// Connects to the daemon at `address`, by default the user's own, and closes the client when the body returns or
  /// throws, or its task is cancelled. Unsaved edits are lost then.
  /// - Throws: `ConnectFailure` or `Refusal` of the connection, and any error of the body.
  public static func withClient<Result>(
    to address: ServerAddress? = nil, author: String? = nil, program: String = "stickies", reconnects: Bool = true,
    actor: isolated any Actor = #isolation, _ body: nonisolated(nonsending) (GraphClient) async throws -> Result
  ) async throws -> Result {
    try await connect(to: address, author: author, program: program, reconnects: reconnects).closeAfter(body)
  }

  /// Connects to the daemon at `address`, by default the user's own, and adopts the model that it serves.
  /// - Throws: `ConnectFailure` if no daemon answers, `Refusal` if it refuses this client or its model cannot be
  ///   used.
  public static func connectToAnyModel(
    at address: ServerAddress? = nil, author: String? = nil, program: String = "stickies", reconnects: Bool = true,
    actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    let options = options(author, program, reconnects)
    return try await attempt(address) { address, actor in
      try await GraphClient.connect(to: address, options: options, actor: actor)
    }
  }

  private static func options(_ author: String?, _ program: String, _ reconnects: Bool) -> GraphClient.Options {
    var options = GraphClient.Options(author: author ?? ProcessEnvironment.current.author)
    options.program = program
    options.reconnects = reconnects
    return options
  }

  /// Connects to `address`, otherwise to `STICKIES_SERVER`, otherwise to the first default location where a daemon
  /// answers. A killed daemon leaves its sockets behind, so after a failure the next location is tried.
  private static func attempt(
    _ address: ServerAddress?, actor: isolated any Actor = #isolation,
    _ connect: (ServerAddress, isolated any Actor) async throws -> GraphClient
  ) async throws -> GraphClient {
    let environment = ProcessEnvironment.current
    if let address = try address ?? environment.server { return try await connect(address, actor) }
    for place in environment.daemonPlaces {
      do {
        return try await connect(place.address, actor)
      } catch is ConnectFailure {
        continue
      }
    }
    throw ConnectFailure(address: environment.defaultSocket, cause: "there is no daemon at any default location")
  }
}
