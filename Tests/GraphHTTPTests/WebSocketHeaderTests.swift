import GraphTesting
import NIOCore
import Testing

@testable import GraphHTTP

/// The headers of the server's frames, and the rest of a frame of which a socket has accepted a part.
@Suite struct WebSocketHeaderTests {
  private func bytes(_ header: WebSocketHeader) -> [UInt8] { header.withUnsafeBytes { Array($0) } }

  @Test(
    arguments: [
      (0, [0x82, 0]), (125, [0x82, 125]), (126, [0x82, 126, 0, 126]), (0xFFFF, [0x82, 126, 0xFF, 0xFF]),
      (0x1_0000, [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
    ] as [(Int, [UInt8])])
  func lengthHasItsShortestForm(length: Int, expected: [UInt8]) {
    #expect(bytes(WebSocketHeader(.binary, length: length)) == expected)
  }

  @Test(arguments: [5, 200]) func restFollowsWhatWasSent(length: Int) {
    let payload = ByteBuffer(bytes: (0..<length).map { UInt8(truncatingIfNeeded: $0) })
    let header = WebSocketHeader(.binary, length: length)
    var whole = ByteBuffer()
    whole.writeWebSocketFrame(.binary, payload)
    #expect(whole.readableBytes == header.count + length)
    for sent in 0..<whole.readableBytes {
      let rest = header.rest(of: payload, after: sent)
      #expect(Array(rest.readableBytesView) == Array(whole.readableBytesView.dropFirst(sent)), "\(sent)")
    }
  }

  /// The client's decoder is held against the server's encoder: only the mask differs.
  @Test func decoderReadsWhatTheServerWouldWrite() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let length = Int.random(in: 1...70_000, using: &random)
      let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
      var bytes = Array(WebSocketHeader(.binary, length: length).withUnsafeBytes { Array($0) })
      bytes[1] |= 0x80
      var buffer = ByteBuffer(bytes: bytes + [0, 0, 0, 0] + payload)
      var decoder = WebSocketDecoder(maximumMessageSize: 70_000)
      let event = try decoder.next(&buffer)
      #expect(event == .message(payload[...]))
    }
  }
}
