import GraphModel

/// A search query: the words of a text. Each matches a word that it is a prefix of, or a part of a run in a script
/// without spaces. Words are split as in the full-text index, so the server's results, `matches` and `highlights`
/// agree.
public struct SearchQuery: Hashable, Sendable {
  /// The folded words, in the order of typing. Two texts with the same words make equal queries.
  public let words: [String]

  /// Creates a query; nil for a text without a word.
  public init?(_ text: String) {
    words = text.words
    if words.isEmpty { return nil }
  }

  /// Returns the predicate for the server: each word is a prefix of a word in at least one of the attributes.
  /// - Parameters:
  ///   - paths: attributes with a full-text index, or other strings.
  ///   - scope: a further condition.
  public func predicate(in paths: [GraphPredicate.Path], within scope: GraphPredicate = .always) -> GraphPredicate {
    var parts = scope == .always ? [] : [scope]
    for word in words {
      let found = paths.map { GraphPredicate.comparison(.init(.one, $0, .search, .value(.string(word)))) }
      parts.append(found.count == 1 ? found[0] : .or(found))
    }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  /// Returns whether each word of the query is a prefix of a word in the text.
  public func matches(_ text: String) -> Bool { text.hasWords(beginningWith: words) }

  /// Returns the ranges of a text to highlight, in order: the matching prefix of each matching word, and in scripts
  /// without spaces each occurrence of a query word.
  public func highlights(in text: String) -> [Range<String.Index>] {
    var ranges = [Range<String.Index>]()
    var search = WordSearch(words)
    for index in text.unicodeScalars.indices {
      ranges += search.append(text.unicodeScalars[index], at: index)
    }
    return ranges + search.finish(at: text.endIndex)
  }
}

/// Iterates over a text and accumulates the current word, folded scalar by scalar, with the origin of each piece.
private struct WordSearch {
  private let beginnings: [[UInt8]]
  private let phrases: [[UInt8]]
  private var kind: Unicode.Scalar.WordClass?
  private var folded = [UInt8]()
  /// For each scalar of the word, its index in the text and the number of folded bytes before it.
  private var steps = [(index: String.Index, before: Int)]()

  init(_ words: [String]) {
    beginnings = words.filter { !$0.isPhrase }.map { Array($0.utf8) }
    phrases = words.filter(\.isPhrase).map { Array($0.utf8) }
  }

  /// - Returns: the highlighted ranges of a word that ends before this scalar.
  mutating func append(_ scalar: Unicode.Scalar, at index: String.Index) -> [Range<String.Index>] {
    switch scalar.value {
    case 0x61...0x7A, 0x30...0x39: return add([UInt8(scalar.value)], .letter, at: index)
    case 0x41...0x5A: return add([UInt8(scalar.value) | 0x20], .letter, at: index)
    case ..<0x80: return finish(at: index)
    default:
      let text = String(scalar).folded([.caseInsensitive, .diacriticInsensitive])
      // A combining mark belongs to the preceding scalar.
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

  /// Ends the current word and returns its highlighted ranges.
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

  /// Returns the occurrences of the phrases; overlapping ones are merged.
  private func found(until end: String.Index) -> [Range<String.Index>] {
    var ranges = [Range<String.Index>]()
    // The end, in folded bytes, of the highlighted part.
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
