import Glibc
import GraphHub
import GraphModel
import GraphWire
import NIOCore

/// The channel handler of one connection, on the hub's event loop.
///
/// Decodes bytes into messages for the hub, and writes the hub's frames with one flush per turn of the loop.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let runner: HubRunner
  private var decoder: FrameDecoder
  private var context: ChannelHandlerContext?
  /// Cached, because looking them up costs casts.
  private var channel: (any Channel)?
  private var options: (any NIOSynchronousChannelOptions)?
  private var descriptor: NIOBSDSocket.Handle?
  private var session: SessionID?
  private var pending = [ByteBuffer]()
  private var pendingBytes = 0
  private var isDirty = false
  /// The bytes of the incomplete frame that were last reported to the hub.
  private var reportedPart = 0
  private var isClosing = false

  init(runner: HubRunner, maximumFrameSize: Int) {
    self.runner = runner
    decoder = FrameDecoder(maximumFrameSize: maximumFrameSize)
  }

  // MARK: - Inbound

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    channel = context.channel
    options = context.channel.syncOptions
    descriptor = try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { $0 }
    // Not from `descriptor`, which is nil where bytes must not be written past the pipeline.
    let socket = try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { $0 }
    let peer: Peer? = if let socket { PeerCredentials.peer(ofSocket: socket) } else { .network }
    guard let peer else {
      // The other end is gone already, or the system does not say who it is.
      return context.close(promise: nil)
    }
    guard let session = runner.open(self, of: peer) else {
      // Over the connection limit. No message is sent, because it would cost what the limit is meant to save.
      return context.close(promise: nil)
    }
    self.session = session
    runner.flush()
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    (channel, options, descriptor) = (nil, nil, nil)
    pending = []
    if let session { runner.closed(session) }
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // Bytes may still arrive after the connection was refused or its session ended.
    guard let session, !isClosing else { return }
    let buffer = unwrapInboundIn(data)
    decoder.append(buffer.readableBytesView)
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
    // The socket failed, because of the client or the network; either way, the session is over.
    context.close(promise: nil)
  }

  // MARK: - Outbound

  /// - Returns: true if the connection had nothing queued before and must be flushed.
  func write(_ buffer: ByteBuffer) -> Bool {
    pending.append(buffer)
    pendingBytes += buffer.readableBytes
    defer { isDirty = true }
    return !isDirty
  }

  func writeUncounted(_ buffer: ByteBuffer) {
    flush()
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
    writeDirectly(&buffer)
    // In almost all cases the socket has taken everything, and no promise is needed.
    if buffer.readableBytes == 0 { return runner.drained(session, bytes: bytes) }
    let promise = context.eventLoop.makePromise(of: Void.self)
    // A failed write is followed by the end of the connection, which drains everything.
    promise.futureResult.whenSuccess { [runner] in runner.process(.drained(session, bytes: bytes)) }
    context.writeAndFlush(wrapOutboundOut(buffer), promise: promise)
  }

  /// Writes to the socket directly, bypassing the channel's write queue, if that queue is empty. For a delta to a
  /// thousand connections, the queue costs as much as all our own work; docs/decisions/0008 has the figures.
  ///
  /// The channel closes its descriptor and becomes inactive in one step, on this loop and without calling out in
  /// between, so the descriptor is valid while the channel is active. Errors are left to the channel, which
  /// encounters them with the rest.
  private func writeDirectly(_ buffer: inout ByteBuffer) {
    // The channel's queue sends what is not written here.
    guard let descriptor, let channel, channel.isActive, (try? options?.getOption(.bufferedWritableBytes)) == 0 else {
      return
    }
    let sent = buffer.withUnsafeReadableBytes { bytes in
      send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    }
    if sent > 0 { buffer.moveReaderIndex(forwardBy: sent) }
  }

  /// The network address of the other end; nil for a Unix-domain socket.
  var address: String? { channel?.remoteAddress?.ipAddress }

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
    let channel = context.channel
    channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
    context.eventLoop.scheduleTask(in: Self.lingerTime) { channel.close(promise: nil) }
  }
}
