@_spi(_Unicode) import Swift

/// An order of strings for people, the same on every machine. It uses Unicode's tables, which the program contains,
/// without the exceptions of single languages. A string is converted to a key, and keys are compared by bytes, so that
/// an index or a sort needs no custom function.
///
/// Keys compare level by level:
///
/// 1. the base letters: canonically decomposed, without marks, case-folded (`ß` is `ss`). Punctuation, spaces and
///    symbols precede digits, digits precede letters; each group is ordered by scalars. Digits of all scripts are
///    equal at this level;
/// 2. the marks: `e` before `é`;
/// 3. the case: `a` before `A`;
/// 4. the leading zeros of numbers, fewer first (``natural`` only);
/// 5. the text's UTF-8, so that different strings have different keys.
///
/// A letter that Unicode does not decompose, such as `ø` or `ł`, follows `z`. A program with other Unicode tables may
/// order newer scalars differently; stored keys should then be rebuilt.
public enum Collation: String, Sendable, CaseIterable {
  /// As ``localized``, except that a run of digits is ordered as a number of any length: `9` before `10`.
  case natural
  /// Digits are ordered one by one.
  case localized

  /// The collation key of the text, a function of the text alone.
  public func key(_ text: String) -> [UInt8] {
    var key = CollationKey(countsNumbers: self == .natural)
    let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
    var counter = Cancellation.StepCounter(over: text.utf8.count)
    defer { counter.flush() }
    if isASCII {
      for byte in text.utf8 {
        guard counter.addSteps(4) else { return [] }
        key.append(ascii: byte)
      }
    } else {
      for scalar in text.withLongRunsInOrder(&counter)._nfd {
        guard counter.addSteps(64) else { return [] }
        key.append(scalar)
      }
    }
    return key.finished(with: text)
  }

  /// The order of the two texts' keys.
  public func order(_ left: String, _ right: String) -> ValueOrdering {
    let (a, b) = (key(left), key(right))
    return a == b ? .same : a.lexicographicallyPrecedes(b) ? .ascending : .descending
  }
}

/// The levels of a key under construction. No part of a level begins with 0, which ends the level, and every part is
/// self-delimiting.
private struct CollationKey {
  let countsNumbers: Bool
  private var bases = [UInt8]()
  private var marks = Level()
  private var cases = Level()
  private var zeros = Level()
  private var number: Number?

  /// A run of digits. The run has one mark and one case weight, so that `7` and `07` have equally many parts.
  private struct Number {
    private(set) var digits = [UInt8]()
    private(set) var zeros = 0

    mutating func append(_ digit: UInt8) {
      if digit == 0, digits.isEmpty { zeros += 1 } else { digits.append(Group.digit + digit) }
    }
  }

  /// A level that omits trailing default weights, so that a text without marks needs no bytes for them.
  private struct Level {
    static let defaultWeight: UInt8 = 2
    private(set) var bytes = [UInt8]()
    private var pendingDefaults = 0

    mutating func appendDefault() { pendingDefaults += 1 }

    mutating func append(_ unusual: some Sequence<UInt8>) {
      bytes.append(contentsOf: repeatElement(Self.defaultWeight, count: pendingDefaults))
      pendingDefaults = 0
      bytes.append(contentsOf: unusual)
    }
  }

  /// The groups of the first level, in order. An ASCII symbol has one byte from 2 on, a digit one byte, a lowercase
  /// letter its own; any other scalar is its group's byte and its UTF-8, which keeps the order. A letter beyond ASCII
  /// needs no group byte, because its UTF-8 begins above `z`.
  private enum Group {
    static let sign: UInt8 = 0x46
    static let digit: UInt8 = 0x48
    static let otherNumber: UInt8 = 0x58
  }

  private enum Case {
    static let folded: UInt8 = 3
    static let capital: UInt8 = 4
  }

  init(countsNumbers: Bool) { self.countsNumbers = countsNumbers }

  // MARK: - Scalars

  mutating func append(ascii byte: UInt8) {
    switch byte {
    case 0x30...0x39: append(digit: byte - 0x30)
    case 0x41...0x5A: append(base: CollectionOfOne(byte | 0x20), case: Case.capital)
    case 0x61...0x7A: append(base: CollectionOfOne(byte), case: Level.defaultWeight)
    default: append(base: CollectionOfOne(Self.rank(ofSign: byte)), case: Level.defaultWeight)
    }
  }

