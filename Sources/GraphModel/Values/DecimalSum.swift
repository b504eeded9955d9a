/// A sum of decimals that is rounded once, when it is asked for, so that neither the order of the numbers nor what lies
/// between them costs a digit.
///
/// It has a column of digits for each power of ten that came up, carried when the sum is asked for: a column holds some
/// 10¹⁸ digits before it is full. Columns reach over the range of exponents at most, some 12,000.
struct DecimalSum {
  /// Of the power `lowest` first.
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
  }

  /// Exact where 38 digits hold it, else rounded to them, half to even; nil where the exponent leaves its range.
  var value: DecimalValue? {
    var digits = carried(columns)
    let isNegative = digits.last.map { $0 < 0 } ?? false
    if isNegative { digits = carried(columns.map { -$0 }) }
    return DecimalValue.rounded(
      isNegative, digits.reversed().map { UInt8($0) }, exponent: lowest + digits.count)
  }

  /// Each column but the last a digit from 0 to 9; the last is less than zero exactly when all of them together are.
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
    return (rest, (number - rest) / 10)
  }
}
