import GraphWire
import NIOCore

/// A further interface to a server's sessions, with another protocol than the server's own addresses.
package protocol ServerInterface: Sendable {
  /// The addresses at which the interface listens, which follow the rules of the server's own.
  var addresses: [ServerAddress] { get }

  /// The URL at which the interface listens; nil if it does not.
  var address: String? { get }

  /// The URL of the application for browsers; nil if the interface serves none.
  var webAddress: String? { get }

  /// Listens, when the server can serve sessions.
  /// - Parameters:
  ///   - sessions: opens sessions until the server stops.
  ///   - group: the loops of the server: one, the hub's.
  /// - Throws: `StoreFailure` if it cannot listen; the server then does not start.
  func start(_ sessions: HubSessions, on group: any EventLoopGroup) async throws

  /// Stops accepting connections, finishes the requests that can be finished, and closes all connections.
  func stop() async
}
