// Tests: TLSHandshakeTests.swift
import NIOCore
import NIOSSL

/// The handlers of encrypted connections.
struct ServerEncryption: Sendable {
  let certificate: ServerCertificate
  let regulator: HandshakeRegulator

  /// Adds the handlers that begin a session when the TLS handshake is complete.
  func addHandlers(
    to channel: any Channel, runner: HubRunner, makeHandler: @escaping () -> ConnectionHandler
  ) throws {
    let gate = HandshakeGate(regulator: regulator) { runner.hasRoom(besides: $0) }
    try channel.pipeline.syncOperations.addHandlers([
      gate, NIOSSLServerHandler(context: certificate.context),
      EncryptedSessionStarter(gate: gate, regulator: regulator, makeHandler: makeHandler),
    ])
  }
}
