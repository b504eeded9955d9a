/// The signs that a program tells apart: scalars that pass the same tests are one symbol. Beyond ASCII a symbol is
/// looked up by ranges when all classes are plain ranges. Where categories are asked, each scalar is put to the tests,
/// and what they say is a symbol if a sample of that kind was there when the alphabet was made.
struct RegularExpressionAlphabet: Sendable {
  /// One scalar of each symbol. Empty when the program has too many tests.
  private(set) var samples = [UInt32]()
  /// The symbol of each scalar of ASCII.
  private(set) var ascii = [UInt16]()
  /// Where the symbol changes beyond ASCII. Empty when that is not known.
  private var bounds = [(from: UInt32, symbol: UInt16)]()
  /// By which tests are passed, a bit for each; the last bit is set for a part of a word.
  private var numbers = [UInt64: UInt16]()

  init(_ program: RegularExpressionProgram) {
    guard program.tests.count < 64 else { return }
    for value in UInt32(0)..<128 {
      let value = program.folds && (0x41...0x5A).contains(value) ? value | 0x20 : value
      ascii.append(number(of: value, program))
    }
    if let starts = Self.starts(program) {
      for start in starts { bounds.append((start, number(of: start, program))) }
    } else {
      for scalar in Self.strangers { _ = number(of: scalar.value, program) }
      for case .scalar(let value) in program.tests { _ = number(of: value, program) }
    }
  }

  /// Nil when there was no sample of its kind.
  /// - Parameter value: Beyond ASCII.
  func symbol(_ value: UInt32, _ program: RegularExpressionProgram) -> Int? {
    if bounds.isEmpty { return numbers[Self.signature(program, value)].map(Int.init) }
    var (low, high) = (0, bounds.count)
    while low < high {
      let middle = (low + high) / 2
      if bounds[middle].from <= value { low = middle + 1 } else { high = middle }
    }
    return Int(bounds[low - 1].symbol)
  }

  private mutating func number(of sample: UInt32, _ program: RegularExpressionProgram) -> UInt16 {
    let signature = Self.signature(program, sample)
    if let number = numbers[signature] { return number }
    let number = UInt16(samples.count)
    numbers[signature] = number
    samples.append(sample)
    return number
  }

  private static func signature(_ program: RegularExpressionProgram, _ value: UInt32) -> UInt64 {
    var signature: UInt64 = 0
    for (index, test) in program.tests.enumerated() where test.passes(value) { signature |= 1 << UInt64(index) }
    if program.usesWords, let scalar = Unicode.Scalar(value), ScalarProperty.word.holds(for: scalar) {
      signature |= 1 << 63
    }
    return signature
  }

  /// One scalar beyond ASCII of each general category, and of those that have alphabetic scalars among others, two.
  private static let strangers =
    ("äÄǅʰ中\u{301}\u{345}\u{903}\u{94D}\u{20DD}٣Ⅳ½‿–༺༻«»„¡±€˜©Ⓐ\u{A0}\u{2028}\u{2029}\u{85}\u{AD}\u{E000}\u{378}")
    .unicodeScalars

  /// Where something begins or ends, from the first scalar beyond ASCII on.
  private static func starts(_ program: RegularExpressionProgram) -> [UInt32]? {
    if program.usesWords { return nil }
    var starts: Set<UInt32> = [0x80]
    for test in program.tests {
      switch test {
      case .scalar(let value): starts.formUnion([value, value + 1])
      case .set(let set):
        guard set.properties.isEmpty else { return nil }
        for range in set.ranges { starts.formUnion([range.lowerBound, range.upperBound + 1]) }
      }
    }
    return starts.filter { $0 >= 0x80 }.sorted()
  }
}
