import NIOCore
import NIOPosix

/// The limit of the fan-out: a SwiftNIO server without other work. It forwards the complete frames of each connection
/// to all others, as one shared buffer, and flushes once in each turn of the event loop.
enum NIOFanOutServer {
  static func run() throws {
    FileLimit.raise()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    // Created on its event loop, the only place where it may be used.
    let room = try loop.submit { NIOLoopBound(Room(), eventLoop: loop) }.wait()
    // The daemon's socket options.
    let channel = try ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1_024)
      .childChannelOption(.maxMessagesPerRead, value: 16)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(FanOutHandler(room: room.value))
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    say("listening \(channel.localAddress?.port ?? 0)")
    try channel.closeFuture.wait()
  }

  /// The connections; used only on the event loop.
  private final class Room {
    var members = [ObjectIdentifier: ChannelHandlerContext]()
  }

  private final class FanOutHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let room: Room
    private var unread = ByteBuffer()
    private var hasWritten = false

    init(room: Room) { self.room = room }

    func channelActive(context: ChannelHandlerContext) { room.members[ObjectIdentifier(self)] = context }

    func channelInactive(context: ChannelHandlerContext) { room.members[ObjectIdentifier(self)] = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = unwrapInboundIn(data)
      unread.writeBuffer(&buffer)
      guard let frames = wholeFrames() else { return }
      let message = wrapOutboundOut(frames)
      for (member, context) in room.members where member != ObjectIdentifier(self) {
        context.write(message, promise: nil)
      }
      hasWritten = true
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      guard hasWritten else { return }
      hasWritten = false
      for (_, context) in room.members { context.flush() }
    }

    private func wholeFrames() -> ByteBuffer? {
      var length = 0
      while let frame = unread.getInteger(at: unread.readerIndex + length, as: UInt32.self),
        unread.readableBytes >= length + 4 + Int(frame)
      {
        length += 4 + Int(frame)
      }
      guard length > 0 else { return nil }
      let frames = unread.readSlice(length: length)
      if unread.readableBytes == 0 { unread = ByteBuffer() }
      return frames
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
