/// The symbols of a program: scalars that pass the same tests are one symbol. Beyond ASCII, symbols are looked up by
/// range if all classes are plain ranges. If a class has categories, the tests are applied to each scalar, and the
/// results are a symbol if a sample with the same results was available when the alphabet was built.
struct RegularExpressionAlphabet: Sendable {
  /// A scalar of each symbol; empty if the program has too many tests.
  private(set) var samples = [UInt32]()
  /// The symbol of each ASCII scalar.
  private(set) var ascii = [UInt16]()
  /// The scalars beyond ASCII at which the symbol changes; empty if they are unknown.
  private var bounds = [(from: UInt32, symbol: UInt16)]()
  /// The symbols by passed tests, a bit for each; the last bit is set for word characters.
  private var numbers = [UInt64: UInt16]()

  init(_ program: RegularExpressionProgram) {
    guard program.tests.count < 64 else { return }
    for value in UInt32(0)..<128 {
      let value = program.folds && (0x41...0x5A).contains(value) ? value | 0x20 : value
      ascii.append(number(of: value, program))
    }
    if let starts = Self.rangeBoundaries(program) {
      for start in starts { bounds.append((start, number(of: start, program))) }
    } else {
      for scalar in Self.categorySamples { _ = number(of: scalar.value, program) }
      for case .scalar(let value) in program.tests { _ = number(of: value, program) }
    }
  }

  /// The symbol of a scalar; nil if no sample had the same test results.
  /// - Parameter value: a scalar beyond ASCII.
  func symbol(_ value: UInt32, _ program: RegularExpressionProgram) -> Int? {
    if bounds.isEmpty { return numbers[Self.signature(program, value)].map(Int.init) }
    var (low, high) = (0, bounds.count)
    while low < high {
      let middle = (low + high) / 2
      if bounds[middle].from <= value { low = middle + 1 } else { high = middle }
    }
    precondition(low > 0, "the first bound is the first scalar beyond the table")
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

  /// One scalar beyond ASCII of each general category; two of categories that are partly alphabetic.
  private static let categorySamples =
    ("äÄǅʰ中\u{301}\u{345}\u{903}\u{94D}\u{20DD}٣Ⅳ½‿–༺༻«»„¡±€˜©Ⓐ\u{A0}\u{2028}\u{2029}\u{85}\u{AD}\u{E000}\u{378}")
    .unicodeScalars

  /// The starts and ends of ranges beyond ASCII.
  private static func rangeBoundaries(_ program: RegularExpressionProgram) -> [UInt32]? {
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
