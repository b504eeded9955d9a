import GraphHub
import GraphModel
import GraphWire
import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The channel handler of one connection, on the hub's event loop.
///
/// Decodes bytes into messages for the hub, and writes the hub's frames with one flush per turn of the loop.
///
/// Exclusivity checks are disabled for the properties that each message changes: only the loop uses them, and nothing
/// is called back while one of them is being changed. The checks cost a fiftieth of a small commit's time on the loop.
final class ConnectionHandler: ChannelInboundHandler, HubConnection {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let runner: HubRunner
  @exclusivity(unchecked) private var decoder: FrameDecoder
  private var context: ChannelHandlerContext?
  /// Nil for an encrypted connection: its frames pass the TLS handler.
  private var directWriter: DirectSocketWriter?
  private var session: SessionID?
  @exclusivity(unchecked) private var pending = [ByteBuffer]()
  @exclusivity(unchecked) private var pendingBytes = 0
  @exclusivity(unchecked) private var isDirty = false
  /// Whether `flush` is passing bytes to the channel.
  private var isFlushing = false
  /// The bytes of the incomplete frame that were last reported to the hub.
  private var reportedPart = 0
  private var isClosing = false

  init(runner: HubRunner, maximumFrameSize: Int) {
    self.runner = runner
    decoder = FrameDecoder(maximumFrameSize: maximumFrameSize)
  }

  // MARK: - Inbound

  func handlerAdded(context: ChannelHandlerContext) {
    // Behind TLS, the handler is added when the handshake is complete.
    if context.channel.isActive { begin(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    begin(context)
    context.fireChannelActive()
  }

  private func begin(_ context: ChannelHandlerContext) {
    assert(session == nil, "a connection has one session")
    self.context = context
    directWriter = DirectSocketWriter(context.channel)
    // Only asked about its other end: bytes are written by `directWriter` or through the pipeline.
    let socket = try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { $0 }
    let peer: Peer? = if let socket { PeerCredentials.peer(ofSocket: socket) } else { .network }
    guard let peer else {
      // The other end is gone already, or the system does not say who it is.
      return context.close(promise: nil)
    }
    guard let session = runner.open(self, of: peer) else {
      // Over the connection limit. No message is sent, because it would need the resources that the limit saves.
      return context.close(promise: nil)
    }
    self.session = session
    runner.flush()
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    directWriter = nil
    pending = []
    if let session { runner.closed(session) }
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // Bytes may still arrive after the connection was refused or its session ended.
    guard let session, !isClosing else { return }
    let buffer = unwrapInboundIn(data)
    buffer.withUnsafeReadableBytes { decoder.append($0) }
    do {
      while let bytes = try decoder.next() {
        var reader = BinaryReader(bytes)
        reportedPart = 0
        runner.receive(try ToServer(from: &reader), from: session)
        if isClosing { return }
      }
      if decoder.unfinishedBytes != reportedPart {
        reportedPart = decoder.unfinishedBytes
        runner.receivePart(reportedPart, from: session)
      }
    } catch {
      // After a decoding error, frame boundaries in the stream can no longer be trusted.
      isClosing = true
      let reason = error.reason
      runner.process(.malformed(reason, from: session))
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    runner.flush()
    context.fireChannelReadComplete()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The socket failed, because of the client or the network; in both cases the session has ended.
    context.close(promise: nil)
  }

  // MARK: - Outbound

  func write(_ buffer: ByteBuffer) -> Bool {
    pending.append(buffer)
    pendingBytes += buffer.readableBytes
    defer { isDirty = true }
    return !isDirty
  }

  func writeUncounted(_ buffer: ByteBuffer) {
    flush()
    directWriter?.willQueue()
    context?.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
  }

  /// Writes the queued frames and reports the bytes to the hub once they have been written.
  func flush() {
    isDirty = false
    // The connection has closed in this turn, or the frames are written already.
    guard let context, let session, var buffer = pending.first else { return }
    for more in pending.dropFirst() { buffer.writeImmutableBuffer(more) }
    pending.removeAll(keepingCapacity: true)
    let bytes = pendingBytes
    pendingBytes = 0
    directWriter?.write(&buffer)
    // The socket has usually accepted everything, and no promise is needed.
    if buffer.readableBytes == 0 { return runner.drained(session, bytes: bytes) }
    let promise = context.eventLoop.makePromise(of: Void.self)
    // After a failed write the connection closes, which drains everything.
    promise.futureResult.assumeIsolated().whenSuccess { [self] in written(bytes, of: session) }
    directWriter?.willQueue()
    isFlushing = true
    context.writeAndFlush(wrapOutboundOut(buffer), promise: promise)
    isFlushing = false
  }

  /// Reports bytes that the channel has written. An encrypted connection often writes them within `flush`, whose caller
  /// then passes the report on: the hub may be in the middle of another event.
  private func written(_ bytes: Int, of session: SessionID) {
    if isFlushing {
      runner.drained(session, bytes: bytes)
    } else {
      runner.process(.drained(session, bytes: bytes))
    }
  }

  /// The network address of the other end; nil for a Unix-domain socket.
  var address: String? { context?.channel.remoteAddress?.ipAddress }

  func setReading(_ isReading: Bool) {
    context?.channel.setOption(.autoRead, value: isReading).whenFailure { _ in }
    if isReading { context?.read() }
  }

  /// The time in which a peer that no longer reads may receive its close message.
  private static let lingerTime = TimeAmount.seconds(2)

  func close() {
    // The peer has closed the connection first.
    guard let context else { return }
    isClosing = true
    // Frees the incomplete message, which may be large.
    decoder = FrameDecoder(maximumFrameSize: decoder.maximumFrameSize)
    flush()
    directWriter?.willQueue()
    let channel = context.channel
    channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
    context.eventLoop.scheduleTask(in: Self.lingerTime) { channel.close(promise: nil) }
  }
}
