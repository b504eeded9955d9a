import GraphModel
import GraphWire
import Testing

@testable import GraphHTTP

/// A client of a WebSocket that writes the bytes of frames itself, so that a test can send what no library sends.
final class RawWebSocket {
  struct Frame: Equatable {
    /// The first byte: the opcode, and the bit of a final fragment.
    let kind: UInt8
    let payload: [UInt8]

    /// The code of a close frame; nil for one without a code.
    var closeCode: Int? { payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil }
    var reason: String { String(decoding: payload.dropFirst(2), as: UTF8.self) }
  }

  static let fields = [
    "Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: graph.1",
  ]

  let http: RawHTTPClient
  private var lastRequest: UInt64 = 0

  /// Connects and upgrades.
  init(_ served: ServedHTTP, _ fields: [String] = []) async throws {
    http = try served.connect()
    http.send(RawHTTPClient.request("GET", "/v1/socket", port: served.port, Self.fields + fields))
    let answer = try await http.answer()
    #expect(answer.status == 101, "\(answer)")
  }

  func close() { http.close() }

  // MARK: - Frames

  /// The bytes of a client's frame.
  static func frame(_ kind: UInt8, _ payload: [UInt8], isMasked: Bool = true) -> [UInt8] {
    let bit: UInt8 = isMasked ? 0x80 : 0
    var bytes = [kind]
    if payload.count < 126 {
      bytes.append(bit | UInt8(payload.count))
    } else if payload.count <= 0xFFFF {
      bytes += [bit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    } else {
      bytes.append(bit | 127)
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    guard isMasked else { return bytes + payload }
    let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    return bytes + mask + payload.enumerated().map { $0.element ^ mask[$0.offset & 3] }
  }

  func send(_ kind: UInt8, _ payload: [UInt8]) { http.send(Self.frame(kind, payload)) }

  /// Reads one frame of the server.
  func frame() async throws -> Frame {
    let head = try await http.take(2)
    #expect(head[1] & 0x80 == 0, "a server does not mask")
    var length = Int(head[1])
    if length >= 126 {
      length = try await http.take(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
    }
    return Frame(kind: head[0], payload: try await http.take(length))
  }

  /// Reads up to the close frame, and returns it.
  func closeFrame() async throws -> Frame {
    while true {
      let frame = try await frame()
      if frame.kind == 0x88 { return frame }
    }
  }

  // MARK: - Messages

  static func bytes(_ message: ToServer) -> [UInt8] {
    Array(GraphWire.Frame.encode(message).dropFirst(ProtocolLimits.headerSize))
  }

  @discardableResult func send(_ body: ToServer.Body) -> UInt64 {
    lastRequest += 1
    send(0x82, Self.bytes(ToServer(lastRequest, body)))
    return lastRequest
  }

  static func hello(credential: String = "", author: String = "eve") -> ToServer.Body {
    .hello(Hello(model: nil, replica: .randomReplica(), author: author, program: "test", credential: credential))
  }

  /// Reads the next message.
  func message() async throws -> ToClient {
    let frame = try await frame()
    try #require(frame.kind == 0x82, "\(frame) is a message")
    var reader = BinaryReader(frame.payload)
    return try ToClient(from: &reader)
  }

  /// Sends a hello, and reads the welcome.
  @discardableResult func welcome(credential: String = "", author: String = "eve") async throws -> Welcome {
    send(Self.hello(credential: credential, author: author))
    guard case .welcome(let welcome) = try await message().body else {
      throw Refusal(.unavailable, "the hello was refused")
    }
    return welcome
  }
}
