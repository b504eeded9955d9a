// Tests: EncryptedConnectionTests.swift
import GraphWire
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization

/// A TLS connection with one way to verify the server, up to the end of its handshake.
///
/// The TLS library is used here only: a client of a local daemon creates no context, which would read the certificates
/// of the system's authorities.
struct EncryptedHandshake: Sendable {
  /// The evidence that the server must show.
  enum Check: Sendable {
    /// A certificate for the host that an authority has signed.
    case authorities
    /// This key, which is compared with the one of its certificate; nil is equal to none.
    case key(PublicKeyHash?)
  }

  /// The server did not pass the check.
  struct NotTrusted: Error {
    /// The hash of the key that it presented, if a key was compared.
    var key: PublicKeyHash?
    /// The validity of its certificate, in seconds since 1970.
    var validity: ClosedRange<Int64>?
    /// Whether an authority has signed its certificate, for another host.
    var isOfOtherHost = false
  }

  /// The server did not answer in time.
  struct TimeOut: Error, CustomStringConvertible {
    var description: String { "the server does not complete the TLS handshake" }
  }

  let address: ServerAddress
  let host: String
  let port: Int
  let authorities: TransportSecurity.Authorities
  let timeoutMilliseconds: Int64
  let deliver: @Sendable (Transport.Event) -> Void

  /// - Parameter verification: the result of a connection that passes.
  /// - Throws: `NotTrusted`, `SecurityFailure`, or an error of the socket.
  func run(_ check: Check, verification: ServerVerification) async throws -> Transport {
    let context = try context(for: check)
    let presented = PresentedCertificate()
    let completion = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
    let bootstrap = Transport.bootstrap(timeoutMilliseconds: timeoutMilliseconds)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            FirstAnswerHandler(completion), tlsHandler(context, check, presented),
            ClientHandshakeHandler(completion, timeoutMilliseconds: timeoutMilliseconds) {
              ClientHandler(deliver: deliver)
            },
          ])
        }
      }
    let channel: any Channel
    do {
      channel = try await bootstrap.connect(host: host, port: port).get()
    } catch {
      completion.fail(error)
      throw error
    }
    do {
      try await completion.futureResult.get()
    } catch {
      channel.close(promise: nil)
      throw failure(error, presented)
    }
    return Transport(channel: channel, verification: verification)
  }

  private func tlsHandler(
    _ context: NIOSSLContext, _ check: Check, _ presented: PresentedCertificate
  ) throws -> NIOSSLClientHandler {
    // An IP address is not sent as a name; NIOSSL verifies it with the address of the socket.
    let isIPAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
    let name = isIPAddress ? nil : host
    switch check {
    case .authorities: return try NIOSSLClientHandler(context: context, serverHostname: name)
    case .key(let expected):
      return try NIOSSLClientHandler(context: context, serverHostname: name) { certificates, result in
        let key = presented.record(certificates.first)
        result.succeed(key != nil && key == expected ? .certificateVerified : .failed)
      }
    }
  }

  private func context(for check: Check) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = [TransportNames.applicationProtocol]
    configuration.shutdownTimeout = .seconds(2)
    switch (check, authorities) {
    case (.key, _):
      configuration.certificateVerification = .noHostnameVerification
      configuration.trustRoots = .certificates([])
    case (.authorities, .system):
      // A machine without a bundle of authorities trusts no authority.
      if let context = try? NIOSSLContext(configuration: configuration) { return context }
      configuration.trustRoots = .certificates([])
    case (.authorities, .file(let path)):
      guard let certificates = try? NIOSSLCertificate.fromPEMFile(path), !certificates.isEmpty else {
        throw SecurityFailure(
          .settings, address, "the file of authorities \(path) can't be read, or has no certificate in PEM")
      }
      configuration.trustRoots = .certificates(certificates)
    }
    return try NIOSSLContext(configuration: configuration)
  }

  private func failure(_ error: any Error, _ presented: PresentedCertificate) -> any Error {
    if error as? NIOSSLExtraError == .failedToValidateHostname {
      return NotTrusted(isOfOtherHost: true)
    }
    if error is ClientHandshakeHandler.OtherProtocol {
      return SecurityFailure(
        .notEncrypted, address, "the program at \(address) speaks TLS, but is not a server of this protocol")
    }
    if error is FirstAnswerHandler.NotEncrypted {
      return SecurityFailure(
        .notEncrypted, address,
        "the program at \(address) does not encrypt; a server without TLS has an address that begins with tcp://")
    }
    guard case .handshakeFailed? = error as? NIOSSLError else { return error }
    let reason = TransportNames.reason(inErrorText: "\(error)")
    if reason.contains("CERTIFICATE_VERIFY_FAILED") { return presented.failure }
    if ["PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL", "WRONG_VERSION_NUMBER"].contains(where: reason.contains) {
      return SecurityFailure(.notEncrypted, address, "the server at \(address) does not speak TLS 1.2 or later")
    }
    return error
  }
}

