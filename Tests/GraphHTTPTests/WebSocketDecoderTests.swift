import GraphTesting
import NIOCore
import Testing

@testable import GraphHTTP

/// The frames of a WebSocket's client.
@Suite struct WebSocketDecoderTests {
  private typealias Event = WebSocketDecoder.Event

  /// The events of bytes that arrive in pieces of a size, and the failure behind them.
  private func decode(
    _ bytes: [UInt8], piece: Int, maximum: Int = 1_000
  ) -> (events: [Event], failure: WebSocketFailure?) {
    var decoder = WebSocketDecoder(maximumMessageSize: maximum)
    var events = [Event]()
    var rest = bytes[...]
    do {
      while !rest.isEmpty {
        var buffer = ByteBuffer(bytes: rest.prefix(piece))
        rest = rest.dropFirst(piece)
        while let event = try decoder.next(&buffer) {
          // The slice is valid until the next call.
          if case .message(let slice) = event {
            events.append(.message(Array(slice)[...]))
          } else {
            events.append(event)
          }
        }
        #expect(buffer.readableBytes == 0)
      }
      return (events, nil)
    } catch {
      return (events, error)
    }
  }

  private static func payload(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

  @Test(arguments: [1, 2, 3, 5, 64, 100_000])
  func messagesArriveInPieces(piece: Int) throws {
    let sizes = [1, 125, 126, 127, 0xFFFF, 0x1_0000]
    let bytes = sizes.flatMap { RawWebSocket.frame(0x82, Self.payload($0)) }
    let (events, failure) = decode(bytes, piece: piece, maximum: 0x1_0000)
    #expect(failure == nil)
    #expect(events == sizes.map { .message(Self.payload($0)[...]) })
  }

  @Test(arguments: [1, 4, 1_000])
  func fragmentsAreOneMessageWithControlFramesBetween(piece: Int) throws {
    let bytes =
      RawWebSocket.frame(0x02, [1, 2]) + RawWebSocket.frame(0x89, [9]) + RawWebSocket.frame(0x00, [])
      + RawWebSocket.frame(0x8A, []) + RawWebSocket.frame(0x00, [3]) + RawWebSocket.frame(0x80, [4, 5])
      + RawWebSocket.frame(0x88, [0x03, 0xE8, 0x61])
    let (events, failure) = decode(bytes, piece: piece)
    #expect(failure == nil)
    #expect(events == [.ping([9]), .pong, .message([1, 2, 3, 4, 5]), .close(1_000)])
  }

  @Test(arguments: [(999, true), (1_000, true), (1_001, false)])
  func messagesHaveALimit(size: Int, isAllowed: Bool) throws {
    let payload = Self.payload(size)
    let whole = RawWebSocket.frame(0x82, payload)
    let parts =
      RawWebSocket.frame(0x02, Array(payload[..<400])) + RawWebSocket.frame(0x00, Array(payload[400..<800]))
      + RawWebSocket.frame(0x80, Array(payload[800...]))
    for bytes in [whole, parts] {
      for piece in [1, 7, 10_000] {
        let (events, failure) = decode(bytes, piece: piece)
        #expect(events == (isAllowed ? [.message(payload[...])] : []))
        #expect(failure?.code == (isAllowed ? nil : .messageTooBig))
      }
    }
  }

  /// A large frame is refused by its header: none of its bytes are kept.
  @Test func hugeLengthIsRefusedBeforeItsBytes() throws {
    for length: [UInt8] in [[0x7F, 255, 255, 255, 255, 255, 255, 255], [255, 0, 0, 0, 0, 0, 0, 0]] {
      #expect(decode([0x82, 0xFF] + length, piece: 1).failure?.code == .messageTooBig)
    }
  }

  @Test(arguments: [
    ("not masked", RawWebSocket.frame(0x82, [1], isMasked: false), WebSocketFailure.Code.protocolError),
    ("a text", RawWebSocket.frame(0x81, [0x61]), .unsupportedData),
    ("a reserved bit", RawWebSocket.frame(0xC2, [1]), .protocolError),
    ("a reserved opcode", RawWebSocket.frame(0x83, [1]), .protocolError),
    ("a reserved control opcode", RawWebSocket.frame(0x8B, [1]), .protocolError),
    ("a continuation of nothing", RawWebSocket.frame(0x80, [1]), .protocolError),
    ("a message within a message", RawWebSocket.frame(0x02, [1]) + RawWebSocket.frame(0x82, [1]), .protocolError),
    ("a ping in fragments", RawWebSocket.frame(0x09, [1]), .protocolError),
    ("a long ping", RawWebSocket.frame(0x89, [UInt8](repeating: 0, count: 126)), .protocolError),
    ("a long form of a length", [0x82, 0xFE, 0, 5, 0, 0, 0, 0, 1, 2, 3, 4, 5], .protocolError),
    ("a longer form", [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 1, 2, 3, 4, 5], .protocolError),
    ("half a close code", RawWebSocket.frame(0x88, [3]), .protocolError),
    ("a close code that is not for the wire", RawWebSocket.frame(0x88, [0x03, 0xED]), .protocolError),
    ("a close reason that is not UTF-8", RawWebSocket.frame(0x88, [0x03, 0xE8, 0xFF]), .protocolError),
  ])
  func malformedFramesAreRefused(name: String, bytes: [UInt8], code: WebSocketFailure.Code) {
    for piece in [1, 1_000] {
      let (events, failure) = decode(bytes, piece: piece)
      #expect(events.isEmpty && failure?.code == code, "\(name): \(events)")
    }
  }

  @Test func incompleteMessageIsCounted() throws {
    var decoder = WebSocketDecoder(maximumMessageSize: 1_000)
    var buffer = ByteBuffer(bytes: RawWebSocket.frame(0x82, Self.payload(300)).prefix(108))
    #expect(try decoder.next(&buffer) == nil)
    #expect(decoder.unfinishedBytes == 100)
    buffer = ByteBuffer(bytes: RawWebSocket.frame(0x82, Self.payload(300)).dropFirst(108) + [0x82])
    #expect(try decoder.next(&buffer) == .message(Self.payload(300)[...]))
    #expect(decoder.unfinishedBytes == 0)
    #expect(try decoder.next(&buffer) == nil)
    #expect(decoder.unfinishedBytes == 1)
  }
}
