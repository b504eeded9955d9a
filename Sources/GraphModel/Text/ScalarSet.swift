/// A class of scalars: ranges and categories, or the complement of their union.
struct ScalarSet: Hashable, Sendable {
  /// The ranges, sorted and not adjacent.
  let ranges: [ClosedRange<UInt32>]
  let properties: [ScalarProperty]
  let isNegated: Bool
  /// The membership of U+0000 to U+007F, one bit each.
  private let ascii: [UInt64]

  init(ranges: [ClosedRange<UInt32>], properties: [ScalarProperty] = [], isNegated: Bool = false) {
    let ranges = Self.merged(ranges)
    self.ranges = ranges
    self.properties = properties
    self.isNegated = isNegated
    var ascii: [UInt64] = [0, 0]
    for value in UInt32(0)..<128 where Self.holds(value, ranges, properties) != isNegated {
      ascii[Int(value >> 6)] |= 1 << UInt64(value & 63)
    }
    self.ascii = ascii
  }

  /// The class of `.`.
  static let anyButLineEnds = ScalarSet(ranges: [0x0A...0x0D, 0x85...0x85, 0x2028...0x2029], isNegated: true)

  /// Unicode's White_Space, which is stable: no scalar will be added.
  static let whiteSpace: [ClosedRange<UInt32>] = [
    0x09...0x0D, 0x20...0x20, 0x85...0x85, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
    0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000,
  ]

  func contains(_ value: UInt32) -> Bool {
    if value < 128 { return ascii[Int(value >> 6)] >> UInt64(value & 63) & 1 == 1 }
    return Self.holds(value, ranges, properties) != isNegated
  }

  private static func holds(
    _ value: UInt32, _ ranges: [ClosedRange<UInt32>], _ properties: [ScalarProperty]
  ) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    if low < ranges.count, ranges[low].contains(value) { return true }
    guard !properties.isEmpty, let scalar = Unicode.Scalar(value) else { return false }
    return properties.contains { $0.holds(for: scalar) }
  }

  private static func merged(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    var result = [ClosedRange<UInt32>]()
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = result.last, range.lowerBound <= last.upperBound + 1 {
        result[result.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        result.append(range)
      }
    }
    assert(
      zip(result, result.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound }, "merged ranges do not touch")
    return result
  }

  /// The ranges between the given ones.
  static func complement(of ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    var result = [ClosedRange<UInt32>]()
    var next: UInt32 = 0
    for range in merged(ranges) {
      if range.lowerBound > next { result.append(next...(range.lowerBound - 1)) }
      next = range.upperBound + 1
    }
    if next <= 0x10FFFF { result.append(next...0x10FFFF) }
    return result
  }
}

/// A Unicode property of scalars.
struct ScalarProperty: Hashable, Sendable {
  /// The general categories, one bit each.
  let categories: UInt32
  /// Whether Unicode's Alphabetic is included, which is more than the letters.
  var withAlphabetic = false
  var isNegated = false

  /// `\w`, as Unicode recommends for regular expressions.
  static let word = ScalarProperty(
    categories: ["M", "Nd", "Pc"].reduce(0) { $0 | mask(ofCategory: $1) },
    withAlphabetic: true)

  init(categories: UInt32, withAlphabetic: Bool = false, isNegated: Bool = false) {
    self.categories = categories
    self.withAlphabetic = withAlphabetic
    self.isNegated = isNegated
  }

  /// - Parameter name: `Lu`, or `L` for all categories with this prefix. Nil for an unknown name.
  init?(category name: String) {
    categories = Self.mask(ofCategory: name)
    if categories == 0 { return nil }
  }

  /// The bits of a category, or of all categories with this prefix; none for an unknown name.
  private static func mask(ofCategory name: String) -> UInt32 {
    var mask: UInt32 = 0
    for (index, known) in names.enumerated() where known == name || name.utf8.count == 1 && known.hasPrefix(name) {
      mask |= 1 << UInt32(index)
    }
    return mask
  }

  var negated: ScalarProperty {
    ScalarProperty(categories: categories, withAlphabetic: withAlphabetic, isNegated: !isNegated)
  }

  func holds(for scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    let holds =
      withAlphabetic && properties.isAlphabetic
      || categories >> UInt32(Self.index(of: properties.generalCategory)) & 1 == 1
    return holds != isNegated
  }

  private static let names = [
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
    "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
  ]

  /// The index in `names`.
  private static func index(of category: Unicode.GeneralCategory) -> Int {
    switch category {
    case .uppercaseLetter: 0
    case .lowercaseLetter: 1
    case .titlecaseLetter: 2
    case .modifierLetter: 3
    case .otherLetter: 4
    case .nonspacingMark: 5
    case .spacingMark: 6
    case .enclosingMark: 7
    case .decimalNumber: 8
    case .letterNumber: 9
    case .otherNumber: 10
    case .connectorPunctuation: 11
    case .dashPunctuation: 12
    case .openPunctuation: 13
    case .closePunctuation: 14
    case .initialPunctuation: 15
    case .finalPunctuation: 16
    case .otherPunctuation: 17
    case .mathSymbol: 18
    case .currencySymbol: 19
    case .modifierSymbol: 20
    case .otherSymbol: 21
    case .spaceSeparator: 22
    case .lineSeparator: 23
    case .paragraphSeparator: 24
    case .control: 25
    case .format: 26
    case .surrogate: 27
    case .privateUse: 28
    case .unassigned: 29
    @unknown default: 29
    }
  }
}
