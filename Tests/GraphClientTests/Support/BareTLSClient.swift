import GraphWire
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A client that only makes a TLS handshake, with a configuration that a real client refuses to have.
enum BareTLSClient {
  /// Whether a server completes a handshake with a version and a protocol.
  static func completesHandshake(
    with address: ServerAddress, version: TLSVersion, protocol name: String = TransportNames.applicationProtocol
  ) async throws -> Bool {
    guard case .tcp(let host, let port) = address.tcp else { return false }
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateVerification = .none
    configuration.minimumTLSVersion = .tlsv1
    configuration.maximumTLSVersion = version
    configuration.applicationProtocols = [name]
    let context = try NIOSSLContext(configuration: configuration)
    let outcome = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Bool.self)
    let channel: any Channel
    do {
      channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandlers([
              NIOSSLClientHandler(context: context, serverHostname: nil), Recorder(outcome),
            ])
          }
        }
        .connect(host: host, port: port).get()
    } catch {
      outcome.fail(error)
      throw error
    }
    let isComplete = try await outcome.futureResult.get()
    channel.close(promise: nil)
    return isComplete
  }

  /// The client's handshake may be complete before the server refuses its protocol. The result is therefore the next
  /// act of the server: it closes the connection, or it answers a message.
  private final class Recorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let outcome: EventLoopPromise<Bool>

    init(_ outcome: EventLoopPromise<Bool>) { self.outcome = outcome }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard case .handshakeCompleted? = event as? TLSUserEvent else { return }
      // The first message must be a hello, so the server answers this one with a close.
      let message = Frame.encode(ToServer(1, .ping))
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: message)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { outcome.succeed(true) }

    func channelInactive(context: ChannelHandlerContext) { outcome.succeed(false) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
