import GraphClient
import GraphModel
import GraphReplica
import GraphWire

/// Connecting to a daemon, of the sticky-note model or of any.
public enum Stickies {
  /// This release.
  public static let version = "0.1.0"

  /// Connects to the daemon at `address`, by default the user's own.
  /// - Throws: `ConnectFailure` when none answers, `Refusal` when it refuses this client.
  @MainActor
  public static func connect(
    to address: ServerAddress? = nil, author: String? = nil, program: String = "stickies", reconnects: Bool = true
  ) async throws -> GraphClient {
    let options = options(author, program, reconnects)
    return try await attempt(address) { address in
      try await GraphClient.connect(
        to: address, model: StickiesModel.model, classes: StickiesModel.classes, options: options)
    }
  }

  /// Connects to the daemon at `address`, by default the user's own, whatever model it serves; the client takes it.
  /// - Throws: `ConnectFailure` when none answers, `Refusal` when it refuses this client or its model can't be used.
  @MainActor
  public static func connectToAnyModel(
    at address: ServerAddress? = nil, author: String? = nil, program: String = "stickies", reconnects: Bool = true
  ) async throws -> GraphClient {
    let options = options(author, program, reconnects)
    return try await attempt(address) { try await GraphClient.connect(to: $0, options: options) }
  }

  private static func options(_ author: String?, _ program: String, _ reconnects: Bool) -> GraphClient.Options {
    var options = GraphClient.Options(author: author ?? ProcessEnvironment.current.author)
    options.program = program
    options.reconnects = reconnects
    return options
  }

  /// Connects to `address`, else to that of `STICKIES_SERVER`, else to the first of the usual places where a daemon
  /// answers. A daemon that was killed leaves sockets behind, so a place that does not answer is not the last word.
  @MainActor
  private static func attempt(
    _ address: ServerAddress?, _ connect: (ServerAddress) async throws -> GraphClient
  ) async throws -> GraphClient {
    let environment = ProcessEnvironment.current
    if let address = try address ?? environment.server { return try await connect(address) }
    for place in environment.daemonPlaces {
      do {
        return try await connect(place.address)
      } catch is ConnectFailure {
        continue
      }
    }
    throw ConnectFailure(address: environment.defaultSocket, cause: "there is no daemon at any of the usual places")
  }
}
