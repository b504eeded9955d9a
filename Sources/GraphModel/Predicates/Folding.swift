@_spi(_Unicode) import Swift

/// Which differences between strings do not count.
public struct StringOptions: OptionSet, Hashable, Sendable {
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
    if utf8.allSatisfy({ $0 < 0x80 }) { return options.contains(.caseInsensitive) ? lowercased() : self }
    var result = String.UnicodeScalarView()
    if options.contains(.diacriticInsensitive) {
      for scalar in _nfd where scalar.properties.canonicalCombiningClass == .notReordered { result.append(scalar) }
    } else {
      result = unicodeScalars
    }
    let string = String(result)
    return options.contains(.caseInsensitive) ? string.lowercased() : string
  }

  /// The words of a text for full-text search, folded: runs of letters, digits and marks.
  public var words: [String] {
    folded([.caseInsensitive, .diacriticInsensitive]).unicodeScalars
      .split {
        !($0.properties.isAlphabetic || $0.properties.numericType != nil || $0.properties.isEmoji && $0.value > 0xFF)
      }
      .map { String($0) }
  }
}
