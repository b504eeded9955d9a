// Tests: RequestTests.swift, MetricsTests.swift
import GraphModel
import GraphServer
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Listens at one address and passes connections with requests to Hummingbird.
///
/// Hummingbird's own server gives each connection a task when it accepts it. This listener leaves connections to
/// `FirstRequestHandler` until their first request. The tasks of all connections are children of one task.
struct HTTPListener: Sendable {
  /// `http://HOST:PORT` with the bound port.
  let address: String
  private let channel: any Channel
  private let connections: ConnectionCounter
  private let served: AsyncStream<HTTP1Channel.Value>.Continuation
  private let serving: Task<Void, Never>
  private let log: Logger

  /// The parser's limits.
  static let decoderConfiguration = HTTP1Channel.Configuration.DecoderConfiguration(
    maxHeaderFieldSize: HTTPLimits.maximumHeaderSize, maxHeaderListSize: HTTPLimits.maximumHeaderSize,
    maxHeaderFieldCount: HTTPLimits.maximumHeaderCount)

  /// Starts to listen.
  /// - Parameters:
  ///   - http: answers requests; its handlers count each connection in `connections`.
  ///   - port: 0 for any free port.
  ///   - option: the option of the daemon that names the address, for the advice.
  ///   - isRequired: whether a failure is thrown. Otherwise it is logged, and the result is nil.
  /// - Throws: `StoreFailure`.
  static func start(
    _ http: HTTP1Channel, _ connections: ConnectionCounter, host: String, port: Int, option: String, isRequired: Bool,
    on group: any EventLoopGroup, log: Logger
  ) async throws -> HTTPListener? {
    var quiet = log
    // An operator has no use for Hummingbird's lines about each connection.
    quiet.logLevel = max(log.logLevel, .warning)
    let (values, served) = AsyncStream.makeStream(of: HTTP1Channel.Value.self)
    let logger = quiet
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: backlog)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { channel in
        // After a failed accept, the listener pauses. Otherwise the listening socket stays readable, and the loop
        // spins.
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(HubSessions.acceptBackoff(log))
        }
      }
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try configure(channel, http, FirstRequestHandler(served, logger)) }
      }
    do {
      let channel = try await bootstrap.bind(host: host, port: port).get()
      let shown = host.contains(":") ? "[\(host)]" : host
      let bound = if let port = channel.localAddress?.port { port } else { port }
      return HTTPListener(
        address: "http://\(shown):\(bound)", channel: channel, connections: connections, served: served,
        serving: serve(values, http, on: connections.loop, logger), log: log)
    } catch {
      served.finish()
      let (cause, isInUse) = failure(error)
      guard isRequired else {
        log.notice("HTTP is not served", metadata: ["address": "\(host):\(port)", "cause": "\(cause)"])
        return nil
      }
      throw StoreFailure(
        isInUse ? .inUse : .inputOutput, "can't serve HTTP at \(host):\(port)", cause: cause,
        advice: "Give \(option) another address, or \(option) off.")
    }
  }

  private static let backlog: Int32 = 1_024

  /// Configures the pipeline of a connection: the handlers of Hummingbird's channel without its last ones.
  private static func configure(_ channel: any Channel, _ http: HTTP1Channel, _ last: FirstRequestHandler) throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = http.configuration.httpDecoder.maxHeaderFieldSize
    limits.maxHeaderListSize = http.configuration.httpDecoder.maxHeaderListSize
    limits.maxHeaderFieldCount = http.configuration.httpDecoder.maxHeaderFieldCount
    let pipeline = channel.pipeline.syncOperations
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
      withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
    try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
    try pipeline.addHandlers(http.configuration.additionalChannelHandlers())
    try pipeline.addHandler(last)
  }

  /// Serves each connection in a task on the loop. Ends when the stream has ended and all connections are closed.
  private static func serve(
    _ values: AsyncStream<HTTP1Channel.Value>, _ http: HTTP1Channel, on loop: any EventLoop, _ log: Logger
  ) -> Task<Void, Never> {
    let executor = LoopExecutor(loop)
    // Detached, because it outlives the task that starts the listener; `stop` ends it and waits for it.
    return Task.detached {
      await withDiscardingTaskGroup { group in
        for await value in values {
          group.addTask(executorPreference: executor) { await http.handle(value: value, logger: log) }
        }
      }
    }
  }

  private static func failure(_ error: any Error) -> (cause: String, isInUse: Bool) {
    // The description of an `IOError` contains the names of NIO's functions.
    guard let error = error as? IOError else { return ("\(error)", false) }
    return (String(cString: strerror(error.errnoCode)), error.errnoCode == EADDRINUSE)
  }

  /// Stops listening, lets requests in progress finish, and waits until all connections have ended.
  func stop() async {
    do {
      try await channel.close()
    } catch {
      log.notice("an HTTP listener ended with an error", metadata: ["address": "\(address)", "error": "\(error)"])
    }
    do {
      try await channel.eventLoop.flatSubmit { [connections, channel] in connections.quiesce(on: channel.eventLoop) }
        .get()
    } catch {
      preconditionFailure("the end of all connections has no failure: \(error)")
    }
    // All connections are closed, so none can still be passed to the stream.
    served.finish()
    await serving.value
  }
}
