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
  private let client: GraphClient

  /// The service of a connected client, which it closes.
  public init(_ client: GraphClient) { self.client = client }

  /// Returns after a graceful shutdown or a cancellation, when the client is closed.
  /// - Throws: `Refusal` when the client was closed by the server, or by another caller.
  public func run() async throws {
    for await _ in await client.states.cancelOnGracefulShutdown() {}
    // Unless the program shuts down, the states end only when the client is closed.
    if let ending = await client.ending, !Task.isCancelled, !Task.isShuttingDownGracefully { throw ending }
    await client.close()
  }
}
