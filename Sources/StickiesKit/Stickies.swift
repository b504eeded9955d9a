import GraphClient
import GraphModel
import GraphReplica
import GraphWire
import Logging
import StickiesModel

extension Stickies {
  /// Connects to the daemon at `address`, by default the user's own.
  /// - Parameter logger: receives the events of the connection; nil for none.
  /// - Throws: `ConnectFailure` if no daemon answers, `SecurityFailure` if it can't be trusted, `Refusal` if it refuses
  ///   this client.
  public static func connect(
    to address: ServerAddress? = nil, author: String? = nil, program: String = "stickies", reconnects: Bool = true,
    security: TransportSecurity = TransportSecurity(), logger: Logger? = nil, actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    return try await attempt(address) { address, actor in
      var options = options(author, program, reconnects, security, address)
      if let logger { options.logger = logger }
      return try await GraphClient.connect(
        to: address, model: StickiesModel.model, classes: StickiesModel.classes, options: options, actor: actor)
    }
  }

  /// Connects to the daemon at `address`, by default the user's own, and closes the client when the body returns or
  /// throws, or its task is cancelled. Unsaved edits are lost then.
  ///
  /// A cancellation has the effects that `GraphClient.withClient` describes.
  /// - Throws: `ConnectFailure`, `SecurityFailure` or `Refusal` of the connection, and any error of the body.
  @discardableResult
  public static func withClient<Result>(
    to address: ServerAddress? = nil, author: String? = nil, program: String = "stickies", reconnects: Bool = true,
    security: TransportSecurity = TransportSecurity(), logger: Logger? = nil, actor: isolated any Actor = #isolation,
    _ body: nonisolated(nonsending) (GraphClient) async throws -> Result
  ) async throws -> Result {
    try await connect(
      to: address, author: author, program: program, reconnects: reconnects, security: security, logger: logger
    ).closeAfter(body)
  }

  /// Connects to the daemon at `address`, by default the user's own, and adopts the model that it serves.
  /// - Throws: `ConnectFailure` if no daemon answers, `SecurityFailure` if it can't be trusted, `Refusal` if it refuses
  ///   this client or its model cannot be used.
  public static func connectToAnyModel(
    at address: ServerAddress? = nil, author: String? = nil, program: String = "stickies", reconnects: Bool = true,
    security: TransportSecurity = TransportSecurity(), actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    try await attempt(address) { address, actor in
      try await GraphClient.connect(
        to: address, options: options(author, program, reconnects, security, address), actor: actor)
    }
  }

  /// Connects with a token instead of the one that is stored for the server.
  /// - Throws: `ConnectFailure` if no daemon answers, `SecurityFailure` if it can't be trusted, `Refusal` if it refuses
  ///   the token.
  public static func connectToAnyModel(
    at address: ServerAddress? = nil, program: String = "stickies", token: String,
    security: TransportSecurity = TransportSecurity(), actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    try await attempt(address) { address, actor in
      var options = options(nil, program, false, security, address)
      options.credentials = .token(token)
      return try await GraphClient.connect(to: address, options: options, actor: actor)
    }
  }

  /// Connects to the daemon at `address`, by default the user's own, for a stored replica, which keeps its own
  /// transactions.
  /// - Parameter replica: the replica's id; nil for a new one.
  /// - Throws: `ConnectFailure` if no daemon answers, `SecurityFailure` if it can't be trusted, `Refusal` if it refuses
  ///   this client.
  package static func connectForReplica(
    _ replica: UniqueID?, to address: ServerAddress? = nil, security: TransportSecurity = TransportSecurity(),
    actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    try await attempt(address) { address, actor in
      var options = options(nil, "stickies sync", false, security, address)
      options.keptReplica = replica
      return try await GraphClient.connect(
        to: address, model: StickiesModel.model, classes: StickiesModel.classes, options: options, actor: actor)
    }
  }

  private static func options(
    _ author: String?, _ program: String, _ reconnects: Bool, _ security: TransportSecurity, _ address: ServerAddress
  ) -> GraphClient.Options {
    let environment = ProcessEnvironment.current
    var options = GraphClient.Options(author: author ?? environment.author)
    options.security = security
    if security.knownServers == nil {
      options.security.knownServers = KnownServers(path: environment.knownServersFile)
    }
    options.program = program
    options.reconnects = reconnects
    options.credentials = LoginFile(for: address).credentials
    return options
  }

  /// Connects to `address`, otherwise to `STICKIES_SERVER`, otherwise to the first default location where a daemon
  /// answers. A killed daemon does not remove its sockets, so after a failure the next location is tried.
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
