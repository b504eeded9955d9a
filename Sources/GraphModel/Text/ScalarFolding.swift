@_spi(_Unicode) import Swift

extension String {
  /// Folded scalar by scalar, so that `ß` stays one, and composed where marks were dropped: a Korean syllable is one scalar again, as `.` and classes expect.
  func foldedForPatterns(_ options: StringOptions) -> String {
    let folded = folded(options, .simple)
    return options.contains(.diacriticInsensitive) ? String(folded.composed) : folded
  }

  /// Canonical composition.
  var composed: UnicodeScalarView {
    var scalars = UnicodeScalarView()
    var watch = Interruption.Watch(over: utf8.count)
    defer { watch.end() }
    for scalar in _nfc {
      guard watch.goesOn(16) else { break }
      scalars.append(scalar)
    }
    return scalars
  }
}

/// Which scalars fold to which: the table by which classes fold. Made once for each set of options, when a class is
/// first folded; a class then asks for its own part instead of folding every scalar of a range that may hold a million.
struct ScalarFolding: Sendable {
  /// By the first number. Scalars that fold to themselves, to nothing or to several are left out.
  private let pairs: [(from: UInt32, to: UInt32)]

  static func table(for options: StringOptions) -> ScalarFolding? {
    switch options {
    case [.caseInsensitive]: caseTable
    case [.diacriticInsensitive]: diacriticTable
    case [.caseInsensitive, .diacriticInsensitive]: bothTable
    default: nil
    }
  }

  /// What the members of the ranges fold to.
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

  /// What the scalars of the category fold to, as far as they leave it.
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

  /// All planes that have letters with case or a decomposition; ideographs, syllables and private scalars have neither
  /// (a syllable is composed again), and to look at them would take most of the time.
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
