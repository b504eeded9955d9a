/// The arithmetic operators, with the same results in memory and in SQL. Integers and doubles behave as in SQLite,
/// except that infinities are null.
enum Arithmetic {
  /// The result of the operation. Null if an operand is null, for a division by zero, and if the result is not
  /// finite.
  static func apply(_ operation: ArithmeticOperator, _ left: Value, _ right: Value) -> Value {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): whole(operation, a, b)
    case (.double(let a), .double(let b)): floating(operation, a, b)
    case (.integer(let a), .double(let b)): floating(operation, Double(a), b)
    case (.double(let a), .integer(let b)): floating(operation, a, Double(b))
    case (.decimal(let a), .decimal(let b)): decimal(operation, a, b).map(Value.decimal).orNull
    case (.date(let a), .date(let b)): operation == .subtract ? .integer(a &- b) : .null
    case (.date(let a), .integer(let b)): date(operation, a, b)
    case (.integer(let a), .date(let b)): operation == .add ? date(.add, b, a) : .null
    default: .null
    }
  }

  /// The result for integers; a double if it overflows 64 bits.
  private static func whole(_ operation: ArithmeticOperator, _ a: Int64, _ b: Int64) -> Value {
    let (result, overflow): (Int64, Bool)
    switch operation {
    case .add: (result, overflow) = a.addingReportingOverflow(b)
    case .subtract: (result, overflow) = a.subtractingReportingOverflow(b)
    case .multiply: (result, overflow) = a.multipliedReportingOverflow(by: b)
    case .divide:
      if b == 0 { return .null }
      (result, overflow) = a.dividedReportingOverflow(by: b)
    }
    return overflow ? floating(operation, Double(a), Double(b)) : .integer(result)
  }

  private static func floating(_ operation: ArithmeticOperator, _ a: Double, _ b: Double) -> Value {
    let result: Double =
      switch operation {
      case .add: a + b
      case .subtract: a - b
      case .multiply: a * b
      case .divide: b == 0 ? .nan : a / b
      }
    return result.isFinite ? .double(result == 0 ? 0 : result) : .null
  }

  private static func date(_ operation: ArithmeticOperator, _ time: Timestamp, _ duration: Int64) -> Value {
    let (result, overflow) =
      operation == .add ? time.addingReportingOverflow(duration) : time.subtractingReportingOverflow(duration)
    return !overflow && operation != .multiply && operation != .divide && RFC3339.range.contains(result)
      ? .date(result) : .null
  }

  private static func decimal(_ operation: ArithmeticOperator, _ a: DecimalValue, _ b: DecimalValue) -> DecimalValue? {
    switch operation {
    case .add: a.adding(b)
    case .subtract: a.adding(b.negated)
    case .multiply: a.multiplied(by: b)
    case .divide: a.divided(by: b)
    }
  }

  // MARK: - Aggregates

  /// The aggregate of the values, without nulls. Doubles are added in ascending order and decimals exactly, so that
  /// the sum of equal values is the same to the last bit, in any order.
  static func aggregate(_ aggregate: GraphPredicate.Aggregate, _ values: [Value], zero: Value) -> Value {
    let present = values.filter { !$0.isNull }
    switch aggregate {
    case .minimum: return present.min { Value.order($0, $1) == .ascending }.orNull
    case .maximum: return present.max { Value.order($0, $1) == .ascending }.orNull
    case .sum: return sum(present, zero)
    case .average:
      guard !present.isEmpty else { return .null }
      let sum = sum(present, zero)
      if case .decimal = sum {
        return DecimalValue("\(present.count)").map { apply(.divide, sum, .decimal($0)) }.orNull
      }
      return apply(.divide, GraphFunction.double.apply([sum]), .double(Double(present.count)))
    }
  }

  private static func sum(_ values: [Value], _ zero: Value) -> Value {
    if case .integer = zero {
      // 2⁶⁴ numbers can't overflow the sum, so their order does not matter.
      var sum: Int128 = 0
      for value in values {
        // A calculated value that overflowed to a double.
        guard case .integer(let next) = value else {
          return self.sum(values.map { GraphFunction.double.apply([$0]) }, .double(0))
        }
        sum += Int128(next)
      }
      return Int64(exactly: sum).map(Value.integer) ?? .double(Double(sum))
    }
    if case .decimal = zero {
      var sum = DecimalSum()
      for case .decimal(let next) in values { sum.add(next) }
      return sum.value.map(Value.decimal).orNull
    }
    return values.sorted { Value.order($0, $1) == .ascending }.reduce(zero) { apply(.add, $0, $1) }
  }

  /// The sum of no values.
  static func zero(of kind: Attribute.Kind?) -> Value {
    switch kind {
    case .double: .double(0)
    case .decimal: DecimalValue(isNegative: false, digits: [], exponent: 0).map(Value.decimal).orNull
    default: .integer(0)
    }
  }
}

extension ArithmeticOperator {
  /// The result of the operation; null if an operand is null or there is no result.
  public func apply(_ left: Value, _ right: Value) -> Value { Arithmetic.apply(self, left, right) }
}

extension GraphPredicate.Aggregate {
  /// The aggregate of values of this type; nulls are ignored.
  public func value(of values: [Value], type: GraphValueType) -> Value {
    Arithmetic.aggregate(self, values, zero: Arithmetic.zero(of: type.kind))
  }
}
