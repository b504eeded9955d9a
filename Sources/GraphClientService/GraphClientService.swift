import GraphClient
import ServiceLifecycle

/// A client as a service of a server-side program. It runs until the program shuts down, and then closes the client.
///
/// ```swift
/// let client = try await CompanyModel.connect(to: server, author: "worker")
/// let group = ServiceGroup(
///   services: [GraphClientService(client), worker], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// A group shuts its services down in the reverse order: list the client before the services that use it.
public struct GraphClientService: Service {
  private let link: ClientLink

  /// The service of a connected client, which it closes. The client may belong to any actor.
  public init(_ client: GraphClient) { link = client.link }

  /// Returns after a graceful shutdown or a cancellation, when the client is closed.
  /// - Throws: `Refusal` when the client was closed by the server, or by another caller.
  public func run() async throws {
    for await _ in link.states.makeStream().cancelOnGracefulShutdown() {}
    // Unless the program shuts down, the states end only when the client is closed.
    if !Task.isCancelled, !Task.isShuttingDownGracefully { throw link.states.ending ?? Self.closedByProgram }
    await link.close()
  }

  private static let closedByProgram = Refusal(.unavailable, "the client was closed")
}
