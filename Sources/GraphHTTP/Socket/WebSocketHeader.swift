// Tests: WebSocketHeaderTests.swift
import NIOCore

/// The header of a frame of the server, which is never masked and never a fragment.
struct WebSocketHeader {
  /// The kinds of frames that the server sends, with the bit of a final fragment.
  enum Kind: UInt8 {
    case binary = 0x82
    case close = 0x88
    case pong = 0x8A
  }

  // Stored inline to avoid an allocation: a delivery to a thousand clients makes a thousand headers.
  private var storage: (UInt64, UInt64) = (0, 0)
  let count: Int

  init(_ kind: Kind, length: Int) {
    precondition(length >= 0, "a payload has a length")
    let form: (marker: UInt8, size: Int) =
      length < 126 ? (UInt8(length), 0) : length <= 0xFFFF ? (126, 2) : (127, 8)
    count = 2 + form.size
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes[0] = kind.rawValue
      bytes[1] = form.marker
      for index in 0..<form.size {
        bytes[2 + index] = UInt8(truncatingIfNeeded: length >> (8 * (form.size - 1 - index)))
      }
    }
  }

  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Swift.withUnsafeBytes(of: storage) { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  /// The bytes that remain of the header and the payload after a socket has accepted `sent` bytes.
  func rest(of payload: ByteBuffer, after sent: Int) -> ByteBuffer {
    if sent >= count {
      var rest = payload
      rest.moveReaderIndex(forwardBy: sent - count)
      return rest
    }
    var rest = ByteBuffer()
    rest.reserveCapacity(count - sent + payload.readableBytes)
    withUnsafeBytes { header in _ = rest.writeBytes(header.dropFirst(sent)) }
    rest.writeImmutableBuffer(payload)
    return rest
  }
}

extension ByteBuffer {
  /// Appends a frame of the server.
  mutating func writeWebSocketFrame(_ kind: WebSocketHeader.Kind, _ payload: ByteBuffer) {
    let header = WebSocketHeader(kind, length: payload.readableBytes)
    header.withUnsafeBytes { header in _ = writeBytes(header) }
    writeImmutableBuffer(payload)
  }
}
