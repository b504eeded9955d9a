/// A paste, until `ESC [ 201 ~` ends it. Past its bound it goes on to the end and keeps no more.
struct PasteCollector: Sendable {
  private static let end: [UInt8] = [0x1B, 0x5B, 0x32, 0x30, 0x31, 0x7E]

  private(set) var bytes: [UInt8] = []
  private var matched = 0
  private var isCut = false

  /// The paste, if the byte ends it.
  mutating func take(_ byte: UInt8) -> PasteEvent? {
    if byte == Self.end[matched] {
      matched += 1
      return matched == Self.end.count ? finish(isCut: false) : nil
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

  /// The text, without anything but letters, tabs and line breaks: terminals send `\r` for a break, and whoever made the text may
  /// have put commands into it.
  mutating func finish(isCut: Bool) -> PasteEvent {
    let cut = isCut || self.isCut
    // A character that the bound cut in two is dropped.
    if cut {
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
    return PasteEvent(text: String(text), isCut: cut)
  }
}
