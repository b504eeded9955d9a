import Foundation

/// The peer: redis-server with appendonly yes and appendfsync always; a hash for each note and a stream entry for each
/// change, in one MULTI.
final class RedisClient: @unchecked Sendable {  // Each is used by one thread.
  private let socket: Socket
  private var pending = [UInt8]()

  init(port: UInt16) throws { socket = try Socket(tcp: port) }

  private static func command(_ words: String...) -> String {
    "*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
  }

  /// Writes notes and their changes; returns when all of it is on disk.
  func write(notes: Int, text: String) throws {
    var commands = Self.command("MULTI")
    for _ in 0..<notes {
      let id = UInt64.random(in: 0 ... .max)
      commands += Self.command(
        "HSET", "note:\(id)", "text", text, "color", "yellow", "x", "10", "y", "20", "width", "200", "height", "200",
        "board", "1")
      commands += Self.command("XADD", "changes", "*", "note", "\(id)", "kind", "inserted")
    }
    commands += Self.command("EXEC")
    try socket.write(Array(commands.utf8))
    // MULTI's +OK and a +QUEUED for each command, then EXEC's array: an integer and a bulk string for each note.
    for _ in 0..<(1 + 2 * notes) { _ = try line() }
    _ = try line()
    for _ in 0..<notes {
      _ = try line()
      _ = try line()
      _ = try line()
    }
  }

  private func line() throws -> String {
    while true {
      if let end = pending.firstIndex(of: 10) {
        let line = String(decoding: pending[..<end], as: UTF8.self)
        pending.removeSubrange(...end)
        if line.hasPrefix("-") { throw BenchmarkError(description: line) }
        return line
      }
      pending += try socket.read()
    }
  }
}

/// A server process that ends with this one.
final class ServerProcess {
  let process = Process()

  init(_ program: String, _ arguments: [String], ready: () -> Bool) throws {
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    for _ in 0..<500 {
      if ready() { return }
      usleep(10_000)
    }
    throw BenchmarkError(description: "\(program) did not start")
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }
}
