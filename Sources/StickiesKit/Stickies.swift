import GraphClient
import GraphModel
import GraphReplica
import GraphWire

/// Connecting to a daemon of the sticky-note model.
public enum Stickies {
  /// This release.
  public static let version = "0.1.0"

  /// Connects to the daemon at `address`, by default the user's own.
  /// - Throws: `ConnectFailure` when none answers, `Refusal` when it refuses this client.
  @MainActor
  public static func connect(
    to address: ServerAddress? = nil, author: String? = nil, program: String = "stickies", reconnects: Bool = true
  ) async throws -> GraphClient {
    let environment = ProcessEnvironment.current
    var options = GraphClient.Options(author: author ?? environment.author)
    options.program = program
    options.reconnects = reconnects
    return try await GraphClient.connect(
      to: try address ?? environment.server ?? environment.defaultSocket, model: StickiesModel.model,
      classes: StickiesModel.classes, options: options)
  }
}
