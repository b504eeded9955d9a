import Foundation
import GraphWire

/// A server that sends one connection a list of messages, one for each message that it receives.
public final class ScriptedServer: Sendable {
  /// The address of the server.
  public let address: ServerAddress
  private let directory: TemporaryDirectory
  private let listener: Int32

  /// Starts the server.
  /// - Parameters:
  ///   - messages: sent in this order, regardless of what the client requests.
  ///   - connection: the number of the connection that receives them, from 1; earlier ones are closed.
  public init(_ messages: [ToClient], connection: Int = 1) throws {
    directory = try TemporaryDirectory()
    address = .unix(path: directory.path + "/socket")
    listener = try PlainSocket.listen(at: address)
    let frames = messages.map { Frame.encode($0) }
    let thread = Thread { [listener] in
      for _ in 1..<connection { close(accept(listener, nil, nil)) }
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      var received = [UInt8](repeating: 0, count: 1 << 16)
      for frame in frames where read(client, &received, received.count) > 0 {
        _ = send(client, frame, frame.count, Int32(MSG_NOSIGNAL))
      }
      // Until the client closes the connection.
      while read(client, &received, received.count) > 0 {}
      close(client)
    }
    thread.name = "scripted server"
    thread.start()
  }

  deinit { close(listener) }
}
