// Tests: WebSocketTests.swift
import GraphHub
import GraphModel
import GraphServer
import GraphWire
import NIOCore

/// The channel handler of a WebSocket. It connects a session of the hub to a client; each message of the protocol is
/// one binary WebSocket message, without the four bytes of length that frames have on a plain socket.
///
/// After the upgrade, the handlers of HTTP have been removed from the channel, so that an idle client needs little more
/// memory than on a plain socket. The handler works like `ConnectionHandler`, which serves plain sockets: it handles
/// all messages of one read before one flush, and it writes a frame that many clients receive, which the hub encodes
/// once, directly to the socket.
final class WebSocketHandler: ChannelInboundHandler, HubConnection {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum State {
    case open
    /// The session ends for this reason, or has ended. Further input is ignored.
    case ending(WebSocketFailure)
    /// The close frame was written. The client's close frame is awaited.
    case closing
    /// Nothing more is read or written.
    case closed
  }

  let address: String?
  private let login: WebSocketLogin
  private let counters: HTTPCounters
  private var decoder: WebSocketDecoder
  private var state = State.open
  private var session: ConnectedSession?
  private var context: ChannelHandlerContext?
  /// Nil for an encrypted connection.
  private var directWriter: DirectSocketWriter?
  private var pending = [ByteBuffer]()
  private var pendingBytes = 0
  private var isDirty = false
  /// Whether the close frame was written. No frame may follow it.
  private var hasClosed = false
  /// Whether `flush` is passing bytes to the channel.
  private var isFlushing = false
  /// The bytes of the incomplete message that were last reported to the hub.
  private var reportedPart = 0
  /// The payload of the newest unanswered ping. Earlier pings need no answer (RFC 6455, section 5.5.3).
  private var unansweredPing: [UInt8]?

  init(_ login: WebSocketLogin, address: String?, counters: HTTPCounters, maximumMessageSize: Int) {
    (self.login, self.address, self.counters) = (login, address, counters)
    decoder = WebSocketDecoder(maximumMessageSize: maximumMessageSize)
  }

  /// Starts the session, after the handler was added to a pipeline.
  /// - Parameter head: the answer to the upgrade, which is written first.
  func begin(_ session: ConnectedSession, _ head: ByteBuffer) {
    precondition(self.session == nil, "a connection has one session")
    guard let context else { preconditionFailure("a handler is in a pipeline before its session begins") }
    self.session = session
    counters.socketBegan()
    directWriter = DirectSocketWriter(context.channel)
    context.writeAndFlush(wrapOutboundOut(head), promise: nil)
    session.flush()
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  // MARK: - Inbound

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    do {
      while let event = try next(&bytes) {
        try handle(event)
      }
      if case .open = state, let session, decoder.unfinishedBytes != reportedPart {
        reportedPart = decoder.unfinishedBytes
        session.receivePart(reportedPart)
      }
    } catch {
      fail(error)
    }
  }

  /// The next event of the client; nil if there is none, or if input is no longer read.
  private func next(_ bytes: inout ByteBuffer) throws(WebSocketFailure) -> WebSocketDecoder.Event? {
    switch state {
    case .open, .closing: try decoder.next(&bytes)
    case .ending, .closed: nil
    }
  }

  private func handle(_ event: WebSocketDecoder.Event) throws(WebSocketFailure) {
    switch (state, event) {
    case (.open, .message(let bytes)): try receive(bytes)
    case (.open, .ping(let payload)): unansweredPing = payload
    case (.open, .close(let code)):
      // The answer repeats the client's code.
      writeClose(code)
      closeWhenWritten()
    case (.closing, .close): closeWhenWritten()
    case (_, .pong), (.closing, _), (.ending, _), (.closed, _): break
    }
  }

  private func receive(_ bytes: ArraySlice<UInt8>) throws(WebSocketFailure) {
    guard let session else { preconditionFailure("a session begins before its connection is read") }
    reportedPart = 0
    let message: ToServer
    do throws(MalformedMessage) {
      guard !bytes.isEmpty else { throw MalformedMessage("a message is empty") }
      var reader = BinaryReader(bytes)
      message = try ToServer(from: &reader)
    } catch {
      throw WebSocketFailure(.invalidData, error.reason)
    }
    session.receive(try login.checked(message))
  }

  /// Lets the hub end the session. The hub writes the reason before the close frame.
  private func fail(_ failure: WebSocketFailure) {
    guard case .open = state, let session else {
      // The server awaits a close frame, and the client sent something else. The rest is read and dropped, because
      // closing a socket with unread bytes could discard the close frame before it is sent.
      state = .closed
      return
    }
    state = .ending(failure)
    session.end(malformed: failure.reason)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    answerPing()
    session?.flush()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) { answerPing() }

