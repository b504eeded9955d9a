@_spi(_Unicode) import Swift

/// The differences between strings that a comparison ignores.
public struct StringOptions: OptionSet, Hashable, Sendable {
  /// The bits of the options.
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `[c]`
  public static let caseInsensitive = StringOptions(rawValue: 1)
  /// `[d]`
  public static let diacriticInsensitive = StringOptions(rawValue: 2)
}

extension String {
  /// The string without the ignored differences: `É` becomes `e`.
  ///
  /// - `[c]`: Unicode's full case folding (statuses C and F), scalar by scalar and language-independent: `ß` becomes
  ///   `ss`, `ﬁ` becomes `fi`, a final sigma the other one, `İ` an `i` with a dot above.
  /// - `[d]`: full-width and half-width forms and the Latin digraphs become the letters that Unicode maps them to;
  ///   then canonical decomposition, without marks.
  ///
  /// With both, marks are removed first, so that base letters are folded. The result is the same on every machine.
  public func folded(_ options: StringOptions) -> String { folded(options, .full) }

  /// The length of a scalar's folding, where Unicode defines several.
  enum FoldingLength {
    case full
    /// One scalar each, as regular expressions need it: they count scalars, and their classes contain scalars.
    case simple
  }

  func folded(_ options: StringOptions, _ length: FoldingLength) -> String {
    if options.isEmpty { return self }
    let foldsCase = options.contains(.caseInsensitive)
    if utf8.allSatisfy({ $0 < 0x80 }) {
      Cancellation.StepCounter(over: utf8.count, counting: utf8.count).flush()
      return foldsCase ? lowercased() : self
    }
    // The loops below look up properties of each scalar, which takes time.
    var counter = Cancellation.StepCounter(over: utf8.count)
    defer { counter.flush() }
    var result = [UInt8]()
    result.reserveCapacity(utf8.count)
    func append(_ scalar: Unicode.Scalar) {
      if foldsCase { scalar.appendCaseFolded(to: &result, length) } else { result.append(contentsOf: scalar.utf8) }
    }
    if options.contains(.diacriticInsensitive) {
      for scalar in withoutWidth(length).withLongRunsInOrder(&counter)._nfd {
        guard counter.addSteps(16) else { return "" }
        if scalar.properties.canonicalCombiningClass == .notReordered { append(scalar) }
      }
    } else {
      for scalar in unicodeScalars {
        guard counter.addSteps(16) else { return "" }
        append(scalar)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
