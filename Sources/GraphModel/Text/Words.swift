/// How full-text search splits texts. The store's index, memory and highlights use these functions alone, so they agree.
///
/// A word is a run of letters, digits, marks and emoji, folded as with `[cd]`. A search's word must begin a word of the
/// text. In scripts that put no spaces between words, a run is a phrase, and a search's run must occur in it anywhere.
/// An index files each run of such a script under every two letters that follow each other, and under its last one.
public enum WordSplitter {
  /// Grows with each change of what a text is split into. A store keeps it: an index of other words is made again.
  public static let version: Int32 = 1

  /// Terms of one phrase that an index is asked for at most; what it finds is compared with the whole phrase anyway.
  static let maximumPhraseTerms = 64

  /// The bytes of a word that an index has: FTS5 cuts words here, in texts and in searches.
  public static let maximumTermSize = 32_768
}

extension Unicode.Scalar {
  /// What a scalar of a folded text does to words.
  public enum WordClass: Hashable, Sendable {
    /// Part of a word.
    case letter
    /// Part of a run without spaces between its words: ideographs, kana, Thai and its neighbors.
    case phrase
  }

  /// Nil for what stands between words.
  public var wordClass: WordClass? {
    if value < 0x80 {
      return (0x61...0x7A).contains(value) || (0x41...0x5A).contains(value) || (0x30...0x39).contains(value)
        ? .letter : nil
    }
    let properties = properties
    guard
      properties.isAlphabetic || properties.numericType != nil || properties.isEmoji && value > 0xFF
        || isVisibleMark(properties)
    else { return nil }
    return isOfPhrases || properties.isIdeographic ? .phrase : .letter
  }

  /// A vowel sign, say, which Unicode counts as no letter in some scripts.
  private func isVisibleMark(_ properties: Properties) -> Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark: !properties.isDefaultIgnorableCodePoint
    default: false
    }
  }

  /// Blocks of scripts whose lines may break within a run of letters.
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
  /// The words of a text for full-text search, folded: runs of letters, digits and marks, those of scripts without
  /// spaces by themselves.
  public var words: [String] {
    if let words = asciiWords { return words }
    return unicodeWords
  }

  /// Whether each of `words`, a search's, is found. `SearchWords` prepares the words of a search over many texts.
  public func hasWords(beginningWith words: [String]) -> Bool { SearchWords(words).areFound(in: self) }

  /// Of one of a text's `words`: whether it is a run of a script without spaces.
  public var isPhrase: Bool { unicodeScalars.first?.wordClass == .phrase }

  /// What an index files the text under: its words, and instead of a phrase every two letters of it that follow each
  /// other, and its last one.
  public var indexTerms: [String] {
    if let words = asciiWords { return words }
    return unicodeWords.flatMap { $0.isPhrase ? $0.pairs : [$0] }
  }

  /// Of one of a search's `words`: the beginnings of terms that every text has in which it is found.
  public var searchTerms: [String] {
    guard isPhrase else { return [self] }
    let all = pairs
    var terms = [String]()
    var seen = Set<[UInt8]>()
    // The last letter ends the pair before it, and begins another one in a longer run.
    for term in all.prefix(max(1, all.count - 1)) where seen.insert(Array(term.utf8)).inserted {
      terms.append(term)
      if terms.count == WordSplitter.maximumPhraseTerms { break }
    }
    return terms
  }

  /// Of one of a search's `words`: whether a text that has its `searchTerms` may lack it.
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

  /// The terms with a space between each two, as a full-text index stores them.
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

  /// Most texts are ASCII: no tables of Unicode are asked then. Nil for any other.
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
    var watch = Interruption.Watch(over: utf8.count)
    defer { watch.end() }
    for scalar in folded([.caseInsensitive, .diacriticInsensitive]).unicodeScalars {
      guard watch.goesOn(16) else { return words }
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
