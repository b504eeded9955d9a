@_spi(_Unicode) import Swift

extension String {
  /// The text folded scalar by scalar, and composed after marks are removed. `ß` thus stays one scalar, and a Korean
  /// syllable is one scalar, as `.` and classes expect.
  func foldedForPatterns(_ options: StringOptions) -> String {
    let folded = folded(options, .simple)
    return options.contains(.diacriticInsensitive) ? String(folded.composed) : folded
  }

  /// The canonical composition of the string.
  var composed: UnicodeScalarView {
    var scalars = UnicodeScalarView()
    var counter = Cancellation.StepCounter(over: utf8.count)
    defer { counter.flush() }
    for scalar in withLongRunsInOrder(&counter)._nfc {
      guard counter.addSteps(16) else { break }
      scalars.append(scalar)
    }
    return scalars
  }
}

/// A table of single-scalar foldings, for classes. It is built once for each set of options when the first class is
/// folded; classes look up their ranges in it instead of folding each scalar of a range, which may have a million.
struct ScalarFolding: Sendable {
  /// The pairs, sorted by `from`; without scalars that fold to themselves, to nothing or to several scalars.
  private let pairs: [(from: UInt32, to: UInt32)]

  static func table(for options: StringOptions) -> ScalarFolding? {
    switch options {
    case [.caseInsensitive]: caseTable
    case [.diacriticInsensitive]: diacriticTable
    case [.caseInsensitive, .diacriticInsensitive]: bothTable
    default: nil
    }
  }

  /// The foldings of the members of the ranges.
  func images(of ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    var result = [ClosedRange<UInt32>]()
    for range in ranges {
      var (low, high) = (0, pairs.count)
      while low < high {
        let middle = (low + high) / 2
        if pairs[middle].from < range.lowerBound { low = middle + 1 } else { high = middle }
      }
      while low < pairs.count, pairs[low].from <= range.upperBound {
        result.append(pairs[low].to...pairs[low].to)
        low += 1
      }
    }
    return result
  }

  /// The foldings of the category's members that are not members themselves.
  func images(of property: ScalarProperty) -> [ClosedRange<UInt32>] {
    var result = [ClosedRange<UInt32>]()
    for pair in pairs {
      guard let from = Unicode.Scalar(pair.from), property.holds(for: from), let to = Unicode.Scalar(pair.to),
        !property.holds(for: to)
      else { continue }
      result.append(pair.to...pair.to)
    }
    return result
  }

  // MARK: - Making it

  private static let caseTable = ScalarFolding([.caseInsensitive])
  private static let diacriticTable = ScalarFolding([.diacriticInsensitive])
  private static let bothTable = ScalarFolding([.caseInsensitive, .diacriticInsensitive])

  /// All ranges with letters that have case or a decomposition. Ideographs, syllables (which are composed again) and
  /// private-use scalars have neither, and scanning them would take most of the time.
  private static let zones: [ClosedRange<UInt32>] = [
    0x41...0x33FF, 0xA000...0xABFF, 0xF900...0x1FFFF, 0x2F800...0x2FA1F,
  ]

  private init(_ options: StringOptions) {
    var pairs = [(from: UInt32, to: UInt32)]()
    for zone in Self.zones {
      for value in zone {
        guard let scalar = Unicode.Scalar(value), Self.mayFold(scalar, options) else { continue }
        let folded = String(scalar).foldedForPatterns(options).unicodeScalars
        guard let image = folded.first, folded.count == 1, image != scalar else { continue }
        pairs.append((value, image.value))
      }
    }
    self.pairs = pairs
  }

  private static func mayFold(_ scalar: Unicode.Scalar, _ options: StringOptions) -> Bool {
    if options.contains(.caseInsensitive), scalar.properties.changesWhenCaseMapped { return true }
    if !options.contains(.diacriticInsensitive) || scalar.value < 0x80 { return false }
    return scalar.withoutWidth != nil || String(scalar)._nfd.first { _ in true } != scalar
  }
}
