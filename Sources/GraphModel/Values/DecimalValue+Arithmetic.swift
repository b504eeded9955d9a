/// Arithmetic; results are exact if 38 digits are enough, otherwise rounded half to even.
extension DecimalValue {
  /// The number with the opposite sign; zero has no sign.
  public var negated: DecimalValue {
    DecimalValue(isNegative: !isNegative, digits: digits, exponent: exponent) ?? self
  }

  /// The sum; nil if the exponent is out of range.
  public func adding(_ other: DecimalValue) -> DecimalValue? {
    if digits.isEmpty { return other }
    if other.digits.isEmpty { return self }
    // The smaller number is too small to affect any kept digit.
    let far = 2 * Self.maximumDigits
    if exponent - other.exponent > far { return self }
    if other.exponent - exponent > far { return other }
    // Align both as integers in the smaller of the two units.
    let unit = min(exponent - digits.count, other.exponent - other.digits.count)
    let a = digits + Array(repeating: 0, count: exponent - digits.count - unit)
    let b = other.digits + Array(repeating: 0, count: other.exponent - other.digits.count - unit)
    let length = max(a.count, b.count) + 1
    let (left, right) = (Self.padded(a, length), Self.padded(b, length))
    if isNegative == other.isNegative {
      return Self.rounded(isNegative, Self.sum(left, right), exponent: unit + length)
    }
    let isLess = left.lexicographicallyPrecedes(right)
    let difference = isLess ? Self.difference(right, left) : Self.difference(left, right)
    return Self.rounded(isLess ? other.isNegative : isNegative, difference, exponent: unit + length)
  }

  /// The product; nil if the exponent is out of range.
  public func multiplied(by other: DecimalValue) -> DecimalValue? {
    var product = [Int](repeating: 0, count: digits.count + other.digits.count)
    for (i, a) in digits.enumerated() {
      for (j, b) in other.digits.enumerated() { product[i + j + 1] += Int(a) * Int(b) }
    }
    for index in product.indices.dropFirst().reversed() {
      product[index - 1] += product[index] / 10
      product[index] %= 10
    }
    return Self.rounded(
      isNegative != other.isNegative, product.map { UInt8($0) }, exponent: exponent + other.exponent)
  }

  /// The quotient; nil for a zero divisor, and if the exponent is out of range.
  public func divided(by other: DecimalValue) -> DecimalValue? {
    guard !other.digits.isEmpty else { return nil }
    if digits.isEmpty { return self }
    // Long division, with one more digit than is kept, and a final digit for a nonzero remainder.
    let length = other.digits.count + 1
    let divisor = Self.padded(other.digits, length)
    var remainder = [UInt8](repeating: 0, count: length)
    var quotient = [UInt8]()
    var position = 0
    while quotient.count < digits.count || quotient.drop(while: { $0 == 0 }).count <= Self.maximumDigits + 1 {
      remainder.removeFirst()
      remainder.append(position < digits.count ? digits[position] : 0)
      position += 1
      var digit: UInt8 = 0
      while !remainder.lexicographicallyPrecedes(divisor) {
        remainder = Self.difference(remainder, divisor)
        digit += 1
      }
      quotient.append(digit)
      if position >= digits.count, remainder.allSatisfy({ $0 == 0 }) { break }
    }
    if remainder.contains(where: { $0 != 0 }) { quotient.append(1) }
    // As integers, the quotient's decimal point follows the dividend's last digit.
    return Self.rounded(
      isNegative != other.isNegative, quotient, exponent: exponent - other.exponent + other.digits.count)
  }

  private static func padded(_ digits: [UInt8], _ length: Int) -> [UInt8] {
    precondition(length >= digits.count, "the digits fit into the length")
    return Array(repeating: 0, count: length - digits.count) + digits
  }

  private static func sum(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
    assert(a.count == b.count, "the digits are aligned")
    var result = a
    for index in result.indices.reversed() {
      result[index] += b[index]
      if result[index] >= 10, index > 0 {
        result[index] -= 10
        result[index - 1] += 1
      }
    }
    return result
  }

  /// The difference of two numbers of equal length; `a` must not be less than `b`.
  static func difference(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
    var result = a
    var borrow: UInt8 = 0
    for index in result.indices.reversed() {
      let take = b[index] + borrow
      borrow = result[index] < take ? 1 : 0
      result[index] = result[index] + 10 * borrow - take
    }
    assert(borrow == 0, "the first number is not less")
    return result
  }

  /// - Parameter exponent: the position of the decimal point relative to the first of `digits`.
  static func rounded(_ isNegative: Bool, _ digits: [UInt8], exponent: Int) -> DecimalValue? {
    let zeros = digits.prefix { $0 == 0 }.count
    var kept = Array(digits.dropFirst(zeros))
    var exponent = exponent - zeros
    if kept.count > maximumDigits {
      let rest = kept[maximumDigits...]
      let half: ValueOrdering =
        rest[maximumDigits] > 5
        ? .descending
        : rest[maximumDigits] < 5
          ? .ascending
          : rest.dropFirst().contains { $0 != 0 } ? .descending : .same
      kept.removeSubrange(maximumDigits...)
      if half == .descending || half == .same && kept[maximumDigits - 1] % 2 == 1 {
        kept = sum([0] + kept, padded([1], maximumDigits + 1))
        exponent += 1
      }
    }
    return DecimalValue(isNegative: isNegative, digits: kept, exponent: exponent)
  }
}
