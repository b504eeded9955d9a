import GraphWire
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// An open connection, which ends with this value.
final class IdleConnection {
  private let channel: any Channel

  init(_ channel: any Channel) { self.channel = channel }

  deinit { channel.close(mode: .all, promise: nil) }
}

/// Encrypted connections that verify nothing, so that their cost is that of the server.
final class TLSClients {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
  private let context: NIOSSLContext
  private let port: Int

  init(_ address: ServerAddress) throws {
    guard case .tls(_, let port) = address else { throw BenchmarkError(description: "\(address) is not encrypted") }
    self.port = port
    context = try Self.makeContext()
  }

  /// A context that verifies nothing.
  static func makeContext() throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.certificateVerification = .none
    configuration.applicationProtocols = [TransportNames.applicationProtocol]
    return try NIOSSLContext(configuration: configuration)
  }

  /// Connects, and waits for the end of the handshake.
  /// - Parameter hello: a message to send then; its answer is awaited. Nil for none.
  func connect(hello: [UInt8]? = nil) throws -> any Channel {
    let context = context
    let done = group.next().makePromise(of: Void.self)
    let channel = try ClientBootstrap(group: group)
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            NIOSSLClientHandler(context: context, serverHostname: nil), FirstAnswer(hello, done))
        }
      }
      .connect(host: "127.0.0.1", port: port).wait()
    try done.futureResult.wait()
    return channel
  }

  /// Makes a connection, and closes it after the handshake.
  func handshake() throws {
    let channel = try connect()
    try channel.close(mode: .all).wait()
  }

  deinit { try? group.syncShutdownGracefully() }

  /// Completes the promise at the end of the handshake, or with the first bytes after the hello.
  private final class FirstAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let hello: [UInt8]?
    private let done: EventLoopPromise<Void>

    init(_ hello: [UInt8]?, _ done: EventLoopPromise<Void>) { (self.hello, self.done) = (hello, done) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case .handshakeCompleted? = event as? TLSUserEvent {
        if let hello {
          context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: hello)), promise: nil)
        } else {
          done.succeed()
        }
      }
      context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { done.succeed() }

    func channelInactive(context: ChannelHandlerContext) {
      done.fail(BenchmarkError(description: "the daemon has closed an encrypted connection"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      done.fail(error)
      context.close(promise: nil)
    }
  }
}
