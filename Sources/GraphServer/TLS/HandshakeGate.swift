// Tests: TLSHandshakeTests.swift
import GraphModel
import GraphWire
import NIOCore

/// The handler between the socket and the TLS handler. Until the handshake is complete, it limits its time, bytes and
/// pace, and it answers a client that does not encrypt in that client's own protocol. Then it forwards everything.
final class HandshakeGate: ChannelDuplexHandler, WaitingHandshake {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum State {
    /// No byte has arrived.
    case fresh
    case handshaking
    /// The bytes wait for the regulator. `wantsRead` defers a read of the socket until then.
    case waiting(ByteBuffer, wantsRead: Bool)
    /// The handshake is complete.
    case open
    /// Refused or closed: further bytes are dropped.
    case ended
  }

  private let regulator: HandshakeRegulator
  private let hasRoom: (Int) -> Bool
  private var state = State.fresh
  private var receivedBytes = 0
  private var context: ChannelHandlerContext?
  private var deadline: Scheduled<Void>?
  private var isCounted = false

  /// The first byte of a TLS connection: the record type of handshake messages.
  private static let handshakeRecord: UInt8 = 0x16
  private static let refusal = Frame.encode(
    ToClient(
      0,
      .close(
        code: Refusal.Code.notAllowed.rawValue,
        message: "this server encrypts its connections: write tls:// instead of tcp:// in its address")))

  /// - Parameter hasRoom: whether one more connection may be accepted besides this number of incomplete handshakes.
  init(regulator: HandshakeRegulator, hasRoom: @escaping (Int) -> Bool) {
    (self.regulator, self.hasRoom) = (regulator, hasRoom)
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    finish(.ended)
    self.context = nil
  }

  /// Ends the limits, because the handshake is complete.
  func handshakeCompleted() { finish(.open) }

  private func finish(_ state: State) {
    self.state = state
    deadline?.cancel()
    deadline = nil
    if isCounted { regulator.end() }
    isCounted = false
  }

  func channelActive(context: ChannelHandlerContext) {
    guard hasRoom(regulator.openCount) else {
      state = .ended
      return context.close(promise: nil)
    }
    regulator.begin()
    isCounted = true
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    deadline = context.eventLoop.scheduleTask(in: .seconds(HandshakeLimits.seconds)) { bound.value.expire() }
    context.fireChannelActive()
  }

  private func expire() {
    regulator.recordFailure("it took more than \(HandshakeLimits.seconds) s")
    // From this handler the close bypasses the TLS handler, which would wait for the peer.
    context?.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish(.ended)
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .open = state { return context.fireChannelRead(data) }
    var bytes = unwrapInboundIn(data)
    receivedBytes += bytes.readableBytes
    guard receivedBytes <= HandshakeLimits.maximumBytes else {
      regulator.recordFailure("the client sent more than \(HandshakeLimits.maximumBytes) bytes")
      finish(.ended)
      return context.close(promise: nil)
    }
    switch state {
    case .ended: return
    case .waiting(var held, let wantsRead):
      held.writeBuffer(&bytes)
      state = .waiting(held, wantsRead: wantsRead)
      return
    case .fresh:
      guard bytes.readableBytesView.first == Self.handshakeRecord else { return refusePlainClient(context) }
      state = .handshaking
    case .handshaking, .open: break
    }
    if regulator.allowsStep(of: self) {
      context.fireChannelRead(wrapInboundOut(bytes))
    } else {
      state = .waiting(bytes, wantsRead: false)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    switch state {
    case .handshaking, .open: context.fireChannelReadComplete()
    case .fresh, .waiting, .ended: break
    }
  }

  func read(context: ChannelHandlerContext) {
    if case .waiting(let bytes, _) = state { state = .waiting(bytes, wantsRead: true) } else { context.read() }
  }

  func proceed() -> Bool {
    guard case .waiting(let bytes, let wantsRead) = state, let context else { return false }
    state = .handshaking
    context.fireChannelRead(wrapInboundOut(bytes))
    // The bytes may have completed the handshake, or ended the connection.
    channelReadComplete(context: context)
    if wantsRead { context.read() }
    return true
  }

  /// Sends a message of the protocol without TLS, which is how this client reads.
  private func refusePlainClient(_ context: ChannelHandlerContext) {
    finish(.ended)
    regulator.recordFailure("the client does not encrypt")
    let channel = context.channel
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Self.refusal))).whenComplete { _ in
      channel.close(promise: nil)
    }
  }
}
