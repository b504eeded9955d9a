// Tests: MetricsTests.swift
import GraphHub
import GraphModel
import GraphServer
import GraphWire
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// Serves `/metrics` for Prometheus, on a separate listener. It needs no token and shows no contents; an operator
/// restricts access by the choice of the address.
package final class MetricsInterface: ServerInterface {
  private struct Running {
    let listener: HTTPListener
    let connections: ConnectionCounter
    let loop: any EventLoop
  }

  private let host: String
  private let port: Int
  private let check: RequestGuard
  private let counters: HTTPCounters?
  private let log: Logger
  /// Set by `start`, cleared by `stop`; guarded by its mutex, because the address is read from any thread.
  private let running = Mutex<Running?>(nil)

  /// - Parameters:
  ///   - port: 0 for any free port.
  ///   - publicURL: the URL of a proxy. Requests for its host are accepted, too.
  ///   - http: the HTTP interface whose counters are shown; nil for none.
  package init(host: String, port: Int, publicURL: PublicURL?, http: HTTPInterface?, log: Logger) {
    (self.host, self.port, counters, self.log) = (host, port, http?.counters, log)
    check = RequestGuard(host: host, publicURL: publicURL)
  }

  package var webAddress: String? { nil }

  package var addresses: [ServerAddress] { [.tcp(host: host, port: port)] }

  package var address: String? { running.withLock { $0.map { "\($0.listener.address)/metrics" } } }

  package func start(_ sessions: HubSessions, on group: any EventLoopGroup) async throws {
    // An eighth of the share of an interface, because these connections come out of the reserve of descriptors.
    let maximum = HTTPLimits.maximumMetricsConnections
    let available = max(1, sessions.connections(atMost: 16 * maximum) / 8)
    let connections = ConnectionCounter(
      ConnectionShare(maximum: maximum, available: available), loop: sessions.loop)
    let channel = HTTP1Channel(
      responder: { [self] request, writer, channel in
        let reply: Reply
        do {
          reply = try await self.reply(to: request.head, sessions)
        } catch let problem as Problem {
          reply = .problem(problem)
        } catch let refusal as Refusal {
          reply = .problem(Problem(refusal, sessions.model))
        }
        try await Responder.write(reply, of: request, writer, on: channel)
      },
      configuration: .init(
        additionalChannelHandlers: [
          ConnectionEndHandler(), RequestDeadlineHandler(), ConnectionLimitHandler(sessions, connections),
        ], httpDecoderConfiguration: HTTPListener.decoderConfiguration))
    let listener = try await HTTPListener.start(
      channel, connections, host: host, port: port, option: "--metrics", isRequired: true, on: group, log: log)
    guard let listener else { preconditionFailure("a required address listens, or throws") }
    running.withLock { $0 = Running(listener: listener, connections: connections, loop: sessions.loop) }
  }

  package func stop() async {
    let taken = running.withLock { running in
      defer { running = nil }
      return running
    }
    if let taken {
      // An interrupted scrape does no harm, so `stop` does not wait for it.
      taken.loop.execute { taken.connections.closeAll() }
      await taken.listener.stop()
    }
  }

  private func reply(to head: HTTPRequest, _ sessions: HubSessions) async throws -> Reply {
    let (path, _) = try Responder.target(head)
    try check.checkHead(head)
    guard path == "/metrics" else { throw Problem.notFound("this listener has /metrics only") }
    guard head.method == .get || head.method == .head else {
      var problem = Problem(.methodNotAllowed, "malformed", "/metrics can only be read")
      problem.fields[.allow] = "GET, HEAD"
      throw problem
    }
    let status = try await status(sessions)
    let text = MetricsText(status, counters?.counts, sessions.model).text
    return Reply(.ok, .bytes(Array(text.utf8)), type: "text/plain; version=0.0.4; charset=utf-8")
  }

  /// The server's status. A session of the server's own user reads it, because a collector has no token.
  private func status(_ sessions: HubSessions) async throws -> ServerStatus {
    let session = RequestSession(loop: sessions.loop, credential: "", replica: .randomReplica())
    defer { sessions.loop.execute { session.end() } }
    try await session.open(sessions, of: .owner, address: nil, author: "metrics")
    guard case .status(let status) = try await session.answer(to: .status) else {
      throw Refusal(.unavailable, "the server answered a request for its status with something else")
    }
    return status
  }
}
