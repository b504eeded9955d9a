/// The functions of the predicate language. Names ignore case; a name followed by a parenthesis is a function,
/// otherwise a property.
public enum GraphFunction: String, Hashable, Sendable, CaseIterable {
  // Strings
  /// A text in lower case, in upper case, and folded as `[cd]` compares it.
  case lowercase, uppercase, canonical
  /// The number of Unicode scalars in a text.
  case length
  /// A text without white space at its ends.
  case trimmed
  /// The concatenation of 2 to 20 texts.
  case concat
  // Numbers
  /// The absolute value.
  case abs
  /// A number rounded to an integer of its own type: up, down, to the nearest (a half away from zero), or toward
  /// zero.
  case ceiling, floor, round, trunc
  /// The square root, as a double; null for negative numbers.
  case sqrt
  /// The first number to the power of the second, as a double; null for a fractional exponent.
  case power
  /// The remainder of a division of integers or decimals, with the sign of the dividend. Null for a division by zero.
  case modulus
  // Types
  /// The argument converted to this type; null if it can't be. A fraction is truncated for an integer.
  case integer, double, decimal, string, date, uuid, data
  // Dates
  /// The time at which the query was read; for a live query, of its subscription.
  case now
  /// The midnight at the start of a date's day, in UTC.
  case startOfDay
  /// A component of a date in UTC, as an integer. Months and days begin at 1, and Sunday is 1.
  case year, month, day, weekday, hour, minute, second
  /// A duration of that many units; fractions are allowed.
  case microseconds, seconds, minutes, hours, days, weeks
  // Nulls
  /// The first argument, or the second if the first is null.
  case ifNull
  /// The second argument, or null if the first is null.
  case given
  // Names
  /// The first argument if it is null or one of the names after the second argument; otherwise the second.
  case oneOf

  /// The function of that name, in any case.
  init?(named name: String) {
    guard let found = Self.byName[name.lowercased()] else { return nil }
    self = found
  }

  private static let byName = Dictionary(
    uniqueKeysWithValues: Self.allCases.map { ($0.rawValue.lowercased(), $0) })

  /// The allowed number of arguments.
  var arity: ClosedRange<Int> {
    switch self {
    case .now: 0...0
    case .concat: 2...20
    case .power, .modulus, .ifNull, .given: 2...2
    case .oneOf: 3...Self.maximumNames + 2
    default: 1...1
    }
  }

  /// Whether all arguments must be text.
  var takesTextAlone: Bool {
    switch self {
    case .lowercase, .uppercase, .canonical, .trimmed, .length, .concat, .oneOf: true
    default: false
    }
  }

  /// The most names that `oneOf` takes, the same as an enumeration's maximum number of cases.
  static let maximumNames = 1_000
  /// The maximum size of a text that `concat` makes, in bytes of UTF-8. Nested calls would multiply a text up to the
  /// process's memory.
  static let maximumTextSize = 1 << 24

  /// The unit in microseconds, for functions that return durations.
  var unit: Int64? {
    switch self {
    case .microseconds: 1
    case .seconds: 1_000_000
    case .minutes: 60_000_000
    case .hours: 3_600_000_000
    case .days: 86_400_000_000
    case .weeks: 604_800_000_000
    default: nil
    }
  }

  // MARK: - Applying

  /// The function's value; null for `now()` before it is bound.
  public func apply(_ arguments: [Value]) -> Value {
    if self == .ifNull { return arguments.first { !$0.isNull }.orNull }
    if self == .oneOf, let first = arguments.first, arguments.count > 2 {
      return first.isNull || arguments[2...].contains(first) ? first : arguments[1]
    }
    guard let first = arguments.first, !arguments.contains(where: \.isNull) else { return .null }
    if let unit {
      guard case .double(let count) = Self.double.apply([first]) else { return .null }
      if case .integer(let count) = first {
        let (result, overflow) = count.multipliedReportingOverflow(by: unit)
        return overflow ? .null : .integer(result)
      }
      return Int64(exactly: (count * Double(unit)).rounded()).map(Value.integer).orNull
    }
    switch self {
    case .lowercase, .uppercase, .canonical, .length, .trimmed, .concat:
      let texts = arguments.compactMap(\.stringValue)
      guard texts.count == arguments.count else { return .null }
      let size = texts.reduce(0) { $0 + $1.utf8.count }
      // Reading and copying 16 bytes takes about as long as one step.
      Cancellation.StepCounter(over: size, counting: size / 16).flush()
      return applyToStrings(texts, size)
    case .abs, .ceiling, .floor, .round, .trunc, .sqrt, .power, .modulus: return applyToNumbers(first, arguments.last)
    case .integer, .double, .decimal, .string, .date, .uuid, .data: return convert(first)
    case .startOfDay, .year, .month, .day, .weekday, .hour, .minute, .second:
      guard case .date(let time) = first else { return .null }
      return applyToDate(time)
    case .given: return arguments[1]
    case .now, .ifNull, .oneOf, .microseconds, .seconds, .minutes, .hours, .days, .weeks: return .null
    }
  }

