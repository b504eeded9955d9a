import GraphModel

/// The change of a text, short enough for a line: whole words, and only the beginning of a long part.
package enum TextChange: Equatable {
  case inserted(String)
  case removed(String)
  case replaced(String, String)

  /// The number of characters shown of a part.
  private static let shown = 40

  /// The smallest difference that cuts no word; nil for equal texts.
  package static func between(_ old: String, _ new: String) -> TextChange? {
    let splice = TextSplice.smallest(from: old, to: new)
    guard splice.length > 0 || !splice.insertion.isEmpty else { return nil }
    let (a, b) = (Array(old.utf8), Array(new.utf8))
    var start = splice.offset
    var (oldEnd, newEnd) = (splice.end, splice.offset + splice.insertion.utf8.count)
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    /// Whether a position is inside a word. The changed part may be blank or empty; its neighbors are in both texts.
    func cutsWord(_ bytes: [UInt8], at place: Int) -> Bool {
      place > 0 && place < bytes.count && !isSpace(bytes[place - 1]) && !isSpace(bytes[place])
    }
    // An inserted word may begin like the next one: the same splice further to the left may cut no word.
    let longer = splice.length == 0 ? b : a
    var slid = 0
    if splice.length == 0 || splice.insertion.isEmpty {
      let end = splice.length == 0 ? newEnd : oldEnd
      while start > slid, cutsWord(longer, at: end - slid), longer[start - slid - 1] == longer[end - slid - 1] {
        slid += 1
      }
      if cutsWord(longer, at: end - slid) || cutsWord(longer, at: start - slid) { slid = 0 }
    }
    (start, oldEnd, newEnd) = (start - slid, oldEnd - slid, newEnd - slid)
    while cutsWord(a, at: start) || cutsWord(b, at: start) { start -= 1 }
    while cutsWord(a, at: oldEnd) || cutsWord(b, at: newEnd) {
      oldEnd += 1
      newEnd += 1
    }
    assert(a[..<start] == b[..<start] && a[oldEnd...] == b[newEnd...], "the texts around a change are equal")
    func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    let (was, now) = (text(a[start..<oldEnd]), text(b[start..<newEnd]))
    if was.isEmpty { return .inserted(now) }
    return now.isEmpty ? .removed(was) : .replaced(was, now)
  }

  /// The text in quotes on one line, with control characters made visible.
  package static func quoted(_ text: String) -> String {
    let beginning = text.beginning(of: shown)
    let lines = beginning.map { $0.isNewline ? "⏎" : String($0) }.joined()
    return "\"\(TextTable.visible(lines))\(beginning.endIndex < text.endIndex ? "…" : "")\""
  }
}
