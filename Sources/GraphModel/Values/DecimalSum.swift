/// A sum of decimals that is rounded only once. Neither the order of the numbers nor intermediate results lose
/// digits.
///
/// There is a column of digits for each power of ten that occurs; carries are propagated when the sum is read. A
/// column can hold about 10¹⁸ digits. The number of columns is bounded by the range of exponents, about 12,000.
struct DecimalSum {
  /// The columns, beginning with the power `lowest`.
  private var columns = [Int64]()
  private var lowest = 0

  mutating func add(_ number: DecimalValue) {
    guard !number.digits.isEmpty else { return }
    let (low, high) = (number.exponent - number.digits.count, number.exponent)
    if columns.isEmpty { lowest = low }
    if low < lowest {
      columns.insert(contentsOf: repeatElement(0, count: lowest - low), at: 0)
      lowest = low
    }
    if high > lowest + columns.count {
      columns.append(contentsOf: repeatElement(0, count: high - lowest - columns.count))
    }
    var column = high - 1 - lowest
    for digit in number.digits {
      columns[column] += number.isNegative ? -Int64(digit) : Int64(digit)
      column -= 1
    }
    assert(column == low - 1 - lowest, "each digit has its column")
  }

  /// The sum, exact if 38 digits are enough, otherwise rounded half to even. Nil if the exponent is out of range.
  var value: DecimalValue? {
    var digits = carried(columns)
    let isNegative = digits.last.map { $0 < 0 } == true
    if isNegative { digits = carried(columns.map { -$0 }) }
    return DecimalValue.rounded(
      isNegative, digits.reversed().map { UInt8($0) }, exponent: lowest + digits.count)
  }

  /// Propagates carries. All columns but the last become digits from 0 to 9; the last is negative if and only if the
  /// sum is.
  private func carried(_ columns: [Int64]) -> [Int64] {
    var digits = [Int64]()
    digits.reserveCapacity(columns.count + 19)
    var carry: Int64 = 0
    for column in columns {
      let (rest, up) = Self.split(column + carry)
      digits.append(rest)
      carry = up
    }
    while carry > 0 {
      let (rest, up) = Self.split(carry)
      digits.append(rest)
      carry = up
    }
    if carry < 0 { digits.append(carry) }
    return digits
  }

  private static func split(_ number: Int64) -> (rest: Int64, up: Int64) {
    let rest = ((number % 10) + 10) % 10
    assert((0...9).contains(rest), "a column has one digit")
    return (rest, (number - rest) / 10)
  }
}
