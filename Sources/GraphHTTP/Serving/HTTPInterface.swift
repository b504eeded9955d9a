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

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The HTTP interface of a server, for any model: docs/http.md describes it.
///
/// Hummingbird parses requests and writes answers, on the hub's loop. Each request is served by a session of the hub
/// (`RequestHandler`); the router is a table (`Route`), because each resource has few methods and must name them.
package final class HTTPInterface: ServerInterface {
  /// The settings of an interface.
  package struct Configuration: Sendable {
    package var host: String
    /// 0 for any free port.
    package var port: Int
    /// Whether the server ends if it cannot listen; otherwise the log has a notice.
    package var isRequired = true
    /// The author of commits without accounts.
    package var author: String
    /// The URL at which a proxy serves the interface.
    package var publicURL: PublicURL?

    package init(host: String, port: Int, author: String) { (self.host, self.port, self.author) = (host, port, author) }
  }

  private struct Running {
    let address: String
    let server: Server<HTTP1Channel>
    let serving: Task<Void, any Error>
    let pool: SessionPool
    let connections: ConnectionCounter
    let loop: any EventLoop
  }

  private let configuration: Configuration
  private let log: Logger
  /// Set by `start`, cleared by `stop`; guarded by its mutex, because the address is read from any thread.
  private let running = Mutex<Running?>(nil)

  package init(configuration: Configuration, log: Logger) { (self.configuration, self.log) = (configuration, log) }

  package var addresses: [ServerAddress] { [.tcp(host: configuration.host, port: configuration.port)] }

  /// `http://HOST:PORT` with the bound port; nil if the interface does not listen.
  package var address: String? { running.withLock { $0?.address } }

  package func start(_ sessions: HubSessions, on group: any EventLoopGroup) async throws {
    let pool = SessionPool(sessions, author: configuration.author)
    let connections = ConnectionCounter(maximum: HTTPLimits.maximumConnections)
    let check = RequestGuard(host: configuration.host, publicURL: configuration.publicURL)
    let responder = Responder(
      handler: RequestHandler(sessions: sessions, pool: pool), check: check, log: log)
    let live = LiveStreams(sessions: sessions, author: configuration.author, check: check)
    let channel = HTTP1Channel(
      responder: { request, writer, channel in
        try await responder.respond(to: request, writer, address: channel.remoteAddress?.ipAddress)
      },
      configuration: .init(
        additionalChannelHandlers: [
          RequestDeadlineHandler(), ConnectionLimitHandler(connections), LiveStreamHandler(live),
        ],
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: HTTPLimits.maximumHeaderSize, maxHeaderListSize: HTTPLimits.maximumHeaderSize,
          maxHeaderFieldCount: HTTPLimits.maximumHeaderCount)))
    var quiet = log
    // Its lines about each start repeat what the server says of its addresses.
    quiet.logLevel = max(log.logLevel, .warning)
    let (bound, bounds) = AsyncStream.makeStream(of: Int.self)
    let server = Server(
      childChannelSetup: channel,
      configuration: ServerConfiguration(
        address: .hostname(configuration.host, port: configuration.port), backlog: Self.backlog),
      onServerRunning: { channel in
        if let port = channel.localAddress?.port { bounds.yield(port) }
        bounds.finish()
      }, eventLoopGroup: group, logger: quiet)
    let serving = Task.detached {
      defer { bounds.finish() }
      try await server.run()
    }
    guard let port = await bound.first(where: { _ in true }) else {
      return try await notListening(serving)
    }
    let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
    running.withLock {
      $0 = Running(
        address: "http://\(host):\(port)", server: server, serving: serving, pool: pool, connections: connections,
        loop: sessions.loop)
    }
  }

  private static let backlog = 1_024

  /// - Throws: `StoreFailure` if the address is required.
  private func notListening(_ serving: Task<Void, any Error>) async throws {
    let cause: String
    var isInUse = false
    do {
      try await serving.value
      cause = "the server ended"
    } catch let error as IOError {
      // The description of an `IOError` contains the names of NIO's functions.
      cause = String(cString: strerror(error.errnoCode))
      isInUse = error.errnoCode == EADDRINUSE
    } catch {
      cause = "\(error)"
    }
    let address = "\(configuration.host):\(configuration.port)"
    guard configuration.isRequired else {
      return log.notice("HTTP is not served", metadata: ["address": "\(address)", "cause": "\(cause)"])
    }
    throw StoreFailure(
      isInUse ? .inUse : .inputOutput, "can't serve HTTP at \(address)", cause: cause,
      advice: "Give --http another address, or --http off.")
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
    // Requests in progress may finish; a client that no longer reads must not delay the end.
    let deadline = taken.loop.scheduleTask(in: HTTPLimits.stopTime) { taken.connections.closeAll() }
    do {
      try await taken.server.shutdownGracefully()
      try await taken.serving.value
    } catch {
      log.notice("the HTTP interface ended with an error", metadata: ["error": "\(error)"])
    }
    deadline.cancel()
  }
}

/// Closes a connection above the limit at once.
private final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart

  private let connections: ConnectionCounter

  init(_ connections: ConnectionCounter) { self.connections = connections }

  func channelActive(context: ChannelHandlerContext) {
    guard connections.add(context.channel) else { return context.close(promise: nil) }
    context.fireChannelActive()
  }
}
