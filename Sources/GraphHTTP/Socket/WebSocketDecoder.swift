// Tests: WebSocketDecoderTests.swift
import NIOCore

/// Splits the bytes of a WebSocket client into messages and control frames (RFC 6455, section 5).
///
/// Bytes are unmasked as they arrive and appended to their message. A client's memory is therefore the received part of
/// one message, and the hub can count it. The decoder of NIOWebSocket does not show the size of an incomplete frame;
/// docs/decisions/0070 has the reasons for this decoder.
struct WebSocketDecoder {
  /// A message or a control frame of the client.
  enum Event: Equatable {
    /// A complete binary message, from all of its fragments.
    case message(ArraySlice<UInt8>)
    case ping([UInt8])
    case pong
    /// The client closes the connection, with this code.
    case close(UInt16?)
  }

  private enum Opcode: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
  }

  /// The payload of a frame whose header is complete.
  private struct Payload {
    let opcode: Opcode
    let isFinal: Bool
    let mask: (UInt8, UInt8, UInt8, UInt8)
    /// The bytes that have not arrived yet.
    var missing: Int
    /// The bytes that have arrived.
    var position = 0
  }

  /// The size in bytes of the largest message, in one frame or in fragments.
  let maximumMessageSize: Int
  /// The bytes of an incomplete header.
  private var header = [UInt8]()
  private var payload: Payload?
  /// The payload of the message that is being received, unmasked.
  private var message = [UInt8]()
  /// Whether `message` was returned. The next call then removes it.
  private var isReturned = false
  /// Whether the message continues in a further frame.
  private var isFragmented = false
  /// The payload of a control frame, which may come between two fragments.
  private var control = [UInt8]()

  init(maximumMessageSize: Int) { self.maximumMessageSize = maximumMessageSize }

  /// The maximum size in bytes of the payload of a control frame.
  static let maximumControlSize = 125
  /// The capacity in bytes of `message` that is kept between two messages.
  private static let keptCapacity = 512

  /// The number of bytes of an incomplete message.
  var unfinishedBytes: Int { (isReturned ? 0 : message.count) + header.count }

  /// The next event in the bytes, which are consumed up to its end; nil if they are all consumed. The slice of a
  /// message is valid until the next call.
  /// - Throws: `WebSocketFailure`; the stream is unusable then.
  mutating func next(_ bytes: inout ByteBuffer) throws(WebSocketFailure) -> Event? {
    removeReturnedMessage()
    while true {
      if payload == nil, try !readHeader(&bytes) { return nil }
      guard let payload = readPayload(&bytes) else { return nil }
      if let event = try finish(payload) { return event }
    }
  }

  private mutating func removeReturnedMessage() {
    if isReturned { message.removeAll(keepingCapacity: message.capacity <= Self.keptCapacity) }
    isReturned = false
  }

  // MARK: - Headers

  /// Reads a header; false if it is incomplete.
  private mutating func readHeader(_ bytes: inout ByteBuffer) throws(WebSocketFailure) -> Bool {
    while header.count < 2 {
      guard let byte: UInt8 = bytes.readInteger() else { return false }
      header.append(byte)
    }
    let (opcode, isFinal) = try Self.opcode(header[0])
    // The mask is checked before the length, because a frame without a mask has a shorter header.
    guard header[1] & 0x80 != 0 else { throw WebSocketFailure(.protocolError, "a frame of a client must be masked") }
    let short = Int(header[1] & 0x7F)
    guard !opcode.isControl || isFinal && short <= Self.maximumControlSize else {
      throw WebSocketFailure(.protocolError, "a control frame has at most 125 bytes and no fragments")
    }
    try checkOrder(opcode)
    let lengthSize = short == 126 ? 2 : short == 127 ? 8 : 0
    while header.count < 2 + lengthSize + 4 {
      guard let byte: UInt8 = bytes.readInteger() else { return false }
      header.append(byte)
      if lengthSize > 0, header.count == 2 + lengthSize { _ = try length(short) }
    }
    let length = try length(short)
    if !opcode.isControl, message.count + length > maximumMessageSize { throw tooBig }
    let mask = header.suffix(4)
    let first = mask.startIndex
    payload = Payload(
      opcode: opcode, isFinal: isFinal, mask: (mask[first], mask[first + 1], mask[first + 2], mask[first + 3]),
      missing: length)
    header.removeAll(keepingCapacity: true)
    return true
  }

  private static func opcode(_ byte: UInt8) throws(WebSocketFailure) -> (Opcode, isFinal: Bool) {
    guard byte & 0x70 == 0 else {
      throw WebSocketFailure(.protocolError, "a frame has reserved bits; there are no extensions")
    }
    guard let opcode = Opcode(rawValue: byte & 0x0F) else {
      throw WebSocketFailure(.protocolError, "a frame has the unknown opcode \(byte & 0x0F)")
    }
    return (opcode, byte & 0x80 != 0)
  }

  private func checkOrder(_ opcode: Opcode) throws(WebSocketFailure) {
    switch opcode {
    case .text: throw WebSocketFailure(.unsupportedData, "messages are binary, not text")
    case .continuation where !isFragmented:
      throw WebSocketFailure(.protocolError, "a continuation has no message before it")
    case .binary where isFragmented:
      throw WebSocketFailure(.protocolError, "a message begins before the last one is complete")
    case .continuation, .binary, .close, .ping, .pong: break
    }
  }

  /// The length of the payload. It is malformed in a longer form than necessary.
  private func length(_ short: Int) throws(WebSocketFailure) -> Int {
    guard short >= 126 else { return short }
    let size = short == 126 ? 2 : 8
    let length = header[2..<(2 + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard length > (size == 2 ? 125 : 0xFFFF) else {
      throw WebSocketFailure(.protocolError, "the length of a frame has a longer form than necessary")
    }
    guard length <= UInt64(maximumMessageSize) else { throw tooBig }
    return Int(length)
  }

  private var tooBig: WebSocketFailure {
    WebSocketFailure(.messageTooBig, "a message has more than \(maximumMessageSize) bytes")
  }

  // MARK: - Payloads

  /// Reads the bytes of a payload that have arrived.
  /// - Returns: the payload's frame if it is complete.
  private mutating func readPayload(_ bytes: inout ByteBuffer) -> Payload? {
    guard var frame = payload else { preconditionFailure("a header comes before its payload") }
    let count = min(frame.missing, bytes.readableBytes)
    if count > 0 {
      let isControl = frame.opcode.isControl
      bytes.readWithUnsafeReadableBytes { source in
        let part = UnsafeRawBufferPointer(rebasing: source[..<count])
        if isControl { Self.unmask(part, frame, &control) } else { Self.unmask(part, frame, &message) }
        return count
      }
      frame.position += count
      frame.missing -= count
    }
    assert(frame.missing >= 0 && control.count <= Self.maximumControlSize, "a frame has the bytes that it announced")
    payload = frame.missing > 0 ? frame : nil
    return frame.missing > 0 ? nil : frame
  }

  private static func unmask(_ bytes: UnsafeRawBufferPointer, _ frame: Payload, _ output: inout [UInt8]) {
    let start = output.count
    output.append(contentsOf: bytes)
    output.withUnsafeMutableBufferPointer { output in
      withUnsafeBytes(of: frame.mask) { mask in
        for index in start..<output.count { output[index] ^= mask[(frame.position + index - start) & 3] }
      }
    }
  }

  /// The event of a complete frame; nil for a fragment that is not the last.
  private mutating func finish(_ frame: Payload) throws(WebSocketFailure) -> Event? {
    switch frame.opcode {
    case .binary, .continuation:
      isFragmented = !frame.isFinal
      if isFragmented { return nil }
      isReturned = true
      return .message(message[...])
    case .text: preconditionFailure("a text frame was refused by its header")
    case .close:
      defer { control = [] }
      return .close(try Self.closeCode(control))
    case .ping:
      defer { control = [] }
      return .ping(control)
    case .pong:
      control = []
      return .pong
    }
  }

  private static func closeCode(_ payload: [UInt8]) throws(WebSocketFailure) -> UInt16? {
    if payload.isEmpty { return nil }
    guard payload.count >= 2, String(validating: payload[2...], as: UTF8.self) != nil else {
      throw WebSocketFailure(.protocolError, "a close frame has a code of two bytes and a reason in UTF-8")
    }
    let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
    switch code {
    case 1_000...1_003, 1_007...1_014, 3_000...4_999: return code
    default: throw WebSocketFailure(.protocolError, "a close frame has the code \(code), which is not for the wire")
    }
  }
}
