/// A paste, until `ESC [ 201 ~` ends it. Past its bound it goes on to the end and keeps no more.
struct PasteCollector: Sendable {
  private static let end: [UInt8] = [0x1B, 0x5B, 0x32, 0x30, 0x31, 0x7E]

  private(set) var bytes: [UInt8] = []
  private var matched = 0
  private var isCut = false
  /// It fell silent, and what had come by then is handed over.
  private(set) var isSilent = false

  /// Of one that is silent: how long what has come may wait for more; nil when nothing has.
  var deadlineMilliseconds: Int? {
    if isLoneEscape { return TerminalDecoder.escapeMilliseconds }
    return bytes.isEmpty ? nil : TerminalDecoder.sequenceMilliseconds
  }

  /// Nothing has come but escapes, of which the last may begin the end.
  var isLoneEscape: Bool { bytes.allSatisfy { $0 == Self.end[0] } && matched == 1 }

  /// The paste, if the byte ends it.
  mutating func take(_ byte: UInt8) -> PasteEvent? {
    if byte == Self.end[matched] {
      matched += 1
      return matched == Self.end.count ? finish() : nil
    }
    // What looked like the end was text; only an escape may begin it anew.
    for missed in Self.end.prefix(matched) { keep(missed) }
    matched = byte == Self.end[0] ? 1 : 0
    if matched == 0 { keep(byte) }
    return nil
  }

  private mutating func keep(_ byte: UInt8) {
    if bytes.count < TerminalDecoder.maximumPaste { bytes.append(byte) } else { isCut = true }
  }

  /// What has come, without a character's beginning at its end: its rest belongs to it, if it comes soon.
  ///
  /// Nil when nothing has come since it was done last.
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

  /// The text, without anything but letters, tabs and line breaks: terminals send `\r` for a break, and whoever made the text may
  /// have put commands into it.
  private mutating func finish(isOpen: Bool = false) -> PasteEvent {
    // A character that the bound cut in two is dropped.
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