  /// Ranks ASCII symbols in their own order, without gaps for digits and letters.
  private static func rank(ofSign byte: UInt8) -> UInt8 {
    switch byte {
    case ..<0x30: byte + 2
    case ..<0x41: byte - 10 + 2
    case ..<0x61: byte - 36 + 2
    default: byte - 62 + 2
    }
  }

  mutating func append(_ scalar: Unicode.Scalar) {
    if scalar.isASCII { return append(ascii: UInt8(scalar.value)) }
    let properties = scalar.properties
    if Self.isMark(properties) { return append(mark: scalar) }
    if properties.numericType == .decimal, let value = properties.numericValue { return append(digit: UInt8(value)) }
    let folded = Self.folded(scalar)
    assert(!folded.isEmpty, "case folding removes no scalar")
    let isFolded = folded.count != 1 || folded.first != scalar
    let weight = properties.changesWhenLowercased ? Case.capital : isFolded ? Case.folded : Level.defaultWeight
    for part in folded {
      if Self.isMark(part.properties) {
        append(mark: part)
      } else if part.isASCII {
        let byte = UInt8(part.value)
        append(base: CollectionOfOne((0x61...0x7A).contains(byte) ? byte : Self.rank(ofSign: byte)), case: weight)
      } else {
        append(base: Self.group(part).map { [$0] + Array(String(part).utf8) } ?? Array(String(part).utf8), case: weight)
      }
    }
  }

  private mutating func append(mark scalar: Unicode.Scalar) {
    guard let bytes = UTF8.encode(scalar) else { preconditionFailure("UTF-8 encodes every scalar") }
    marks.append(bytes)
  }

  /// Whether the scalar is not a base letter: a combining mark, or an invisible scalar such as a soft hyphen.
  private static func isMark(_ properties: Unicode.Scalar.Properties) -> Bool {
    properties.canonicalCombiningClass != .notReordered || properties.isDefaultIgnorableCodePoint
  }

  /// Folds through uppercase, so that letters with the same uppercase are equal: `ς` and `σ`, `ß` and `ss`.
  private static func folded(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
    scalar.properties.lowercaseMapping.uppercased().lowercased().unicodeScalars
  }

  /// The group of a scalar; nil for a letter, and for a scalar that Unicode does not define.
  private static func group(_ scalar: Unicode.Scalar) -> UInt8? {
    switch scalar.properties.generalCategory {
    case .letterNumber, .otherNumber: Group.otherNumber
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .enclosingMark, .privateUse, .unassigned, .decimalNumber, .surrogate:
      nil
    default: Group.sign
    }
  }

  // MARK: - Parts

  private mutating func append(base: some Sequence<UInt8>, case weight: UInt8) {
    endNumber()
    bases.append(contentsOf: base)
    marks.appendDefault()
    if weight == Level.defaultWeight { cases.appendDefault() } else { cases.append(CollectionOfOne(weight)) }
  }

  private mutating func append(digit: UInt8) {
    assert(digit <= 9, "a digit has a decimal value")
    if !countsNumbers {
      append(base: CollectionOfOne(Group.digit + digit), case: Level.defaultWeight)
      return
    }
    var current: Number
    if let started = number.take() {
      current = started
    } else {
      current = Number()
      marks.appendDefault()
      cases.appendDefault()
    }
    current.append(digit)
    number = current
  }

  private mutating func endNumber() {
    guard let ended = number else { return }
    number = nil
    bases.append(Group.digit)
    bases.append(contentsOf: Self.length(ended.digits.count))
    bases.append(contentsOf: ended.digits)
    if ended.zeros == 0 { zeros.appendDefault() } else { zeros.append([3] + Self.length(ended.zeros)) }
  }

  /// The number of bytes of the count, then the count, so that longer numbers are greater.
  private static func length(_ count: Int) -> [UInt8] {
    var bytes = [UInt8]()
    var rest = count
    while rest > 0 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
    bytes.append(UInt8(bytes.count))
    return bytes.reversed()
  }

  mutating func finished(with text: String) -> [UInt8] {
    endNumber()
    var key = bases
    key.reserveCapacity(bases.count + text.utf8.count + 4)
    for level in countsNumbers ? [marks, cases, zeros] : [marks, cases] {
      key.append(0)
      key.append(contentsOf: level.bytes)
    }
    key.append(0)
    key.append(contentsOf: text.utf8)
    return key
  }
}
