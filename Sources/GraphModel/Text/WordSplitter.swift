/// The splitting of texts for full-text search. The store's index, the in-memory evaluator and highlighting all use
/// these functions, so that they agree.
///
/// A word is a run of letters, digits, marks and emoji, folded as with `[cd]`. A word of a search must be a prefix of
/// a word of the text. In scripts without spaces between words, a run is a phrase, and a search's run may occur
/// anywhere in it. An index contains the bigrams of such a run, and its last letter.
public enum WordSplitter {
  /// The version of the splitting. The store records it, and rebuilds an index of another version.
  public static let version: Int32 = 1

  /// The most terms of a phrase for an index lookup. The results are compared with the complete phrase anyway.
  static let maximumPhraseTerms = 64

  /// The size of an index term in bytes, at which FTS5 truncates words, in texts and in searches.
  public static let maximumTermSize = 32_768
}

extension Unicode.Scalar {
  /// The role of a folded text's scalar in words.
  public enum WordClass: Hashable, Sendable {
    /// A part of a word.
    case letter
    /// A part of a run of a script without spaces: ideographs, kana, Thai and related scripts.
    case phrase
  }

  /// The role of the scalar; nil for a separator.
  public var wordClass: WordClass? {
    if value < 0x80 {
      return (0x61...0x7A).contains(value) || (0x41...0x5A).contains(value) || (0x30...0x39).contains(value)
        ? .letter : nil
    }
    switch value {
    // The most frequent folded letters beyond ASCII, Latin, Cyrillic, kana and ideographs, without Unicode's tables.
    case 0xDF...0xF6, 0xF8...0xFF, 0x430...0x45F: return .letter
    case 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FFC: return .phrase
    default: return wordClassByProperties
    }
  }

  /// The role of a scalar beyond ASCII.
  var wordClassByProperties: WordClass? {
    let properties = properties
    guard
      properties.isAlphabetic || properties.numericType != nil || properties.isEmoji && value > 0xFF
        || isVisibleMark(properties)
    else { return nil }
    return isOfPhrases || properties.isIdeographic ? .phrase : .letter
  }

  /// Whether the scalar is a mark such as a vowel sign, which Unicode does not count as a letter in some scripts.
  private func isVisibleMark(_ properties: Properties) -> Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark: !properties.isDefaultIgnorableCodePoint
    default: false
    }
  }

  /// Whether the scalar is in a block of a script that allows line breaks within runs of letters.
  private var isOfPhrases: Bool {
    switch value {
    case 0x0E00...0x0EFF,  // Thai, Lao
      0x1000...0x109F, 0xA9E0...0xA9FF, 0xAA60...0xAA7F,  // Myanmar
      0x1780...0x17FF,  // Khmer
      0x1950...0x19DF, 0x1A20...0x1AAF, 0xAA80...0xAADF, 0x11700...0x1174F,  // Tai scripts
      0x1B00...0x1B7F, 0xA980...0xA9DF,  // Balinese, Javanese
      0x3005, 0x303B, 0x3041...0x30FF, 0x31F0...0x31FF,  // kana and marks of repetition
      0x1AFF0...0x1AFFF, 0x1B000...0x1B16F:
      true
    default: false
    }
  }
}

extension String {
  /// The folded words of a text for full-text search. They are runs of letters, digits and marks; runs of scripts
  /// without spaces are separate.
  public var words: [String] {
    if let words = asciiWords { return words }
    return unicodeWords
  }

  /// Whether each of the search's `words` is found. `SearchTermMatcher` prepares them for many texts.
  public func hasWords(beginningWith words: [String]) -> Bool { SearchTermMatcher(words).matches(self) }

  /// Whether the string, one of a text's `words`, is a run of a script without spaces.
  public var isPhrase: Bool { unicodeScalars.first?.wordClass == .phrase }

  /// The terms of the text for an index: its words, with phrases replaced by their bigrams and their last letter.
  public var indexTerms: [String] {
    if let words = asciiWords { return words }
    return unicodeWords.flatMap { $0.isPhrase ? $0.pairs : [$0] }
  }

  /// For one of a search's `words`, the term prefixes that every matching text has.
  public var searchTerms: [String] {
    guard isPhrase else { return [self] }
    let all = pairs
    var terms = [String]()
    var seen = Set<[UInt8]>()
    // The last letter alone is redundant after the bigram that it ends; in a longer run it begins another bigram.
    for term in all.prefix(max(1, all.count - 1)) where seen.insert(Array(term.utf8)).inserted {
      terms.append(term)
      if terms.count == WordSplitter.maximumPhraseTerms { break }
    }
    return terms
  }

  /// For one of a search's `words`, whether a text with its `searchTerms` may still not match.
  public var needsComparison: Bool {
    isPhrase && unicodeScalars.count > 2 || utf8.count > WordSplitter.maximumTermSize
  }

  private var pairs: [String] {
    let scalars = Array(unicodeScalars)
    return scalars.indices.map { index in
      var pair = UnicodeScalarView()
      pair.append(contentsOf: scalars[index..<min(index + 2, scalars.count)])
      return String(pair)
    }
  }

  /// The terms separated by spaces, as a full-text index stores them.
  public var wordList: String {
    var bytes = [UInt8]()
    bytes.reserveCapacity(utf8.count)
    var isBetween = false
    for byte in utf8 {
      switch byte {
      case 0x61...0x7A, 0x30...0x39, 0x41...0x5A:
        if isBetween, !bytes.isEmpty { bytes.append(0x20) }
        isBetween = false
        bytes.append(byte < 0x41 ? byte : byte | 0x20)
      case 0x80...: return indexTerms.joined(separator: " ")
      default: isBetween = true
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The words of an ASCII text, which most are, without Unicode's tables; nil for other texts.
  private var asciiWords: [String]? {
    var words = [String]()
    var word = [UInt8]()
    for byte in utf8 {
      switch byte {
      case 0x61...0x7A, 0x30...0x39: word.append(byte)
      case 0x41...0x5A: word.append(byte | 0x20)
      case 0x80...: return nil
      default:
        if !word.isEmpty {
          words.append(String(decoding: word, as: UTF8.self))
          word.removeAll(keepingCapacity: true)
        }
      }
    }
    if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
    return words
  }

  private var unicodeWords: [String] {
    var words = [String]()
    var word = UnicodeScalarView()
    var kind: Unicode.Scalar.WordClass?
    var counter = Cancellation.StepCounter(over: utf8.count)
    defer { counter.flush() }
    for scalar in folded([.caseInsensitive, .diacriticInsensitive]).unicodeScalars {
      guard counter.addSteps(16) else { return words }
      let next = scalar.wordClass
      if next != kind, !word.isEmpty {
        words.append(String(word))
        word = UnicodeScalarView()
      }
      kind = next
      if next != nil { word.append(scalar) }
    }
    if !word.isEmpty { words.append(String(word)) }
    return words
  }
}
