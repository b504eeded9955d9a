import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix

/// The limit of HTTP: a server of Hummingbird without other work, on one event loop as the daemon, which answers each
/// request with the same text.
enum BareHTTPServer {
  static func run(answer: String) async throws {
    let content = ByteBuffer(string: answer)
    let channel = HTTP1Channel(responder: { _, writer, _ in
      var head = HTTPResponse(status: .ok)
      head.headerFields[.contentType] = "application/json"
      head.headerFields[.contentLength] = "\(content.readableBytes)"
      try await writer.write(response: head, body: ResponseBody(byteBuffer: content))
    })
    let server = Server(
      childChannelSetup: channel, configuration: ServerConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in say("listening \(channel.localAddress?.port ?? 0)") },
      eventLoopGroup: MultiThreadedEventLoopGroup(numberOfThreads: 1), logger: Logger(label: "http-server"))
    try await server.run()
  }
}
