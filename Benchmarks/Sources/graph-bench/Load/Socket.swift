import Foundation
import GraphWire

/// A blocking socket with one buffer, for clients with minimal overhead, so that figures show the server's cost.
///
/// `@unchecked Sendable`: each is used by one thread at a time.
final class Socket: @unchecked Sendable {
  let descriptor: Int32
  private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
  private var start = 0
  private var end = 0

  /// A server that is silent for this long has failed.
  private static let timeoutSeconds = 60

  init(_ address: ServerAddress) throws {
    let code: Int32
    switch address {
    case .unix(let path):
      descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      code = Self.connect(descriptor, Self.unixAddress(path))
    case .tcp(_, let port), .tls(_, let port):
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var one: Int32 = 1
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = UInt16(port).bigEndian
      name.sin_addr.s_addr = inet_addr("127.0.0.1")
      code = Self.connect(descriptor, name)
    }
    var timeout = timeval(tv_sec: Self.timeoutSeconds, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }
    guard code == 0 else { throw BenchmarkError(description: "no server at \(address)") }
  }

  static func unixAddress(_ path: String) -> sockaddr_un {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return name
  }

  private static func connect<Name>(_ descriptor: Int32, _ name: Name) -> Int32 {
    withUnsafeBytes(of: name) { bytes in
      bytes.baseAddress.map {
        Foundation.connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
      } ?? -1
    }
  }

  func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let slice = UnsafeRawBufferPointer(rebasing: rest)
        let count = send(descriptor, slice.baseAddress, slice.count, Int32(MSG_NOSIGNAL))
        if count < 0, errno == EAGAIN {
          // Only nonblocking sockets of watchers get here.
          var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          guard poll(&wanted, 1, Int32(Self.timeoutSeconds * 1_000)) == 1 else { throw lost("writing") }
          continue
        }
        guard count > 0 else { throw lost("writing") }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Whether messages are framed as those of a WebSocket.
  var isWebSocket = false

  /// Writes a frame, with its length in four bytes, in the framing of the connection.
  func writeFrame(_ frame: [UInt8]) throws {
    guard isWebSocket else { return try write(frame) }
    let message = frame.dropFirst(ProtocolLimits.headerSize)
    precondition(message.count <= 0xFFFF, "the messages of the load are small")
    let length: [UInt8] =
      message.count < 126
      ? [0x80 | UInt8(message.count)] : [0x80 | 126, UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
    // A mask of zeros leaves the bytes as they are.
    try write([0x82] + length + [0, 0, 0, 0] + message)
  }

  /// Returns the message of the next frame; valid until the next call.
  func nextFrame() throws -> UnsafeRawBufferPointer {
    if isWebSocket { return try nextWebSocketFrame() }
    while true {
      var wanted = ProtocolLimits.headerSize
      if end - start >= wanted {
        let length = UInt32(bigEndian: buffer.loadUnaligned(fromByteOffset: start, as: UInt32.self))
        wanted += Int(length)
        if end - start >= wanted {
          defer { start += wanted }
          return UnsafeRawBufferPointer(
            rebasing: buffer[(start + ProtocolLimits.headerSize)..<(start + wanted)])
        }
      }
      try fill(room: wanted)
    }
  }

  private func nextWebSocketFrame() throws -> UnsafeRawBufferPointer {
    var wanted = 2
    while true {
      if end - start >= wanted {
        let short = Int(buffer[start + 1])
        let size = short < 126 ? 0 : short == 126 ? 2 : 8
        wanted = 2 + size
        if end - start >= wanted {
          let length = size == 0 ? short : buffer[(start + 2)..<(start + wanted)].reduce(0) { $0 << 8 | Int($1) }
          let header = wanted
          wanted += length
          if end - start >= wanted {
            defer { start += wanted }
            return UnsafeRawBufferPointer(rebasing: buffer[(start + header)..<(start + wanted)])
          }
        }
      }
      try fill(room: wanted)
    }
  }

  /// Returns the next message of PostgreSQL's protocol: its type, and its body, which is valid until the next call.
  func nextTypedMessage() throws -> (type: UInt8, body: UnsafeRawBufferPointer) {
    let header = 5
    while end - start < header { try fill(room: header) }
    // The length includes its own four bytes.
    let wanted = 1 + Int(UInt32(bigEndian: buffer.loadUnaligned(fromByteOffset: start + 1, as: UInt32.self)))
    while end - start < wanted { try fill(room: wanted) }
    defer { start += wanted }
    return (buffer[start], UnsafeRawBufferPointer(rebasing: buffer[(start + header)..<(start + wanted)]))
  }

  /// Returns the next line without its end; valid until the next call.
  func nextLine() throws -> UnsafeRawBufferPointer {
    var looked = start
    while true {
      if let newline = buffer[looked..<end].firstIndex(of: 10) {
        defer { start = newline + 1 }
        return UnsafeRawBufferPointer(rebasing: buffer[start..<newline])
      }
      let seen = end - start
      try fill(room: seen + 1)
      looked = start + seen
    }
  }

  /// Returns the next bytes; valid until the next call.
  func next(_ count: Int) throws -> UnsafeRawBufferPointer {
    while end - start < count { try fill(room: count) }
    defer { start += count }
    return UnsafeRawBufferPointer(rebasing: buffer[start..<(start + count)])
  }

  /// Whether the buffer contains unread bytes.
  var hasUnread: Bool { start != end }

  /// Skips a number of bytes.
  func skip(_ count: Int) throws {
    while end - start < count { try fill(room: count) }
    start += count
  }

  /// Reads available bytes, after making space for `room` bytes from `start` on.
  private func fill(room: Int) throws {
    if start == end { (start, end) = (0, 0) }
    if start + room > buffer.count || end == buffer.count {
      let grown = room > buffer.count / 2
      let target =
        grown ? UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * room, alignment: 16) : buffer
      if let to = target.baseAddress, let from = buffer.baseAddress { memmove(to, from + start, end - start) }
      if grown {
        buffer.deallocate()
        buffer = target
      }
      (start, end) = (0, end - start)
    }
    let count = buffer.baseAddress.map { read(descriptor, $0 + end, buffer.count - end) } ?? -1
    guard count > 0 else { throw lost("reading") }
    end += count
  }

  private func lost(_ verb: String) -> BenchmarkError {
    BenchmarkError(description: "the connection was lost or silent while \(verb)")
  }

  deinit {
    close(descriptor)
    buffer.deallocate()
  }
}

/// Raises the limit of descriptors for a thousand connections; child processes inherit it.
enum FileLimit {
  static func raise() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 65_536)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
