import Foundation
import GraphTesting
import GraphWire

/// A server that says what it was told to say to whoever connects first, or as the given one: one message for each that it is sent, whatever that
/// one asks.
final class ScriptedServer: Sendable {
  let address: ServerAddress
  private let directory: TemporaryDirectory
  private let listener: Int32

  init(_ messages: [ToClient], connection: Int = 1) throws {
    directory = try TemporaryDirectory()
    address = .unix(path: directory.path + "/socket")
    listener = try PlainSocket.listen(at: address)
    let frames = messages.map { Frame.encode($0) }
    let thread = Thread { [listener] in
      for _ in 1..<connection { close(accept(listener, nil, nil)) }
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      var heard = [UInt8](repeating: 0, count: 1 << 16)
      for frame in frames where read(client, &heard, heard.count) > 0 {
        _ = send(client, frame, frame.count, Int32(MSG_NOSIGNAL))
      }
      // Until the client hangs up.
      while read(client, &heard, heard.count) > 0 {}
      close(client)
    }
    thread.name = "scripted server"
    thread.start()
  }

  deinit { close(listener) }
}
