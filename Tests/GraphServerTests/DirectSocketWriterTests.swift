import NIOCore
import NIOEmbedded
import NIOPosix
import NIOSSL
import Testing

@testable import GraphServer

/// Writes that bypass the pipeline exist for connections without a TLS handler only.
@Suite(.timeLimit(.minutes(1))) struct DirectSocketWriterTests {
  /// Whether an accepted connection with these handlers can be written to directly.
  private func isDirect(_ addHandlers: @escaping @Sendable (any Channel) throws -> Void) async throws -> Bool {
    let group = MultiThreadedEventLoopGroup.singleton
    let (found, finding) = AsyncStream.makeStream(of: Bool.self)
    let server = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try addHandlers(channel)
          finding.yield(DirectSocketWriter(channel) != nil)
          finding.finish()
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let client = try await ClientBootstrap(group: group).connect(to: try #require(server.localAddress)).get()
    var results = [Bool]()
    for await isDirect in found { results.append(isDirect) }
    try await client.close()
    try await server.close()
    #expect(results.count == 1)
    return results.contains(true)
  }

  @Test func plainConnectionIsWrittenDirectly() async throws { #expect(try await isDirect { _ in }) }

  @Test func encryptedConnectionIsNot() async throws {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = .certificates([])
    let context = try NIOSSLContext(configuration: configuration)
    let canBypass = try await isDirect { channel in
      try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
    }
    #expect(!canBypass)
  }

  @Test func channelWithoutSocketIsNot() { #expect(DirectSocketWriter(EmbeddedChannel()) == nil) }
}
