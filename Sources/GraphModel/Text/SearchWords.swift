/// The words of a search, prepared to be looked for in many texts.
public struct SearchWords: Sendable {
  /// Folded, sorted by bytes, and free of prefixes: a text that has a word which begins with "notes" has one that begins
  /// with "no".
  private let beginnings: [[UInt8]]
  /// Runs of scripts without spaces between words.
  private let phrases: [String]

  /// - Parameter words: folded, as `String.words` are.
  public init(_ words: [String]) {
    var beginnings = [[UInt8]]()
    // Behind its prefixes, each word is kept in place of the one before it.
    for word in words.filter({ !$0.isPhrase }).map({ Array($0.utf8) }).sorted(by: { $0.lexicographicallyPrecedes($1) })
    {
      if let last = beginnings.last, word.starts(with: last) { beginnings.removeLast() }
      beginnings.append(word)
    }
    self.beginnings = beginnings
    var seen = Set<ByteKey>()
    phrases = words.filter { $0.isPhrase && seen.insert(ByteKey($0)).inserted }
  }

  /// Whether the text has each of the words: at the beginning of one of its own, or anywhere in a run of a script without
  /// spaces. The time grows with the size of the text, and with the logarithm of the number of words.
  public func areFound(in text: String) -> Bool {
    let own = text.words
    guard phrases.allSatisfy({ phrase in own.contains { TextSearch.contains($0, phrase) } }) else { return false }
    if beginnings.count == 1 { return own.contains { $0.utf8.starts(with: beginnings[0]) } }
    var missing = Set(beginnings.indices)
    var watch = Interruption.Watch(over: text.utf8.count)
    defer { watch.end() }
    for word in own where !missing.isEmpty {
      guard watch.goesOn(word.utf8.count) else { return false }
      if let found = beginning(of: word) { missing.remove(found) }
    }
    return missing.isEmpty
  }

  /// The one word of the search that `word` begins with. None of them is a prefix of another, so only the greatest of
  /// those that are not behind `word` can be one of it.
  private func beginning(of word: String) -> Int? {
    var (low, high) = (0, beginnings.count)
    while low < high {
      let middle = (low + high) / 2
      if word.utf8.lexicographicallyPrecedes(beginnings[middle]) { high = middle } else { low = middle + 1 }
    }
    return low > 0 && word.utf8.starts(with: beginnings[low - 1]) ? low - 1 : nil
  }
}
