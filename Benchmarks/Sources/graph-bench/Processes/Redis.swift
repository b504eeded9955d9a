import Foundation
import GraphWire

/// redis-server for comparison, with appendonly yes and appendfsync always.
final class RedisServer: PeerServer {
  let process: ServerProcess
  let unix: ServerAddress
  let tcp: ServerAddress
  private var clientCount: UInt64 = 0

  private static let program = "/usr/bin/redis-server"

  /// Nil if redis-server is not installed.
  init?(_ bench: Bench) throws {
    guard access(Self.program, X_OK) == 0 else { return nil }
    let directory = bench.place("redis")
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    unix = .unix(path: directory + "/socket")
    let port = try Self.freePort()
    tcp = .tcp(host: "127.0.0.1", port: port)
    process = try ServerProcess(
      Self.program,
      [
        "--port", "\(port)", "--bind", "127.0.0.1", "--unixsocket", directory + "/socket", "--dir", directory,
        "--appendonly", "yes", "--appendfsync", "always", "--save", "",
      ], readsOutput: false)
    let address = unix
    _ = try retry { try Socket(address) }
  }

  /// Returns a port that was free a moment ago.
  private static func freePort() throws -> Int {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(probe) }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(probe, $0, length) + getsockname(probe, $0, &length) }
    }
    guard code == 0 else { throw BenchmarkError(description: "there is no free port") }
    return Int(UInt16(bigEndian: name.sin_port))
  }

  /// Returns a client with a range of keys of its own; the first one's is the range that `read` reads.
  func client() throws -> any PeerClient {
    defer { clientCount += 1 }
    return try RedisClient(unix, keysAfter: RedisClient.firstKey + clientCount * RedisClient.keysEach)
  }

  func stop() { process.stop() }
}

/// A client of Redis. It writes a hash for each note and a stream entry for each change in one MULTI; readers
/// subscribe.
///
/// `@unchecked Sendable`: each is used by one thread at a time.
final class RedisClient: PeerClient, @unchecked Sendable {
  /// Keys have 16 digits.
  static let firstKey: UInt64 = 1_000_000_000_000_000
  static let keysEach: UInt64 = 1_000_000_000_000

  let socket: Socket
  /// The key of the newest note.
  private var key: UInt64

  init(_ address: ServerAddress, keysAfter key: UInt64 = RedisClient.firstKey) throws {
    socket = try Socket(address)
    self.key = key
  }

  private static func command(_ words: String...) -> [UInt8] {
    Array(("*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()).utf8)
  }

  /// The commands that write a note and its change; its 16-digit key is at `places`.
  private static let template: (bytes: [UInt8], places: [Int]) = {
    let key = "1000000000000000"
    let bytes =
      command(
        "HSET", "note:\(key)", "text", Bench.text, "color", "yellow", "x", "10", "y", "20", "width", "200", "height",
        "200", "board", "1", "number", key, "created", "1700000000000000", "updated", "1700000000000000")
      + command("XADD", "changes", "*", "note", key, "kind", "inserted")
    let digits = Array(key.utf8)
    return (bytes, bytes.indices.filter { bytes[$0...].starts(with: digits) })
  }()

  private func commands(notes: Int) -> [UInt8] {
    var commands = [UInt8]()
    commands.reserveCapacity(notes * Self.template.bytes.count)
    for _ in 0..<notes {
      key += 1
      let digits = Array("\(key)".utf8)
      let start = commands.count
      commands += Self.template.bytes
      for place in Self.template.places {
        commands.replaceSubrange((start + place)..<(start + place + digits.count), with: digits)
      }
    }
    return commands
  }

  /// Writes notes and their changes; returns when all of them are on disk.
  func write(notes: Int) throws {
    try socket.write(Self.command("MULTI") + commands(notes: notes) + Self.command("EXEC"))
    // +OK, +QUEUED for each command, the array's header, then for each note an integer and a bulk string of two
    // lines.
    try take(lines: 2 + 5 * notes)
  }

  func read(note number: Int) throws {
    try socket.write(Self.command("HGETALL", "note:\(Self.firstKey + UInt64(number))"))
    // The array's header, then a bulk string of two lines for each of ten names and values.
    guard String(decoding: try socket.nextLine(), as: UTF8.self) == "*20\r" else {
      throw BenchmarkError(description: "Redis has no note \(number)")
    }
    try take(lines: 40)
  }

  // MARK: - Publish and subscribe

  static let channel = "c"

  /// Subscribes; returns when the subscription is confirmed.
  func subscribe() throws {
    try socket.write(Self.command("SUBSCRIBE", Self.channel))
    try take(lines: 6)
  }

  /// Returns the size of a subscriber's message for a payload of this size.
  static func messageSize(payload: Int) -> Int {
    "*3\r\n$7\r\nmessage\r\n$\(channel.utf8.count)\r\n\(channel)\r\n$\(payload)\r\n".utf8.count + payload + 2
  }

  /// Returns the frame of an update that is durable and then published.
  func update(payload: [UInt8]) -> [UInt8] {
    key += 1
    let publish = Array(
      "*3\r\n$7\r\nPUBLISH\r\n$\(Self.channel.utf8.count)\r\n\(Self.channel)\r\n$\(payload.count)\r\n".utf8)
    return Self.command("MULTI") + Self.command("HSET", "note:1", "x", "\(key)")
      + Self.command("XADD", "changes", "*", "note", "1", "kind", "updated", "x", "\(key)")
      + publish + payload + Array("\r\n".utf8) + Self.command("EXEC")
  }

  /// Returns the frame of an insert that is published.
  func insert(payload: [UInt8]) -> [UInt8] {
    let publish = Array(
      "*3\r\n$7\r\nPUBLISH\r\n$\(Self.channel.utf8.count)\r\n\(Self.channel)\r\n$\(payload.count)\r\n".utf8)
    return Self.command("MULTI") + commands(notes: 1) + publish + payload + Array("\r\n".utf8) + Self.command("EXEC")
  }

  /// Reads the answer to an update or an insert: OK, three times QUEUED, the array's header, its four lines.
  func takeAnswer() throws { try take(lines: 9) }

  private func take(lines: Int) throws {
    for _ in 0..<lines {
      let line = try socket.nextLine()
      if line.first == UInt8(ascii: "-") {
        throw BenchmarkError(description: "Redis says: \(String(decoding: line, as: UTF8.self))")
      }
    }
  }
}
