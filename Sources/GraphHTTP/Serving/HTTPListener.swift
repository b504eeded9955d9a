// Tests: RequestTests.swift, MetricsTests.swift
import GraphModel
import GraphServer
import HummingbirdCore
import Logging
import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A server of Hummingbird that listens at one address.
struct HTTPListener: Sendable {
  /// `http://HOST:PORT` with the bound port.
  let address: String
  private let server: Server<HTTP1Channel>
  private let serving: Task<Void, any Error>
  private let log: Logger

  /// The parser's limits.
  static let decoderConfiguration = HTTP1Channel.Configuration.DecoderConfiguration(
    maxHeaderFieldSize: HTTPLimits.maximumHeaderSize, maxHeaderListSize: HTTPLimits.maximumHeaderSize,
    maxHeaderFieldCount: HTTPLimits.maximumHeaderCount)

  /// Listens; nil if it cannot and need not.
  /// - Parameters:
  ///   - port: 0 for any free port.
  ///   - option: the option of the daemon that names the address, for the advice.
  ///   - isRequired: whether a failure is thrown; otherwise the log has a notice.
  /// - Throws: `StoreFailure`.
  static func start(
    _ channel: HTTP1Channel, host: String, port: Int, option: String, isRequired: Bool, on group: any EventLoopGroup,
    log: Logger
  ) async throws -> HTTPListener? {
    var quiet = log
    // Its lines about each start repeat what the server says of its addresses.
    quiet.logLevel = max(log.logLevel, .warning)
    let (bound, bounds) = AsyncStream.makeStream(of: Int.self)
    let server = Server(
      childChannelSetup: channel,
      configuration: ServerConfiguration(address: .hostname(host, port: port), backlog: backlog),
      onServerRunning: { channel in
        await pauseAfterErrors(channel, log)
        if let port = channel.localAddress?.port { bounds.yield(port) }
        bounds.finish()
      }, eventLoopGroup: group, logger: quiet)
    // Detached, because it outlives the task that starts the listener; `stop` ends it and waits for it.
    let serving = Task.detached {
      defer { bounds.finish() }
      try await server.run()
    }
    if let port = await bound.first(where: { _ in true }) {
      let shown = host.contains(":") ? "[\(host)]" : host
      return HTTPListener(address: "http://\(shown):\(port)", server: server, serving: serving, log: log)
    }
    let (cause, isInUse) = await failure(of: serving)
    guard isRequired else {
      log.notice("HTTP is not served", metadata: ["address": "\(host):\(port)", "cause": "\(cause)"])
      return nil
    }
    throw StoreFailure(
      isInUse ? .inUse : .inputOutput, "can't serve HTTP at \(host):\(port)", cause: cause,
      advice: "Give \(option) another address, or \(option) off.")
  }

  private static let backlog = 1_024

  /// Without a pause, a connection that cannot be accepted keeps its socket ready, and the loop spins. Hummingbird has no
  /// parameter for a handler of the listening channel.
  private static func pauseAfterErrors(_ channel: any Channel, _ log: Logger) async {
    do {
      try await channel.eventLoop.submit {
        try channel.pipeline.syncOperations.addHandler(HubSessions.acceptBackoff(log), position: .first)
      }.get()
    } catch {
      // The channel has closed already.
      log.debug("a listener of HTTP has closed at its start", metadata: ["error": "\(error)"])
    }
  }

  private static func failure(of serving: Task<Void, any Error>) async -> (cause: String, isInUse: Bool) {
    do {
      try await serving.value
      return ("the server ended", false)
    } catch let error as IOError {
      // The description of an `IOError` contains the names of NIO's functions.
      return (String(cString: strerror(error.errnoCode)), error.errnoCode == EADDRINUSE)
    } catch {
      return ("\(error)", false)
    }
  }

  /// Stops listening, and waits until all connections have ended.
  func stop() async {
    do {
      try await server.shutdownGracefully()
      try await serving.value
    } catch {
      log.notice("an HTTP listener ended with an error", metadata: ["address": "\(address)", "error": "\(error)"])
    }
  }
}
