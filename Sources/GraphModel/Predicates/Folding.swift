@_spi(_Unicode) import Swift

/// Which differences between strings do not count.
public struct StringOptions: OptionSet, Hashable, Sendable {
  /// A bit for each option.
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `[c]`
  public static let caseInsensitive = StringOptions(rawValue: 1)
  /// `[d]`
  public static let diacriticInsensitive = StringOptions(rawValue: 2)
}

extension String {
  /// The string without the differences that do not count: `É` becomes `e`. Canonical decomposition, marks dropped,
  /// then Unicode's own lower case, without any language's exceptions, so that every machine folds alike.
  public func folded(_ options: StringOptions) -> String {
    if options.isEmpty { return self }
    if utf8.allSatisfy({ $0 < 0x80 }) {
      Interruption.Watch(over: utf8.count, spending: utf8.count).end()
      return options.contains(.caseInsensitive) ? lowercased() : self
    }
    var result = String.UnicodeScalarView()
    if options.contains(.diacriticInsensitive) {
      var watch = Interruption.Watch(over: utf8.count)
      defer { watch.end() }
      for scalar in _nfd {
        // Its properties are looked up.
        guard watch.goesOn(16) else { return "" }
        if scalar.properties.canonicalCombiningClass == .notReordered { result.append(scalar) }
      }
    } else {
      result = unicodeScalars
    }
    let string = String(result)
    return options.contains(.caseInsensitive) ? string.mappedInPieces { $0.lowercased() } : string
  }

  /// The words of a text for full-text search, folded: runs of letters, digits and marks.
  public var words: [String] {
    if let words = asciiWords { return words }
    return unicodeWords
  }

  /// Whether each of `prefixes`, folded as words are, begins one of the text's words.
  public func hasWords(beginningWith prefixes: [String]) -> Bool {
    let words = words
    return prefixes.allSatisfy { prefix in words.contains { $0.utf8.starts(with: prefix.utf8) } }
  }

  /// The words with a space between each two, as a full-text index stores them.
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
      case 0x80...: return words.joined(separator: " ")
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
    var watch = Interruption.Watch(over: utf8.count)
    defer { watch.end() }
    return folded([.caseInsensitive, .diacriticInsensitive]).unicodeScalars
      .split {
        // Words end everywhere once nobody waits for them.
        !watch.goesOn(16)
          || !($0.properties.isAlphabetic || $0.properties.numericType != nil
            || $0.properties.isEmoji && $0.value > 0xFF)
      }
      .map { String($0) }
  }
}
