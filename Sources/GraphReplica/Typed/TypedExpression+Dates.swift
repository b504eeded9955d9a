// Tests: TypedPredicateTests.swift
import GraphModel

/// Dates, in UTC, and spans of time.
extension TypedExpression where Kind == DateTime, Cardinality: SingleCardinality {
  /// Midnight at the start of the day.
  public var startOfDay: TypedExpression<DateTime, CalculatedValue> { calling(.startOfDay) }
  /// The year, such as 2026.
  public var year: TypedExpression<Int64, CalculatedValue> { calling(.year) }
  /// The month, 1 to 12.
  public var month: TypedExpression<Int64, CalculatedValue> { calling(.month) }
  /// The day of the month, 1 to 31.
  public var day: TypedExpression<Int64, CalculatedValue> { calling(.day) }
  /// The day of the week: 1 is Sunday, 7 is Saturday.
  public var weekday: TypedExpression<Int64, CalculatedValue> { calling(.weekday) }
  /// The hour, 0 to 23.
  public var hour: TypedExpression<Int64, CalculatedValue> { calling(.hour) }
  /// The minute, 0 to 59.
  public var minute: TypedExpression<Int64, CalculatedValue> { calling(.minute) }
  /// The second, 0 to 59.
  public var second: TypedExpression<Int64, CalculatedValue> { calling(.second) }

  /// The date plus a span.
  public static func + (left: Self, right: TimeSpan) -> TypedExpression<DateTime, CalculatedValue> {
    left.moved(.add, right)
  }

  /// The date minus a span.
  public static func - (left: Self, right: TimeSpan) -> TypedExpression<DateTime, CalculatedValue> {
    left.moved(.subtract, right)
  }

  private func moved(_ operation: ArithmeticOperator, _ span: TimeSpan) -> TypedExpression<DateTime, CalculatedValue> {
    TypedExpression<DateTime, CalculatedValue> { depth in
      .arithmetic(operation, .date, build(depth), .value(TimeSpan.value(span)))
    }
  }

  /// The time between two dates.
  public static func - <Other: SingleCardinality>(
    left: Self, right: TypedExpression<DateTime, Other>
  ) -> TypedExpression<TimeSpan, CalculatedValue> {
    TypedExpression<TimeSpan, CalculatedValue> {
      .arithmetic(.subtract, .duration, left.build($0), right.build($0))
    }
  }
}

extension TypedExpression where Kind == DateTime, Cardinality == CalculatedValue {
  /// The time of the fetch; for a live query, the time when it is made.
  public static var now: TypedExpression<DateTime, CalculatedValue> {
    TypedExpression { _ in .function(.now, []) }
  }

  /// The present time minus a span.
  public static func ago(_ span: TimeSpan) -> TypedExpression<DateTime, CalculatedValue> { now - span }

  /// The present time plus a span.
  public static func ahead(_ span: TimeSpan) -> TypedExpression<DateTime, CalculatedValue> { now + span }
}

/// Comparisons with a date that may be calculated from now: `$0.created > .ago(.days(7))`.
extension TypedExpression where Kind == DateTime {
  /// At the same microsecond.
  public static func == (left: Self, right: TypedExpression<DateTime, CalculatedValue>) -> TypedPredicate {
    left.comparing(.equal, with: right)
  }

  /// At another microsecond, or one of the two is null.
  public static func != (left: Self, right: TypedExpression<DateTime, CalculatedValue>) -> TypedPredicate {
    left.comparing(.notEqual, with: right)
  }

  /// Before it.
  public static func < (left: Self, right: TypedExpression<DateTime, CalculatedValue>) -> TypedPredicate {
    left.comparing(.less, with: right)
  }

  /// Before or at it.
  public static func <= (left: Self, right: TypedExpression<DateTime, CalculatedValue>) -> TypedPredicate {
    left.comparing(.lessOrEqual, with: right)
  }

  /// After it.
  public static func > (left: Self, right: TypedExpression<DateTime, CalculatedValue>) -> TypedPredicate {
    left.comparing(.greater, with: right)
  }

  /// After or at it.
  public static func >= (left: Self, right: TypedExpression<DateTime, CalculatedValue>) -> TypedPredicate {
    left.comparing(.greaterOrEqual, with: right)
  }

  /// Not before `low` and not after `high`.
  public func isBetween(
    _ low: TypedExpression<DateTime, CalculatedValue>, _ high: TypedExpression<DateTime, CalculatedValue>
  ) -> TypedPredicate { comparing(.between, [low.build, high.build]) }
}

extension TypedExpression where Kind == Int64, Cardinality: SingleCardinality {
  /// A span of this many seconds.
  public var seconds: TypedExpression<TimeSpan, CalculatedValue> { calling(.seconds) }
  /// A span of this many minutes.
  public var minutes: TypedExpression<TimeSpan, CalculatedValue> { calling(.minutes) }
  /// A span of this many hours.
  public var hours: TypedExpression<TimeSpan, CalculatedValue> { calling(.hours) }
  /// A span of this many times 24 hours.
  public var days: TypedExpression<TimeSpan, CalculatedValue> { calling(.days) }
  /// A span of this many times 7 days.
  public var weeks: TypedExpression<TimeSpan, CalculatedValue> { calling(.weeks) }
}

extension TypedExpression where Kind == Double, Cardinality: SingleCardinality {
  /// A span of this many seconds, fractions included.
  public var seconds: TypedExpression<TimeSpan, CalculatedValue> { calling(.seconds) }
  /// A span of this many minutes, fractions included.
  public var minutes: TypedExpression<TimeSpan, CalculatedValue> { calling(.minutes) }
  /// A span of this many hours, fractions included.
  public var hours: TypedExpression<TimeSpan, CalculatedValue> { calling(.hours) }
  /// A span of this many times 24 hours, fractions included.
  public var days: TypedExpression<TimeSpan, CalculatedValue> { calling(.days) }
  /// A span of this many times 7 days, fractions included.
  public var weeks: TypedExpression<TimeSpan, CalculatedValue> { calling(.weeks) }
}

extension TypedExpression where Kind == DateTime, Cardinality: SingleCardinality {
  /// The date plus a span.
  public static func + <Other: SingleCardinality>(
    left: Self, right: TypedExpression<TimeSpan, Other>
  ) -> TypedExpression<DateTime, CalculatedValue> {
    TypedExpression<DateTime, CalculatedValue> { .arithmetic(.add, .date, left.build($0), right.build($0)) }
  }

  /// The date minus a span.
  public static func - <Other: SingleCardinality>(
    left: Self, right: TypedExpression<TimeSpan, Other>
  ) -> TypedExpression<DateTime, CalculatedValue> {
    TypedExpression<DateTime, CalculatedValue> { .arithmetic(.subtract, .date, left.build($0), right.build($0)) }
  }
}
