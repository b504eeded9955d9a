// Tests: RequestTests.swift, RequestGuardTests.swift
import GraphHub
import GraphModel
import GraphServer
import GraphWire
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import Synchronization

/// The HTTP interface of a server, for any model. docs/http.md describes it.
///
/// Hummingbird parses requests and writes answers, on the hub's loop. A session of the hub serves each request
/// (`RequestHandler`). The router is a table (`Route`) and not Hummingbird's, because answers must list the methods of
/// a resource.
package final class HTTPInterface: ServerInterface {
  /// The settings of an interface.
  package struct Configuration: Sendable {
    package var host: String
    /// 0 for any free port.
    package var port: Int
    /// Whether the server ends if it can't listen. Otherwise it logs a notice and runs without HTTP.
    package var isRequired = true
    /// The author of commits on a graph without accounts.
    package var author: String
    /// The URL at which a proxy serves the interface.
    package var publicURL: PublicURL?
    /// The name of the cookie of browsers, without the prefix or the port that is added for the host.
    package var cookieName = "graph"
    /// The application for browsers; nil for none.
    package var app: WebApp?
    /// The maximum number of open connections. Half of the descriptor limit applies if it is lower.
    package var maximumConnections = HTTPLimits.maximumConnections
    /// The maximum number of bytes of all bodies that have not arrived completely.
    package var unfinishedBodies = HTTPLimits.unfinishedBodies

    package init(host: String, port: Int, author: String) { (self.host, self.port, self.author) = (host, port, author) }
  }

  private struct Running {
    let listener: HTTPListener
    let pool: SessionPool
    let connections: ConnectionCounter
    let loop: any EventLoop
  }

  private let configuration: Configuration
  private let log: Logger
  /// Requests, connections and streams, for `/metrics`.
  package let counters = HTTPCounters()
  /// Set by `start`, cleared by `stop`; guarded by its mutex, because the address is read from any thread.
  private let running = Mutex<Running?>(nil)

  package init(configuration: Configuration, log: Logger) { (self.configuration, self.log) = (configuration, log) }

  package var addresses: [ServerAddress] { [.tcp(host: configuration.host, port: configuration.port)] }

  package var webAddress: String? {
    guard configuration.app != nil, let address else { return nil }
    return if let publicURL = configuration.publicURL { publicURL.page } else { address + "/" }
  }

  package var address: String? { running.withLock { $0?.listener.address } }

  package func start(_ sessions: HubSessions, on group: any EventLoopGroup) async throws {
    let pool = SessionPool(sessions, author: configuration.author)
    let maximum = configuration.maximumConnections
    let share = ConnectionShare(
      maximum: maximum, available: sessions.connections(atMost: maximum + HTTPLimits.refusedConnections))
    let connections = ConnectionCounter(share, loop: sessions.loop)
    let check = RequestGuard(
      host: configuration.host, publicURL: configuration.publicURL, cookieName: configuration.cookieName)
    let counters = counters
    let sockets = WebSockets(sessions: sessions, check: check, counters: counters, author: configuration.author)
    let responder = Responder(
      handler: RequestHandler(sessions: sessions, pool: pool, sockets: sockets, app: configuration.app), check: check,
      bodies: UnfinishedBodies(limit: configuration.unfinishedBodies), log: log)
    let live = LiveStreams(sessions: sessions, author: configuration.author, check: check, counters: counters)
    let channel = HTTP1Channel(
      responder: { request, writer, channel in
        try await responder.respond(to: request, writer, on: channel)
      },
      configuration: .init(
        additionalChannelHandlers: [
          RequestCountingHandler(counters), ConnectionEndHandler(), RequestDeadlineHandler(),
          ConnectionLimitHandler(sessions, connections, counters), WebSocketUpgradeHandler(sockets),
          LiveStreamHandler(live),
        ],
        httpDecoderConfiguration: HTTPListener.decoderConfiguration))
    let listener = try await HTTPListener.start(
      channel, connections, host: configuration.host, port: configuration.port, option: "--http",
      isRequired: configuration.isRequired, on: group, log: log)
    if let listener {
      running.withLock {
        $0 = Running(listener: listener, pool: pool, connections: connections, loop: sessions.loop)
      }
    }
  }

  package func stop() async {
    let taken = running.withLock { running in
      defer { running = nil }
      return running
    }
    if let taken { await stop(taken) }
  }

  private func stop(_ taken: Running) async {
    taken.pool.close()
    // Requests in progress may finish, but a client that no longer reads must not delay the end.
    let deadline = taken.loop.scheduleTask(in: HTTPLimits.stopTime) { taken.connections.closeAll() }
    await taken.listener.stop()
    deadline.cancel()
  }
}
