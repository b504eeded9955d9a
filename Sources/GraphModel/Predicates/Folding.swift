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
  /// The string without the differences that do not count: `É` becomes `e`.
  ///
  /// - `[c]`: Unicode's full case folding (statuses C and F), scalar by scalar and of no language: `ß` becomes `ss`,
  ///   `ﬁ` `fi`, a final sigma the other one, `İ` an `i` with a dot above.
  /// - `[d]`: full- and half-width forms and the Latin digraphs become the letters that Unicode gives for them, then
  ///   canonical decomposition, marks dropped.
  ///
  /// With both, marks go first, so that folding meets base letters. Every machine folds alike.
  public func folded(_ options: StringOptions) -> String { folded(options, .full) }

  /// How letters fold for which Unicode has several.
  enum FoldingLength {
    case full
    /// Each scalar by itself, as patterns need it: they count scalars, and their classes hold such.
    case simple
  }

  func folded(_ options: StringOptions, _ length: FoldingLength) -> String {
    if options.isEmpty { return self }
    let foldsCase = options.contains(.caseInsensitive)
    if utf8.allSatisfy({ $0 < 0x80 }) {
      Interruption.Watch(over: utf8.count, spending: utf8.count).end()
      return foldsCase ? lowercased() : self
    }
    // The properties of each scalar are looked up.
    var watch = Interruption.Watch(over: utf8.count)
    defer { watch.end() }
    var result = String.UnicodeScalarView()
    func append(_ scalar: Unicode.Scalar) {
      if foldsCase { scalar.appendCaseFolded(to: &result, length) } else { result.append(scalar) }
    }
    if options.contains(.diacriticInsensitive) {
      for scalar in withoutWidth(length)._nfd {
        guard watch.goesOn(16) else { return "" }
        if scalar.properties.canonicalCombiningClass == .notReordered { append(scalar) }
      }
    } else {
      for scalar in unicodeScalars {
        guard watch.goesOn(16) else { return "" }
        append(scalar)
      }
    }
    return String(result)
  }
}
