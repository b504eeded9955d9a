/// Collects a paste until `ESC [ 201 ~` ends it. Beyond the limit it continues to the end and drops the bytes.
struct PasteCollector: Sendable {
  private static let end: [UInt8] = [0x1B, 0x5B, 0x32, 0x30, 0x31, 0x7E]

  private(set) var bytes: [UInt8] = []
  private var matched = 0
  private var isCut = false
  /// Whether the paste was interrupted and the bytes received by then have been delivered.
  private(set) var isSilent = false

  /// The time that an interrupted paste waits for more bytes; nil if it has none.
  var deadlineMilliseconds: Int? {
    if isLoneEscape { return TerminalDecoder.escapeMilliseconds }
    return bytes.isEmpty ? nil : TerminalDecoder.sequenceMilliseconds
  }

  /// Whether it has received only escapes, the last of which may begin the end sequence.
  var isLoneEscape: Bool { bytes.allSatisfy { $0 == Self.end[0] } && matched == 1 }

  /// Adds a byte and returns the paste if the byte ends it.
  mutating func receive(_ byte: UInt8) -> PasteEvent? {
    if byte == Self.end[matched] {
      matched += 1
      return matched == Self.end.count ? finish() : nil
    }
    // The partial end sequence was text; only an escape can begin it again.
    for missed in Self.end.prefix(matched) { append(missed) }
    matched = byte == Self.end[0] ? 1 : 0
    if matched == 0 { append(byte) }
    return nil
  }

  private mutating func append(_ byte: UInt8) {
    if bytes.count < TerminalDecoder.maximumPaste { bytes.append(byte) } else { isCut = true }
  }

  /// Returns the text received so far, without an incomplete character at its end, whose rest may still arrive.
  /// Returns nil if nothing has arrived since the last call.
  mutating func handOver() -> PasteEvent? {
    if isSilent, bytes.isEmpty { return nil }
    var rest = Self.partial(bytes)
    if isSilent, rest.count == bytes.count { rest = [] }
    bytes.removeLast(rest.count)
    defer { (bytes, isCut, isSilent) = (rest, false, true) }
    return finish(isOpen: true)
  }

  private static func partial(_ bytes: [UInt8]) -> [UInt8] {
    guard let start = bytes.lastIndex(where: { $0 & 0xC0 != 0x80 }), bytes[start] >= 0xC0 else { return [] }
    let length = bytes[start] >= 0xF0 ? 4 : bytes[start] >= 0xE0 ? 3 : 2
    return bytes.count - start < length ? Array(bytes[start...]) : []
  }

  /// Returns the text with only printable characters, tabs and line breaks. Terminals send `\r` for a line break, and
  /// a paste may contain control sequences.
  private mutating func finish(isOpen: Bool = false) -> PasteEvent {
    // Drop a character that the limit has split.
    if isCut {
      while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
      if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
    }
    var text = String.UnicodeScalarView()
    var isAfterReturn = false
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      defer { isAfterReturn = scalar == "\r" }
      switch scalar.value {
      case 0x0A: if !isAfterReturn { text.append("\n") }
      case 0x0D: text.append("\n")
      case 0x09, 0x20...0x7E, 0xA0...: text.append(scalar)
      default: break
      }
    }
    return PasteEvent(text: String(text), isCut: isCut, isOpen: isOpen)
  }
}
