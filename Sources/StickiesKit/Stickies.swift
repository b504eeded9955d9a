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
    let (address, options) = try target(address, author, program, reconnects)
    return try await GraphClient.connect(
      to: address, model: StickiesModel.model, classes: StickiesModel.classes, options: options)
  }

  /// Connects to the daemon at `address`, by default the user's own, whatever model it serves; the client takes it.
  /// - Throws: `ConnectFailure` when none answers, `Refusal` when it refuses this client or its model can't be used.
  @MainActor
  public static func connectToAnyModel(
    at address: ServerAddress? = nil, author: String? = nil, program: String = "stickies", reconnects: Bool = true
  ) async throws -> GraphClient {
    let (address, options) = try target(address, author, program, reconnects)
    return try await GraphClient.connect(to: address, options: options)
  }

  private static func target(
    _ address: ServerAddress?, _ author: String?, _ program: String, _ reconnects: Bool
  ) throws -> (ServerAddress, GraphClient.Options) {
    let environment = ProcessEnvironment.current
    var options = GraphClient.Options(author: author ?? environment.author)
    options.program = program
    options.reconnects = reconnects
    return (try address ?? environment.server ?? environment.defaultSocket, options)
  }
}
