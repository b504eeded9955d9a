/// Sequences for a terminal other than cells. All terminals of this century understand or ignore them.
public enum TerminalSequences {
  /// Takes over the screen: the alternate buffer, without cursor, line wrap and bidirectional reordering. Also
  /// enables mouse events with moves (only drags on terminals without moves), focus events, bracketed paste, and the
  /// keyboard protocol that distinguishes escape from alt and reports a key's Latin equivalent (flags 1 and 4).
  public static let enter: [UInt8] = bytes(
    "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[8l\u{1B}[?1002h\u{1B}[?1003h\u{1B}[?1006h\u{1B}[?1004h"
      + "\u{1B}[?2004h\u{1B}[>5u\u{1B}[0m\u{1B}[2J")

  /// Restores the screen. It first terminates a string that may have been cut off, and ends a pending synchronized
  /// update.
  public static let leave: [UInt8] = bytes(
    "\u{1B}\\\u{1B}[?2026l\u{1B}[<u\u{1B}[?2004l\u{1B}[?1004l\u{1B}[?1006l\u{1B}[?1003l\u{1B}[?1002l"
      + "\u{1B}[8h\u{1B}[?7h\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l")

  /// Queries the background color, synchronized updates, and the device attributes, which nearly every terminal
  /// answers and which therefore mark the end of the answers. Do not wait for any of them.
  public static let questions: [UInt8] = bytes("\u{1B}]11;?\u{1B}\\\u{1B}[?2026$p\u{1B}[c")

  /// The maximum size of a clipboard text, in bytes; terminals limit the size of a sequence.
  public static let maximumClipboard = 74_994

  /// Puts a text on the clipboard (OSC 52); nil if it is too long. Terminals that do not permit it ignore it.
  public static func clipboard(_ text: String) -> [UInt8]? {
    guard text.utf8.count <= maximumClipboard else { return nil }
    return bytes("\u{1B}]52;c;") + base64(Array(text.utf8)) + bytes("\u{1B}\\")
  }

  /// Sets the window title, without control characters that could end it early, to at most 200 scalars.
  public static func title(_ text: String) -> [UInt8] {
    let shown = text.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }.prefix(200)
    return bytes("\u{1B}]2;") + bytes(String(String.UnicodeScalarView(shown))) + bytes("\u{1B}\\")
  }

  static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  static func base64(_ data: [UInt8]) -> [UInt8] {
    let letters = bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var coded = [UInt8]()
    coded.reserveCapacity((data.count + 2) / 3 * 4)
    var place = 0
    while place < data.count {
      let part = data[place..<min(place + 3, data.count)]
      let second = part.count > 1 ? part[place + 1] : 0
      let third = part.count > 2 ? part[place + 2] : 0
      coded.append(letters[Int(part[place] >> 2)])
      coded.append(letters[Int(part[place] << 4 & 0x30 | second >> 4)])
      coded.append(part.count > 1 ? letters[Int(second << 2 & 0x3C | third >> 6)] : 0x3D)
      coded.append(part.count > 2 ? letters[Int(third & 0x3F)] : 0x3D)
      place += 3
    }
    return coded
  }
}
