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
  /// Kept, because finding it costs a cast.
  private var options: (any NIOSynchronousChannelOptions)?
  private var session: SessionID?
  private var pending = [ByteBuffer]()
  private var pendingBytes = 0
  private var isDirty = false
  private var isClosing = false

  init(runner: HubRunner, maximumFrameSize: Int) {
    self.runner = runner
    decoder = FrameDecoder(maximumFrameSize: maximumFrameSize)
  }

  // MARK: - From the socket

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    options = context.channel.syncOptions
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
    options = nil
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
        runner.receive(try ToServer(from: &reader), from: session)
        if isClosing { return }
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
    guard let context, let session, !pending.isEmpty else { return }
    for buffer in pending { context.write(wrapOutboundOut(buffer), promise: nil) }
    pending.removeAll(keepingCapacity: true)
    let bytes = pendingBytes
    pendingBytes = 0
    context.flush()
    if (try? options?.getOption(.bufferedWritableBytes)) == 0 {
      // As almost always: the socket has taken all of it, and nobody needs to be called back.
      return runner.drained(session, bytes: bytes)
    }
    let promise = context.eventLoop.makePromise(of: Void.self)
    // A write that failed is followed by the end of the connection, which drains everything.
    promise.futureResult.whenSuccess { [runner] in runner.handle(.drained(session, bytes: bytes)) }
    // Nothing, behind everything: when it has left, so has the rest.
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: promise)
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
    flush()
    let channel = context.channel
    channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
    context.eventLoop.scheduleTask(in: Self.lingerTime) { channel.close(promise: nil) }
  }
}