/// The certificate that a server presented while its key was compared.
private final class PresentedCertificate: Sendable {
  /// Guarded by its mutex: the event loop writes it, and the connecting task reads it.
  private let state = Mutex(EncryptedHandshake.NotTrusted())

  var failure: EncryptedHandshake.NotTrusted { state.withLock { $0 } }

  /// - Returns: the hash of its key; nil for a certificate without a known kind of key.
  func record(_ certificate: NIOSSLCertificate?) -> PublicKeyHash? {
    guard let certificate, let keyInfo = try? certificate.extractPublicKey().toSPKIBytes() else { return nil }
    let key = PublicKeyHash(ofKeyInfo: keyInfo)
    let (begin, end) = (Int64(certificate.notValidBefore), Int64(certificate.notValidAfter))
    state.withLock { $0 = EncryptedHandshake.NotTrusted(key: key, validity: begin <= end ? begin...end : nil) }
    return key
  }
}

/// Looks at the first byte of the server's answer. The TLS library reports an answer without encryption only if the
/// server has not closed the connection by then.
private final class FirstAnswerHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  /// The answer is no record of TLS.
  struct NotEncrypted: Error {}

  /// The types of the records with which a server of TLS may begin: alert and handshake.
  private static let firstTypes: Set<UInt8> = [21, 22]

  private let completion: EventLoopPromise<Void>

  init(_ completion: EventLoopPromise<Void>) { self.completion = completion }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if let first = unwrapInboundIn(data).readableBytesView.first, !Self.firstTypes.contains(first) {
      completion.fail(NotEncrypted())
      return context.close(promise: nil)
    }
    context.fireChannelRead(data)
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }
}

/// Waits for the end of the handshake, and then adds the handler of messages.
private final class ClientHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  /// The server has not named the protocol.
  struct OtherProtocol: Error {}

  private let completion: EventLoopPromise<Void>
  private let timeoutMilliseconds: Int64
  private let makeHandler: () -> ClientHandler
  private var deadline: Scheduled<Void>?

  init(
    _ completion: EventLoopPromise<Void>, timeoutMilliseconds: Int64, makeHandler: @escaping () -> ClientHandler
  ) {
    (self.completion, self.timeoutMilliseconds, self.makeHandler) = (completion, timeoutMilliseconds, makeHandler)
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: .milliseconds(timeoutMilliseconds)) { [completion] in
      completion.fail(EncryptedHandshake.TimeOut())
      channel.close(promise: nil)
    }
    context.fireChannelActive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .handshakeCompleted(let protocolName)? = event as? TLSUserEvent else {
      return context.fireUserInboundEventTriggered(event)
    }
    deadline?.cancel()
    guard protocolName == TransportNames.applicationProtocol else {
      completion.fail(OtherProtocol())
      return context.close(promise: nil)
    }
    do {
      try context.pipeline.syncOperations.addHandler(makeHandler())
    } catch {
      completion.fail(error)
      return context.close(promise: nil)
    }
    completion.succeed()
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    completion.fail(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    completion.fail(ChannelError.eof)
    context.fireChannelInactive()
  }
}
