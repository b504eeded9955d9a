import GraphModel
import TerminalCells

/// Caches the laid-out texts of notes from turn to turn, because most notes do not change. Entries are added when
/// notes are drawn or clicked; when the cache is full, the least recently used half is evicted.
///
/// Not thread-safe: used only where drawing happens.
public final class LayoutCache {
  /// Maximum length of a text that is laid out, in bytes. Only the beginning of a longer one is shown; an editor
  /// shows all of it.
  static let maximumBytes = 1 << 16

  struct Key: Hashable {
    let id: Int
    let width: Int
    /// Maximum width of the first line as a title; a longer line stays in the body.
    let titleWidth: Int
  }

  /// The layout of a text; a class, so that each drawing shares it.
  final class Entry {
    /// The note's text at the time of the layout.
    let source: String
    /// The first line.
    let title: TruncatedLine
    /// The text of the body: the complete text, or the text after the title.
    let text: String
    /// The start of the body in `source`, in UTF-8.
    let start: Int
    let layout: TextLayout
    /// Whether the text was too long to be laid out completely.
    let isCut: Bool
    fileprivate(set) var used: Int

    fileprivate init(
      source: String, title: TruncatedLine, text: String, start: Int, layout: TextLayout, isCut: Bool, used: Int
    ) {
      (self.source, self.title, self.text, self.start) = (source, title, text, start)
      (self.layout, self.isCut, self.used) = (layout, isCut, used)
    }
  }

  /// Maximum number of entries.
  public let capacity: Int
  private var entries = [Key: Entry]()
  private var uses = 0
  /// The number of layouts made so far, for tests.
  private(set) var misses = 0

  /// Creates an empty cache.
  public init(capacity: Int = 512) { self.capacity = max(1, capacity) }

  /// The current number of entries.
  var count: Int { entries.count }

  func entry(_ id: Int, text: String, width: Int, titleWidth: Int, cut: Character) -> Entry {
    let key = Key(id: id, width: width, titleWidth: titleWidth)
    uses += 1
    // By bytes: in a canonically equivalent text, the places are others. Texts with shared storage take constant time.
    if let entry = entries[key], UTF8Comparison.equal(entry.source, text) {
      entry.used = uses
      return entry
    }
    misses += 1
    if entries.count >= capacity { evict() }
    let entry = Self.entry(text, width: width, titleWidth: titleWidth, cut: cut, used: uses)
    entries[key] = entry
    return entry
  }

  /// Evicts the older half.
  private func evict() {
    let uses = entries.values.map(\.used).sorted()
    let middle = uses[uses.count / 2]
    entries = entries.filter { $0.value.used > middle }
  }

  private static func entry(_ text: String, width: Int, titleWidth: Int, cut: Character, used: Int) -> Entry {
    var end = text.startIndex
    var count = 0
    while end < text.endIndex, count < 1000, !text[end].isNewline {
      end = text.index(after: end)
      count += 1
    }
    var first = String(text[..<end])
    // By scalars: comparing characters normalizes them, which takes long for one with many marks.
    while let last = first.unicodeScalars.last, last == " " || last == "\t" { first.unicodeScalars.removeLast() }
    let title = TruncatedLine(first, width: titleWidth, cut: cut)
    var start = text.startIndex
    // A title that fits is not repeated in the body.
    if !title.isCut, count < 1000, !first.isEmpty { start = end < text.endIndex ? text.index(after: end) : end }
    var stop = text.endIndex
    if text.utf8.distance(from: start, to: stop) > maximumBytes {
      let place = text.utf8.index(start, offsetBy: maximumBytes)
      // Rounds down to a complete character.
      stop = text.index(before: text.index(after: place))
    }
    let body = String(text[start..<stop])
    return Entry(
      source: text, title: title, text: body, start: text.utf8.distance(from: text.startIndex, to: start),
      layout: TextLayout(body, width: width), isCut: stop < text.endIndex, used: used)
  }
}

extension TextLayout {
  /// The text of a row without its line break.
  func shown(_ row: Int, of text: String) -> Substring {
    let range = rows[row].visible
    let low = text.utf8.index(text.startIndex, offsetBy: min(range.lowerBound, text.utf8.count))
    let high = text.utf8.index(text.startIndex, offsetBy: min(range.upperBound, text.utf8.count))
    return text[low..<high]
  }
}
