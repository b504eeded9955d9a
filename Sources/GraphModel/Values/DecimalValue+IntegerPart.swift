/// Integer parts and remainders; all are exact.
extension DecimalValue {
  /// The digits before the decimal point.
  private var wholeDigits: ArraySlice<UInt8> { digits.prefix(max(0, exponent)) }

  private var hasFraction: Bool { digits.count > max(0, exponent) }

  /// The integer part; nil if it overflows 64 bits.
  public var wholePart: Int64? {
    guard exponent <= 19 else { return nil }
    var whole: Int64 = 0
    for place in 0..<max(0, exponent) {
      let digit = place < digits.count ? Int64(digits[place]) : 0
      let (tens, isTooLarge) = whole.multipliedReportingOverflow(by: 10)
      // Accumulated downward, because `Int64.min` has no positive counterpart.
      let (next, overflow) = tens.subtractingReportingOverflow(digit)
      guard !isTooLarge, !overflow else { return nil }
      whole = next
    }
    return isNegative ? whole : whole == .min ? nil : -whole
  }

  /// The number rounded to an integer by the rule, as for floating-point numbers. Nil if the exponent is out of
  /// range.
  public func rounded(_ rule: FloatingPointRoundingRule) -> DecimalValue? {
    let whole = DecimalValue(isNegative: isNegative, digits: Array(wholeDigits), exponent: max(0, exponent))
    guard hasFraction else { return self }
    let first = exponent < 0 ? 0 : digits[exponent]
    let isHalf = first == 5 && digits.count == exponent + 1
    let isOdd = exponent > 0 && digits[exponent - 1] % 2 == 1
    let goesAway =
      switch rule {
      case .towardZero: false
      case .awayFromZero: true
      case .up: !isNegative
      case .down: isNegative
      case .toNearestOrAwayFromZero: first >= 5
      case .toNearestOrEven: isHalf ? isOdd : first >= 5
      @unknown default: first >= 5
      }
    return goesAway ? whole?.adding(isNegative ? -1 : 1) : whole
  }

  /// The remainder of a truncated division, with the sign of the dividend. Nil for a zero divisor, and if the
  /// quotient has more than 38 digits.
  public func remainder(dividingBy other: DecimalValue) -> DecimalValue? {
    guard !other.digits.isEmpty else { return nil }
    // By the exponents, the number is smaller than the divisor.
    if digits.isEmpty || exponent < other.exponent { return self }
    guard exponent - other.exponent < Self.maximumDigits else { return nil }
    // Align both as integers in the smaller of the two units.
    let unit = min(exponent - digits.count, other.exponent - other.digits.count)
    let dividend = digits + Array(repeating: 0, count: exponent - digits.count - unit)
    let divisor = other.digits + Array(repeating: 0, count: other.exponent - other.digits.count - unit)
    let length = divisor.count + 1
    let padded = [0] + divisor
    var rest = [UInt8](repeating: 0, count: length)
    for digit in dividend {
      rest.removeFirst()
      rest.append(digit)
      while !rest.lexicographicallyPrecedes(padded) { rest = Self.difference(rest, padded) }
    }
    return DecimalValue(isNegative: isNegative, digits: rest, exponent: unit + length)
  }
}
