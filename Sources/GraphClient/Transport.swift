import GraphModel
import GraphWire
import NIOCore
import NIOPosix

/// One connection to a server: frames out, batches of messages in. It runs on an event loop, not on the client's actor.
/// It hands over complete batches, and does not read the socket again before the owner has processed one.
final class Transport: Sendable {
  private let channel: any Channel
  /// The way in which the server was verified; nil for a connection without encryption.
  let verification: ServerVerification?

  /// The events that the owner receives, on any thread. `resume` allows the next batch.
  enum Event: Sendable {
    case messages([ToClient], resume: @Sendable () -> Void)
    case closed
    /// The server sent bytes that are not a message.
    case malformed(String)
  }

  init(channel: any Channel, verification: ServerVerification?) {
    (self.channel, self.verification) = (channel, verification)
  }

  static func bootstrap(timeoutMilliseconds: Int64) -> ClientBootstrap {
    ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(.milliseconds(timeoutMilliseconds))
  }

  /// Connects away from the caller's actor, because the authorities and the known servers are read from files.
  /// - Throws: `SecurityFailure`, or an error of the socket.
  @concurrent static func connect(
    to choice: ServerChoice, security: TransportSecurity = TransportSecurity(), timeoutMilliseconds: Int64,
    deliver: @escaping @Sendable (Event) -> Void
  ) async throws -> Transport {
    var local: CInt?
    switch choice {
    case .socket(let socket, _): local = socket
    case .address(.unix(let path), _): local = try LocalSocket.connect(path)
    case .address: break
    }
    let bootstrap = bootstrap(timeoutMilliseconds: timeoutMilliseconds)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ClientHandler(deliver: deliver))
        }
      }
    if let local {
      return Transport(channel: try await bootstrap.withConnectedSocket(local).get(), verification: nil)
    }
    guard case .address(let address, _) = choice else { preconditionFailure("a choice is a socket or an address") }
    let channel: any Channel
    try TransportPolicy.check(address, security)
    switch address {
    case .tls(let host, let port):
      let handshake = EncryptedHandshake(
        address: address, host: host, port: port, authorities: security.authorities,
        timeoutMilliseconds: timeoutMilliseconds, deliver: deliver)
      return try await EncryptedConnector(
        address: address, host: host, port: port, security: security, handshake: handshake
      ).connect()
    case .tcp(let host, let port):
      channel = try await bootstrap.channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .connect(host: host, port: port).get()
    case .unix(let path): channel = try await bootstrap.connect(unixDomainSocketPath: path).get()
    }
    return Transport(channel: channel, verification: nil)
  }

  func write(_ frame: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: frame), promise: nil) }

  func close() { channel.close(promise: nil) }

  /// Closes after everything that was sent has been written.
  func closeGracefully() async {
    try? await channel.writeAndFlush(ByteBuffer()).get()
    try? await channel.close().get()
  }
}

/// Decodes frames, and stops reading while the owner processes a batch.
final class ClientHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let deliver: @Sendable (Transport.Event) -> Void
  private var decoder = FrameDecoder(maximumFrameSize: ProtocolLimits.maximumFrameSize)
  private var batch = [ToClient]()
  private var isWithOwner = false
  private var wantsRead = false
  /// Whether the connection ended while the owner processed a batch. `closed` follows after the last batch.
  private var hasEnded = false

  init(deliver: @escaping @Sendable (Transport.Event) -> Void) { self.deliver = deliver }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    decoder.append(unwrapInboundIn(data).readableBytesView)
    do {
      while let bytes = try decoder.next() {
        var reader = BinaryReader(bytes)
        batch.append(try ToClient(from: &reader))
      }
    } catch {
      deliver(.malformed(error.reason))
      context.close(promise: nil)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    handOver(context: context)
    context.fireChannelReadComplete()
  }

  private func handOver(context: ChannelHandlerContext) {
    if isWithOwner { return }
    guard !batch.isEmpty else {
      if hasEnded { deliver(.closed) }
      return
    }
    isWithOwner = true
    let messages = batch
    batch = []
    let loop = context.eventLoop
    let bound = NIOLoopBound((self, context), eventLoop: loop)
    deliver(
      .messages(messages) {
        loop.execute {
          let (handler, context) = bound.value
          assert(handler.isWithOwner, "the owner ends a batch once")
          handler.isWithOwner = false
          handler.handOver(context: context)
          if handler.wantsRead, !handler.isWithOwner, !handler.hasEnded {
            handler.wantsRead = false
            context.read()
          }
        }
      })
  }

  func read(context: ChannelHandlerContext) {
    if isWithOwner { wantsRead = true } else { context.read() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    hasEnded = true
    handOver(context: context)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