  /// Answers the newest ping if the channel is writable. For a client that does not read, only one payload is kept.
  private func answerPing() {
    if case .open = state, let context, context.channel.isWritable, let payload = unansweredPing {
      unansweredPing = nil
      write(.pong, payload)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // When the server stops, the hub ends the session. A quiescing event is not forwarded, because Hummingbird's
    // handler would close the connection before that.
    if case .some(.inputClosed) = event as? ChannelEvent { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The socket failed, because of the client or the network; in both cases the session has ended.
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    directWriter = nil
    pending = []
    state = .closed
    if let session {
      counters.socketEnded()
      session.closed()
    }
    context.fireChannelInactive()
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
    if !hasClosed { writeLater(Self.frames([buffer], size: buffer.readableBytes)) }
  }

  /// Writes the queued frames and reports the bytes to the hub once they have been written.
  func flush() {
    isDirty = false
    // Otherwise the connection was closed since the write, or the frames were already flushed.
    if let context, let session, !pending.isEmpty { flush(context, session) }
  }

  private func flush(_ context: ChannelHandlerContext, _ session: ConnectedSession) {
    let bytes = pendingBytes
    pendingBytes = 0
    let rest = hasClosed ? nil : writeDirectly(bytes)
    pending.removeAll(keepingCapacity: pending.capacity <= 4)
    // The socket has usually accepted everything, and no promise is needed.
    guard let rest else { return session.drained(bytes) }
    let promise = context.eventLoop.makePromise(of: Void.self)
    // After a failed write the connection closes, which drains everything.
    promise.futureResult.assumeIsolated().whenSuccess { [self] in written(bytes, of: session) }
    directWriter?.willQueue()
    isFlushing = true
    context.writeAndFlush(wrapOutboundOut(rest), promise: promise)
    isFlushing = false
  }

  /// Writes as much of the pending frames as the socket accepts now.
  /// - Returns: the bytes that remain; nil if there are none.
  private func writeDirectly(_ size: Int) -> ByteBuffer? {
    if pending.count == 1, let writer = directWriter, let message = Self.onlyMessage(in: pending[0]) {
      // The usual case: one frame, which other connections share.
      let header = WebSocketHeader(.binary, length: message.readableBytes)
      let sent = header.withUnsafeBytes { writer.write($0, message) }
      return sent == header.count + message.readableBytes ? nil : header.rest(of: message, after: sent)
    }
    var frames = Self.frames(pending, size: size)
    directWriter?.write(&frames)
    return frames.readableBytes > 0 ? frames : nil
  }

  /// Reports bytes that the channel has written. If the channel writes them within `flush`, the report is synchronous;
  /// otherwise it is deferred, because the hub may be handling another event.
  private func written(_ bytes: Int, of session: ConnectedSession) {
    if isFlushing { session.drained(bytes) } else { session.drainedLater(bytes) }
  }

  func setReading(_ isReading: Bool) {
    context?.channel.setOption(.autoRead, value: isReading).whenFailure { _ in }
    if isReading { context?.read() }
  }

  // MARK: - Frames of the hub

  /// The message of a buffer with one frame of the hub, without its length; nil if there are several.
  private static func onlyMessage(in buffer: ByteBuffer) -> ByteBuffer? {
    var rest = buffer
    guard let length = rest.readInteger(as: UInt32.self) else { preconditionFailure("a frame has a length") }
    return rest.readableBytes == Int(length) ? rest : nil
  }

  /// The binary frames for buffers of frames of the hub.
  private static func frames(_ buffers: [ByteBuffer], size: Int) -> ByteBuffer {
    var output = ByteBuffer()
    // A header has at most six bytes more than a length.
    output.reserveCapacity(size + 16 * buffers.count)
    for var buffer in buffers {
      while buffer.readableBytes > 0 {
        guard let length = buffer.readInteger(as: UInt32.self), let message = buffer.readSlice(length: Int(length))
        else { preconditionFailure("the hub sends complete frames") }
        output.writeWebSocketFrame(.binary, message)
      }
    }
    return output
  }

  // MARK: - The end

  /// The time for which the server awaits the client's close frame.
  private static let lingerTime = TimeAmount.seconds(2)

  /// Ends the connection on behalf of the hub: writes the queued frames and a close frame, and awaits the client's
  /// answer.
  func close() {
    if let context { close(context) }
  }

  private func close(_ context: ChannelHandlerContext) {
    flush()
    let failure = if case .ending(let failure) = state { failure } else { WebSocketFailure(.normal, "") }
    switch state {
    case .open, .ending: writeClose(failure.code.rawValue, failure.reason)
    case .closing, .closed: break
    }
    // Within a message and after a failure, the frame boundaries are lost, so all input is dropped until the timeout.
    // Otherwise control frames are still read. The new decoder frees an incomplete message and accepts no further one.
    let isReadable = if case .open = state { decoder.unfinishedBytes == 0 } else { false }
    decoder = WebSocketDecoder(maximumMessageSize: 0)
    state = isReadable ? .closing : .closed
    let channel = context.channel
    context.eventLoop.scheduleTask(in: Self.lingerTime) { channel.close(promise: nil) }
  }

  private func writeClose(_ code: UInt16?, _ reason: String = "") {
    var payload = [UInt8]()
    if let code { payload = [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + Self.clipped(reason).utf8 }
    write(.close, payload)
    hasClosed = true
  }

  /// The beginning of a text for which a close frame has space.
  static func clipped(_ reason: String) -> Substring {
    var text = reason[...]
    while text.utf8.count > WebSocketDecoder.maximumControlSize - 2 { text.removeLast() }
    return text
  }

  /// Closes the channel when all bytes have been written.
  private func closeWhenWritten() {
    state = .closed
    directWriter?.willQueue()
    if let channel = context?.channel {
      channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
    }
  }

  /// Writes a control frame after the queued frames.
  private func write(_ kind: WebSocketHeader.Kind, _ payload: [UInt8]) {
    flush()
    var frame = ByteBuffer()
    frame.writeWebSocketFrame(kind, ByteBuffer(bytes: payload))
    writeLater(frame)
  }

  /// Writes bytes through the channel's queue. Does nothing if the channel has closed.
  private func writeLater(_ bytes: ByteBuffer) {
    directWriter?.willQueue()
    context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
  }
}
