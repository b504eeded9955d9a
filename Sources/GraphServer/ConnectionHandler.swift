import Glibc
import GraphHub
import GraphModel
import GraphWire
import NIOCore

/// One connection on the hub's event loop: bytes in, messages to the hub; frames out, one flush for all that were
/// written in a turn of the loop.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let runner: HubRunner
  private var decoder: FrameDecoder
  private var context: ChannelHandlerContext?
  /// Kept, because finding them costs casts.
  private var channel: (any Channel)?
  private var options: (any NIOSynchronousChannelOptions)?
  private var descriptor: NIOBSDSocket.Handle?
  private var session: SessionID?
  private var pending = [ByteBuffer]()
  private var pendingBytes = 0
  private var isDirty = false
  /// What the hub knows of the frame that is incomplete.
  private var reportedPart = 0
  private var isClosing = false

  init(runner: HubRunner, maximumFrameSize: Int) {
    self.runner = runner
    decoder = FrameDecoder(maximumFrameSize: maximumFrameSize)
  }

  // MARK: - From the socket

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    channel = context.channel
    options = context.channel.syncOptions
    descriptor = try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { $0 }
    guard let session = runner.open(self) else {
      // More connections than are allowed: nothing is said, or they would cost what the limit is to save.
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
      // The stream is of no use after this: nothing of it can be trusted to begin where a frame begins.
      isClosing = true
      let reason = error.reason
      runner.handle(.malformed(reason, from: session))
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    runner.flush()
    context.fireChannelReadComplete()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A socket that failed: the client's end is gone, or the network. Whatever it was, the session is over.
    context.close(promise: nil)
  }

  // MARK: - From the hub

  /// Queues a frame; true when the connection was clean before, and is to be flushed.
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

  /// Writes what is queued and reports the bytes to the hub when they have left.
  func flush() {
    isDirty = false
    guard let context, let session, var buffer = pending.first else { return }
    for more in pending.dropFirst() { buffer.writeImmutableBuffer(more) }
    pending.removeAll(keepingCapacity: true)
    let bytes = pendingBytes
    pendingBytes = 0
    writeDirectly(&buffer)
    // As almost always: the socket has taken all of it, and nobody needs to be called back.
    if buffer.readableBytes == 0 { return runner.drained(session, bytes: bytes) }
    let promise = context.eventLoop.makePromise(of: Void.self)
    // A write that failed is followed by the end of the connection, which drains everything.
    promise.futureResult.whenSuccess { [runner] in runner.handle(.drained(session, bytes: bytes)) }
    context.writeAndFlush(wrapOutboundOut(buffer), promise: promise)
  }

  /// Gives the socket what it takes at once, past the channel's queue of writes, when nothing waits there. For a delta to
  /// a thousand connections that queue costs as much as the rest of what we do; docs/decisions/0008 has the figures.
  ///
  /// The channel closes its descriptor and ceases to be active in one step, on this loop and with no call out between:
  /// while it is active, the descriptor is its own. An error is left to the channel, which meets it with the rest.
  private func writeDirectly(_ buffer: inout ByteBuffer) {
    guard let descriptor, let channel, channel.isActive, (try? options?.getOption(.bufferedWritableBytes)) == 0 else {
      return
    }
    let sent = buffer.withUnsafeReadableBytes { bytes in
      send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    }
    if sent > 0 { buffer.moveReaderIndex(forwardBy: sent) }
  }

  func setReading(_ isReading: Bool) {
    context?.channel.setOption(.autoRead, value: isReading).whenFailure { _ in }
    if isReading { context?.read() }
  }

  /// A peer that takes nothing any more is given this long to take its goodbye.
  private static let lingerTime = TimeAmount.seconds(2)

  func close() {
    guard let context else { return }
    isClosing = true
    // What came of an incomplete message is not needed, and may be large.
    decoder = FrameDecoder(maximumFrameSize: decoder.maximumFrameSize)
    flush()
    let channel = context.channel
    channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
    context.eventLoop.scheduleTask(in: Self.lingerTime) { channel.close(promise: nil) }
  }
}
