// Tests: TLSHandshakeTests.swift
import GraphWire
import NIOCore
import NIOSSL
import NIOTLS

/// The last handler of an encrypted connection until the handshake is complete: only then the connection becomes a
/// session. A client that has not named this protocol in the handshake is refused.
final class EncryptedSessionStarter: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private let gate: HandshakeGate
  private let regulator: HandshakeRegulator
  private let makeHandler: () -> ConnectionHandler

  init(gate: HandshakeGate, regulator: HandshakeRegulator, makeHandler: @escaping () -> ConnectionHandler) {
    (self.gate, self.regulator, self.makeHandler) = (gate, regulator, makeHandler)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .handshakeCompleted(let protocolName)? = event as? TLSUserEvent else {
      return context.fireUserInboundEventTriggered(event)
    }
    guard protocolName == TransportNames.applicationProtocol else {
      regulator.recordFailure("the client does not offer the protocol \(TransportNames.applicationProtocol)")
      return context.close(promise: nil)
    }
    gate.handshakeCompleted()
    let pipeline = context.pipeline.syncOperations
    do {
      try pipeline.addHandler(makeHandler())
    } catch {
      // The channel has closed in this turn.
      return context.close(promise: nil)
    }
    pipeline.removeHandler(context: context, promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A client that only disconnects is no failure worth a line.
    if error as? NIOSSLError != .handshakeFailed(.sslError([.eofDuringHandshake])) {
      regulator.recordFailure(TransportNames.reason(inErrorText: "\(error)"))
    }
    context.close(promise: nil)
  }
}
