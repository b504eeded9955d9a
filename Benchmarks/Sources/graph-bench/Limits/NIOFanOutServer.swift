import NIOCore
import NIOPosix

/// The limit of the fan-out: what SwiftNIO can do when it has nothing else to do. Whatever whole frames one connection
/// sends go to all others, as one shared buffer, flushed once a turn of the loop.
enum NIOFanOutServer {
  static func run() throws {
    FileLimit.raise()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    // Made on its loop, where alone it may be touched.
    let room = try loop.submit { NIOLoopBound(Room(), eventLoop: loop) }.wait()
    // As the daemon sets its sockets.
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

  /// Everyone who is connected; used on the one event loop only.
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
