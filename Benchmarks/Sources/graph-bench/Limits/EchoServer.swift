import Foundation

/// The bare loopback round trip: a process that echoes what it reads, one connection after another.
enum EchoServer {
  static func run(path: String) throws {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let name = Socket.unixAddress(path)
    let code = withUnsafeBytes(of: name) { bytes in
      bytes.baseAddress.map {
        bind(listener, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
      } ?? -1
    }
    guard code == 0, listen(listener, 8) == 0 else { throw BenchmarkError(description: "\(path) can't be bound") }
    say("listening")
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let peer = accept(listener, nil, nil)
      guard peer >= 0 else { throw BenchmarkError(description: "accept failed") }
      while true {
        let count = read(peer, &buffer, buffer.count)
        guard count > 0, send(peer, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
      }
      close(peer)
    }
  }

  /// Returns the median round trip of a message of this size, in seconds.
  static func roundTrip(bytes: Int, times: Int, in bench: Bench) throws -> Double {
    let path = bench.place("echo")
    let server = try ServerProcess(mode: ["echo-server", path])
    defer { server.kill() }
    _ = try server.line()
    let client = try Socket(.unix(path: path))
    let message = [UInt8](repeating: 7, count: bytes)
    return median(
      try (0..<times).map { _ in
        try timed {
          try client.write(message)
          try client.skip(bytes)
        }
      })
  }
}