  /// - Parameter size: the size of all texts, in bytes.
  private func applyToStrings(_ texts: [String], _ size: Int) -> Value {
    switch self {
    case .lowercase: .string(texts[0].mappedInPieces { $0.lowercased() })
    case .uppercase: .string(texts[0].mappedInPieces { $0.uppercased() })
    case .canonical: .string(texts[0].folded([.caseInsensitive, .diacriticInsensitive]))
    case .length: .integer(Int64(texts[0].unicodeScalars.count))
    case .trimmed: .string(texts[0].withoutWhiteSpaceAtEnds)
    default: size > Self.maximumTextSize ? .null : .string(texts.joined())
    }
  }

  private func applyToNumbers(_ first: Value, _ second: Value?) -> Value {
    switch (self, first, second) {
    case (.abs, .integer(let number), _):
      number == .min ? .double(-Double(number)) : .integer(Swift.abs(number))
    case (.abs, .double(let number), _): .double(Swift.abs(number))
    case (.abs, .decimal(let number), _): .decimal(number.isNegative ? number.negated : number)
    case (.ceiling, .integer, _), (.floor, .integer, _), (.round, .integer, _), (.trunc, .integer, _): first
    case (.ceiling, .double(let number), _): Self.finite(number.rounded(.up))
    case (.floor, .double(let number), _): Self.finite(number.rounded(.down))
    case (.round, .double(let number), _): Self.finite(number.rounded(.toNearestOrAwayFromZero))
    case (.trunc, .double(let number), _): Self.finite(number.rounded(.towardZero))
    case (.ceiling, .decimal(let number), _): number.rounded(.up).map(Value.decimal).orNull
    case (.floor, .decimal(let number), _): number.rounded(.down).map(Value.decimal).orNull
    case (.round, .decimal(let number), _): number.rounded(.toNearestOrAwayFromZero).map(Value.decimal).orNull
    case (.trunc, .decimal(let number), _): number.rounded(.towardZero).map(Value.decimal).orNull
    case (.modulus, .decimal(let a), .decimal(let b)?): a.remainder(dividingBy: b).map(Value.decimal).orNull
    case (.modulus, .integer(let a), .integer(let b)?):
      b == 0 || b == -1 ? (b == 0 ? .null : .integer(0)) : .integer(a % b)
    case (.sqrt, .double(let number), _): Self.finite(number.squareRoot())
    case (.power, .double(let base), .double(let exponent)?): Self.finite(Self.power(base, exponent))
    default: .null
    }
  }

  private static func finite(_ number: Double) -> Value { number.isFinite ? .double(number == 0 ? 0 : number) : .null }

  /// Supports integer exponents only, by squaring; the target links no math library.
  private static func power(_ base: Double, _ exponent: Double) -> Double {
    guard var count = Int(exactly: exponent), Swift.abs(count) <= 1 << 20 else { return .nan }
    let inverts = count < 0
    count = Swift.abs(count)
    var (result, square) = (1.0, base)
    while count > 0 {
      if count & 1 == 1 { result *= square }
      square *= square
      count >>= 1
    }
    return inverts ? 1 / result : result
  }

  private func convert(_ value: Value) -> Value {
    switch (self, value) {
    case (.integer, .integer), (.double, .double), (.decimal, .decimal), (.string, .string), (.date, .date),
      (.uuid, .uuid), (.data, .data):
      value
    case (.integer, .double(let number)): Int64(exactly: number.rounded(.towardZero)).map(Value.integer).orNull
    case (.integer, .bool(let flag)): .integer(flag ? 1 : 0)
    case (.integer, .decimal(let number)): number.wholePart.map(Value.integer).orNull
    case (.integer, .string(let text)): Int64(text).map(Value.integer).orNull
    case (.double, .integer(let number)): .double(Double(number))
    case (.double, .decimal(let number)): Double(number.description).map(Value.double).orNull
    case (.double, .string(let text)): Double(text).flatMap { $0.isFinite ? Self.finite($0) : nil }.orNull
    case (.decimal, .integer(let number)): DecimalValue("\(number)").map(Value.decimal).orNull
    case (.decimal, .double(let number)): DecimalValue("\(number)").map(Value.decimal).orNull
    case (.decimal, .string(let text)): DecimalValue(text).map(Value.decimal).orNull
    case (.date, .string(let text)): RFC3339.timestamp(text).map(Value.date).orNull
    case (.uuid, .string(let text)): UniqueID(hyphenated: text).map(Value.uuid).orNull
    case (.data, .string(let text)): Base64.bytes(text).map(Value.data).orNull
    case (.string, .bool(let flag)): .string(flag ? "true" : "false")
    case (.string, _): .string(value.json(kind: nil).stringValue ?? value.json(kind: nil).text)
    default: .null
    }
  }

  /// In UTC, with Sunday as weekday 1.
  private func applyToDate(_ time: Timestamp) -> Value {
    let (day, rest) = RFC3339.floorDivide(time, 86_400_000_000)
    let civil = RFC3339.civil(fromDays: day)
    return switch self {
    case .startOfDay: .date(day * 86_400_000_000)
    case .year: .integer(civil.year)
    case .month: .integer(civil.month)
    case .day: .integer(civil.day)
    case .weekday: .integer(RFC3339.floorDivide(day + 4, 7).1 + 1)
    case .hour: .integer(rest / 3_600_000_000)
    case .minute: .integer(rest / 60_000_000 % 60)
    default: .integer(rest / 1_000_000 % 60)
    }
  }
}
