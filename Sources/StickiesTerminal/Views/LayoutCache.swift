import TerminalCells

/// The rows of notes' texts, kept from turn to turn: most notes do not change while one does. Filled as notes are drawn or
/// clicked; when it is full, what was not drawn lately leaves.
///
/// Kept by whoever draws, and used where that one is: nothing in it is guarded.
public final class LayoutCache {
  /// Bytes of a text that are laid out at most. Of a longer one the beginning is shown; an editor shows all of it.
  static let maximumBytes = 1 << 16

  struct Key: Hashable {
    let id: Int
    let width: Int
    /// How many columns the first line may take as a title; what does not fit stays in the body.
    let titleWidth: Int
  }

  /// What a text was laid out as; shared, for it is asked for whenever its note is drawn.
  final class Entry {
    /// The note's text, as it was.
    let source: String
    /// The first line.
    let title: CellLine
    /// What the body shows: all of it, or what follows the title.
    let text: String
    /// Where that begins in `source`, in UTF-8.
    let start: Int
    let layout: TextLayout
    /// Whether there is more of it than was laid out.
    let isCut: Bool
    fileprivate(set) var used: Int

    fileprivate init(
      source: String, title: CellLine, text: String, start: Int, layout: TextLayout, isCut: Bool, used: Int
    ) {
      (self.source, self.title, self.text, self.start) = (source, title, text, start)
      (self.layout, self.isCut, self.used) = (layout, isCut, used)
    }
  }

  /// Entries kept at most.
  public let capacity: Int
  private var entries = [Key: Entry]()
  private var uses = 0
  /// How many texts were laid out, for tests.
  private(set) var misses = 0

  /// An empty cache.
  public init(capacity: Int = 512) { self.capacity = max(1, capacity) }

  /// How many it keeps now.
  var count: Int { entries.count }

  func entry(_ id: Int, text: String, width: Int, titleWidth: Int, cut: Character) -> Entry {
    let key = Key(id: id, width: width, titleWidth: titleWidth)
    uses += 1
    // Texts that share their storage are equal without a look into them.
    if let entry = entries[key], entry.source == text {
      entry.used = uses
      return entry
    }
    misses += 1
    if entries.count >= capacity { evict() }
    let entry = Self.entry(text, width: width, titleWidth: titleWidth, cut: cut, used: uses)
    entries[key] = entry
    return entry
  }

  /// The older half leaves.
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
    while let last = first.last, last == " " || last == "\t" { first.removeLast() }
    let title = CellLine(first, width: titleWidth, cut: cut)
    var start = text.startIndex
    // A title that is shown whole is not said twice.
    if !title.isCut, count < 1000, !first.isEmpty { start = end < text.endIndex ? text.index(after: end) : end }
    var stop = text.endIndex
    if text.utf8.distance(from: start, to: stop) > maximumBytes {
      let place = text.utf8.index(start, offsetBy: maximumBytes)
      // Down to a whole character.
      stop = text.index(before: text.index(after: place))
    }
    let body = String(text[start..<stop])
    return Entry(
      source: text, title: title, text: body, start: text.utf8.distance(from: text.startIndex, to: start),
      layout: TextLayout(body, width: width), isCut: stop < text.endIndex, used: used)
  }
}

extension TextLayout {
  /// The text of a row, line break left out.
  func shown(_ row: Int, of text: String) -> Substring {
    let range = rows[row].visible
    let low = text.utf8.index(text.startIndex, offsetBy: min(range.lowerBound, text.utf8.count))
    let high = text.utf8.index(text.startIndex, offsetBy: min(range.upperBound, text.utf8.count))
    return text[low..<high]
  }
}
