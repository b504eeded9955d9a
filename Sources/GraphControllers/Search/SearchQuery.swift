import GraphModel

/// What somebody searches for: the words of what they typed, each of which a word of the text begins with. Words are those of
/// the full-text index, so that what is found, what is judged here and what is highlighted agree.
public struct SearchQuery: Hashable, Sendable {
  /// Folded, in the order of typing. Two texts with the same words are one query.
  public let words: [String]

  /// Nil for a text without a word: it searches for nothing.
  public init?(_ text: String) {
    words = text.words
    if words.isEmpty { return nil }
  }

  /// The condition for the server: each word begins one in some of the attributes.
  /// - Parameters:
  ///   - paths: attributes with a full-text index, or other texts.
  ///   - scope: what holds besides.
  public func predicate(in paths: [GraphPredicate.Path], within scope: GraphPredicate = .always) -> GraphPredicate {
    var parts = scope == .always ? [] : [scope]
    for word in words {
      let found = paths.map { GraphPredicate.comparison(.init(.one, $0, .search, .value(.string(word)))) }
      parts.append(found.count == 1 ? found[0] : .or(found))
    }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  /// Whether each word begins one of the text's.
  public func matches(_ text: String) -> Bool { text.hasWords(beginningWith: words) }

  /// The parts of a text to highlight: of each word that begins with one that was typed, as much as was typed, from the
  /// first to the last.
  public func highlights(in text: String) -> [Range<String.Index>] {
    var ranges = [Range<String.Index>]()
    var search = WordSearch(words)
    for index in text.unicodeScalars.indices {
      if let range = search.take(text.unicodeScalars[index], at: index) { ranges.append(range) }
    }
    if let range = search.end(at: text.endIndex) { ranges.append(range) }
    return ranges
  }
}

/// Walks over a text and keeps the word that it is in, folded scalar by scalar, with where each piece came from.
private struct WordSearch {
  private let wanted: [[UInt8]]
  private var start: String.Index?
  private var folded = [UInt8]()
  /// Where in the text each scalar that counts begins, and how many folded bytes lie before it.
  private var steps = [(index: String.Index, before: Int)]()

  init(_ words: [String]) { wanted = words.map { Array($0.utf8) } }

  mutating func take(_ scalar: Unicode.Scalar, at index: String.Index) -> Range<String.Index>? {
    switch scalar.value {
    case 0x61...0x7A, 0x30...0x39: add([UInt8(scalar.value)], at: index)
    case 0x41...0x5A: add([UInt8(scalar.value) | 0x20], at: index)
    case ..<0x80: return end(at: index)
    default:
      let text = String(scalar)
      let bytes = Array(text.folded([.caseInsensitive, .diacriticInsensitive]).utf8)
      // A mark belongs to what it stands on.
      if bytes.isEmpty { return nil }
      if text.words.isEmpty { return end(at: index) }
      add(bytes, at: index)
    }
    return nil
  }

  private mutating func add(_ bytes: [UInt8], at index: String.Index) {
    start = start ?? index
    steps.append((index, folded.count))
    folded += bytes
  }

  /// The word ends: what of it is highlighted.
  mutating func end(at end: String.Index) -> Range<String.Index>? {
    defer { (start, folded, steps) = (nil, [], []) }
    guard let start else { return nil }
    let length = wanted.filter { folded.starts(with: $0) }.map(\.count).max()
    guard let length else { return nil }
    let rest = steps.first { $0.before >= length }
    return start..<(rest?.index ?? end)
  }
}
