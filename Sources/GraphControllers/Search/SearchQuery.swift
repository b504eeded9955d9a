import GraphModel

/// A search: the words of what was typed. Each begins a word of the text, or occurs in a run of a script without spaces.
/// Words are those of the full-text index, so that what is found, what is judged here and what is highlighted agree.
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

  /// The parts of a text to highlight, from the first to the last: of each word that begins with one that was typed, as
  /// much as was typed, and in scripts without spaces each place where what was typed stands.
  public func highlights(in text: String) -> [Range<String.Index>] {
    var ranges = [Range<String.Index>]()
    var search = WordSearch(words)
    for index in text.unicodeScalars.indices {
      ranges += search.append(text.unicodeScalars[index], at: index)
    }
    return ranges + search.finish(at: text.endIndex)
  }
}

/// Walks over a text and keeps the word that it is in, folded scalar by scalar, with where each piece came from.
private struct WordSearch {
  private let beginnings: [[UInt8]]
  private let phrases: [[UInt8]]
  private var kind: Unicode.Scalar.WordClass?
  private var folded = [UInt8]()
  /// Where in the text each scalar that counts begins, and how many folded bytes lie before it.
  private var steps = [(index: String.Index, before: Int)]()

  init(_ words: [String]) {
    beginnings = words.filter { !$0.isPhrase }.map { Array($0.utf8) }
    phrases = words.filter(\.isPhrase).map { Array($0.utf8) }
  }

  /// - Returns: what is highlighted of a word that ends here.
  mutating func append(_ scalar: Unicode.Scalar, at index: String.Index) -> [Range<String.Index>] {
    switch scalar.value {
    case 0x61...0x7A, 0x30...0x39: return add([UInt8(scalar.value)], .letter, at: index)
    case 0x41...0x5A: return add([UInt8(scalar.value) | 0x20], .letter, at: index)
    case ..<0x80: return finish(at: index)
    default:
      let text = String(scalar).folded([.caseInsensitive, .diacriticInsensitive])
      // A mark belongs to what it stands on.
      guard let first = text.unicodeScalars.first else { return [] }
      guard let kind = first.wordClass else { return finish(at: index) }
      return add(Array(text.utf8), kind, at: index)
    }
  }

  private mutating func add(
    _ bytes: [UInt8], _ next: Unicode.Scalar.WordClass, at index: String.Index
  ) -> [Range<String.Index>] {
    let ended = next == kind ? [] : finish(at: index)
    kind = next
    steps.append((index, folded.count))
    folded += bytes
    return ended
  }

  /// The word ends: what of it is highlighted.
  mutating func finish(at end: String.Index) -> [Range<String.Index>] {
    defer { (kind, folded, steps) = (nil, [], []) }
    switch kind {
    case nil: return []
    case .letter:
      guard let length = beginnings.filter({ folded.starts(with: $0) }).map(\.count).max() else { return [] }
      let rest = steps.first { $0.before >= length }
      return [steps[0].index..<(rest?.index ?? end)]
    case .phrase: return found(until: end)
    }
  }

  /// Places of phrases that overlap are one.
  private func found(until end: String.Index) -> [Range<String.Index>] {
    var ranges = [Range<String.Index>]()
    // Until this byte the run is highlighted.
    var covered = 0
    for (index, before) in steps {
      let lengths = phrases.filter { folded[before...].starts(with: $0) }.map(\.count)
      guard let length = lengths.max(), before + length > covered else { continue }
      let rest = steps.first { $0.before >= before + length }?.index ?? end
      if before < covered, let last = ranges.popLast() {
        ranges.append(last.lowerBound..<rest)
      } else {
        ranges.append(index..<rest)
      }
      covered = before + length
    }
    return ranges
  }
}
