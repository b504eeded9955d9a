import Foundation
import GraphWire
import NIOCore
import NIOPosix
import NIOSSL

/// A server that completes TLS handshakes and sends nothing, with a configuration that a real server refuses to have.
final class BareTLSServer: Sendable {
  let address: ServerAddress
  private let channel: any Channel

  /// - Parameter configure: changes the configuration before the server listens.
  init(
    _ identity: TestAuthority.Identity, configure: @Sendable (inout TLSConfiguration) -> Void = { _ in }
  ) async throws {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMFile(identity.certificate).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(file: identity.key, format: .pem)))
    configuration.applicationProtocols = [TransportNames.applicationProtocol]
    configure(&configuration)
    let context = try NIOSSLContext(configuration: configuration)
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    address = .tls(host: "127.0.0.1", port: channel.localAddress?.port ?? 0)
  }

  func close() async throws { try await channel.close() }
}
