extension DecimalValue: ExpressibleByIntegerLiteral {
  /// Creates a decimal from an integer literal, as in `salary > 1000`. A literal with a fraction would lose precision
  /// in binary floating point; use `DecimalValue("12.50")`.
  public init(integerLiteral value: Int64) {
    var digits = [UInt8]()
    var rest = value.magnitude
    while rest > 0 {
      digits.append(UInt8(rest % 10))
      rest /= 10
    }
    let exponent = digits.count
    while digits.first == 0 { digits.removeFirst() }
    isNegative = value < 0
    self.digits = digits.reversed()
    self.exponent = exponent
  }
}
