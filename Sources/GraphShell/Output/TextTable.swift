import GraphModel
import TerminalCells

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A table with aligned columns; the last one is truncated to fit the terminal.
package struct TextTable {
  private let header: [String]
  private var rows = [[String]]()
  /// The column widths of a table that is printed incrementally.
  private var settled: [Int]?

  /// - Parameter header: the names of the columns. They may come from a user, as with `AS "…"`.
  package init(_ header: [String]) {
    precondition(!header.isEmpty, "a table has a column")
    self.header = header.map(Self.visible)
  }

  package mutating func append(_ row: [String]) {
    precondition(row.count == header.count, "a row has a cell for each column")
    rows.append(row)
  }

  /// The table's text; empty without rows.
  package func text(width: Int = Self.terminalWidth) -> String {
    guard !rows.isEmpty else { return "" }
    let all = [header] + rows
    return lines(all, widths(all, in: width), width)
  }

  /// The rows since the last call, for a table that is printed incrementally. The first call includes the header and
  /// fixes the widths. Empty without rows.
  package mutating func newRowsText(width: Int = Self.terminalWidth) -> String {
    guard !rows.isEmpty else { return "" }
    let part = settled == nil ? [header] + rows : rows
    let widths = settled ?? widths(part, in: width)
    settled = widths
    rows = []
    return lines(part, widths, width)
  }

  private func widths(_ rows: [[String]], in width: Int) -> [Int] {
    // No column before the last takes more than a quarter of the line, so that the text stays visible beside wide
    // cells.
    let most = width == .max ? .max : max(4, width / 4)
    return header.indices.dropLast().map { column in
      min(most, rows.reduce(0) { max($0, Self.width($1[column])) })
    }
  }

  private func lines(_ rows: [[String]], _ widths: [Int], _ limit: Int) -> String {
    assert(widths.count == header.count - 1, "each column except the last has a width")
    return rows.map { row in
      var line = ""
      for (column, width) in widths.enumerated() {
        // Without a terminal nothing is truncated; later rows may be wider than the widths.
        let cell = limit == .max ? row[column] : Self.cut(row[column], to: width)
        line += cell + String(repeating: " ", count: max(0, width - Self.width(cell)) + 2)
      }
      return Self.cut(line + row[widths.count], to: limit)
    }.joined(separator: "\n")
  }

  /// The width of the terminal in columns; unlimited without one.
  package static var terminalWidth: Int {
    var size = winsize()
    guard isatty(1) == 1, ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return .max }
    return Int(size.ws_col)
  }

  /// Maximum width of a text in one-line output, in a table's cell and in a message, in columns.
  package static let longestLine = 200

  /// The first non-blank line, truncated to `longestLine`.
  package static func firstLine(_ text: String) -> String {
    if let line = plainLine(text) { return line }
    let lines = text.drop(while: \.isNewline)
    // Characters without width are limited as well, and the marks of a character.
    let beginning = lines.beginning(of: 4 * longestLine, scalars: 4 * longestLine)
    let line = beginning.prefix { !$0.isNewline }
    let isComplete = line.endIndex < beginning.endIndex || lines[beginning.endIndex...].first?.isNewline != false
    return cut(visible(String(line)) + (isComplete ? "" : "…"), to: longestLine)
  }

  /// The first line of a text, if it is short and has printable ASCII characters only; nil otherwise.
  private static func plainLine(_ text: String) -> String? {
    let bytes = text.utf8
    let end = bytes.firstIndex { !isPlain($0) } ?? bytes.endIndex
    guard end > bytes.startIndex, end == bytes.endIndex || bytes[end] == UInt8(ascii: "\n") else { return nil }
    let line = bytes[..<end]
    return line.count <= longestLine ? String(Substring(line)) : nil
  }

  private static func isPlain(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }

  /// Makes control characters visible, so that a text can neither control the terminal nor shift columns.
  package static func visible(_ text: String) -> String { TextSanitizer.line(text) }

  /// The same for a message of several lines.
  static func visibleLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { visible(String($0)) }.joined(separator: "\n")
  }

  /// A text with all of its lines, in the form for standard output.
  package static func whole(_ text: String) -> String {
    TextSanitizer.whole(text, for: isatty(1) == 1 ? .terminal : .file)
  }

  /// The width in cells: wide characters and emoji take two, combining marks none.
  static func width(_ text: String) -> Int {
    text.utf8.allSatisfy(isPlain) ? text.utf8.count : text.reduce(0) { $0 + width($1) }
  }

  private static func width(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    // A variation selector makes an emoji of a symbol, but of a digit only with a keycap.
    let isSelected = character.unicodeScalars.contains { $0.value == (first.isASCII ? 0x20E3 : 0xFE0F) }
    if first.properties.isEmojiPresentation || isSelected && first.properties.isEmoji {
      return 2
    }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      return 2
    default: return first.properties.generalCategory == .nonspacingMark || first.value == 0x200B ? 0 : 1
    }
  }

  private static func cut(_ line: String, to limit: Int) -> String {
    guard limit < .max, width(line) > limit else { return line }
    var result = ""
    var used = 0
    for character in line {
      let next = width(character)
      if used + next > limit - 1 { break }
      result.append(character)
      used += next
    }
    return result + "…"
  }
}
