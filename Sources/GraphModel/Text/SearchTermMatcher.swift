/// The words of a search, prepared for matching many texts.
public struct SearchTermMatcher: Sendable {
  /// The words, folded, sorted by bytes, without words that are prefixes of others. A text with a word that begins with
  /// "notes" also has one that begins with "no".
  private let prefixes: [[UInt8]]
  /// Runs of scripts without spaces between words.
  private let phrases: [String]

  /// - Parameter words: the words, folded as `String.words` are.
  public init(_ words: [String]) {
    var prefixes = [[UInt8]]()
    // In sorted order a word follows its prefixes, and replaces them.
    for word in words.filter({ !$0.isPhrase }).map({ Array($0.utf8) }).sorted(by: { $0.lexicographicallyPrecedes($1) })
    {
      if let last = prefixes.last, word.starts(with: last) { prefixes.removeLast() }
      prefixes.append(word)
    }
    self.prefixes = prefixes
    var seen = Set<ByteKey>()
    phrases = words.filter { $0.isPhrase && seen.insert(ByteKey($0)).inserted }
  }

  /// Whether the text contains each of the words. A word must be a prefix of one of the text's words, or occur
  /// anywhere in a run of a script without spaces. Linear in the size of the text; logarithmic in the number of words,
  /// and linear in the number of those from scripts without spaces.
  public func matches(_ text: String) -> Bool { matches(text.words, size: text.utf8.count) }

  /// - Parameters:
  ///   - own: the text's `words`.
  ///   - size: the size of the text, in bytes.
  fileprivate func matches(_ own: [String], size: Int) -> Bool {
    guard phrases.allSatisfy({ phrase in own.contains { TextSearch.contains($0, phrase) } }) else { return false }
    if prefixes.count == 1 { return own.contains { $0.utf8.starts(with: prefixes[0]) } }
    var missing = Set(prefixes.indices)
    var counter = Cancellation.StepCounter(over: size)
    defer { counter.flush() }
    for word in own where !missing.isEmpty {
      guard counter.addSteps(word.utf8.count) else { return false }
      if let found = Self.prefix(of: word, in: prefixes) { missing.remove(found) }
    }
    return missing.isEmpty
  }

  /// The search word that is a prefix of `word`. No term is a prefix of another one, so only the greatest term that is
  /// not above `word` can be a prefix of it.
  fileprivate static func prefix(of word: String, in prefixes: [[UInt8]]) -> Int? {
    var (low, high) = (0, prefixes.count)
    while low < high {
      let middle = (low + high) / 2
      if word.utf8.lexicographicallyPrecedes(prefixes[middle]) { high = middle } else { low = middle + 1 }
    }
    return low > 0 && word.utf8.starts(with: prefixes[low - 1]) ? low - 1 : nil
  }
}

/// Several searches, at least one of which a text must match. The text is split into words once for all of them, and
/// searches for a single word are looked up together.
struct SearchAlternatives: Sendable {
  /// The searches for a single word, sorted by bytes, without words that begin with others: a text with a word that
  /// begins with "notes" is found by "no" already.
  private let prefixes: [[UInt8]]
  private let others: [SearchTermMatcher]

  /// - Parameter searches: the words of each search.
  init(_ searches: [[String]]) {
    var (single, others) = ([[UInt8]](), [SearchTermMatcher]())
    for words in searches {
      if words.count == 1, !words[0].isPhrase {
        single.append(Array(words[0].utf8))
      } else {
        others.append(SearchTermMatcher(words))
      }
    }
    var prefixes = [[UInt8]]()
    for word in single.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      // In sorted order a word follows its prefixes.
      if let last = prefixes.last, word.starts(with: last) { continue }
      prefixes.append(word)
    }
    (self.prefixes, self.others) = (prefixes, others)
  }

  func matches(_ text: String) -> Bool {
    let own = text.words
    if !prefixes.isEmpty {
      var counter = Cancellation.StepCounter(over: text.utf8.count)
      defer { counter.flush() }
      for word in own {
        guard counter.addSteps(word.utf8.count) else { return false }
        if SearchTermMatcher.prefix(of: word, in: prefixes) != nil { return true }
      }
    }
    return others.contains { $0.matches(own, size: text.utf8.count) }
  }
}
