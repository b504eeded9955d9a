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
  public func matches(_ text: String) -> Bool {
    let own = text.words
    guard phrases.allSatisfy({ phrase in own.contains { TextSearch.contains($0, phrase) } }) else { return false }
    if prefixes.count == 1 { return own.contains { $0.utf8.starts(with: prefixes[0]) } }
    var missing = Set(prefixes.indices)
    var counter = Cancellation.StepCounter(over: text.utf8.count)
    defer { counter.flush() }
    for word in own where !missing.isEmpty {
      guard counter.addSteps(word.utf8.count) else { return false }
      if let found = prefix(of: word) { missing.remove(found) }
    }
    return missing.isEmpty
  }

  /// The search word that is a prefix of `word`. No term is a prefix of another one, so only the greatest term that is
  /// not above `word` can be a prefix of it.
  private func prefix(of word: String) -> Int? {
    var (low, high) = (0, prefixes.count)
    while low < high {
      let middle = (low + high) / 2
      if word.utf8.lexicographicallyPrecedes(prefixes[middle]) { high = middle } else { low = middle + 1 }
    }
    return low > 0 && word.utf8.starts(with: prefixes[low - 1]) ? low - 1 : nil
  }
}
