import GraphModel

/// Dates, in UTC, and spans of time.
extension TypedExpression where Kind == DateTime, Reach: SingleReach {
  /// Midnight at the start of the day.
  public var startOfDay: TypedExpression<DateTime, Calculated> { calling(.startOfDay) }
  /// The year, such as 2026.
  public var year: TypedExpression<Int64, Calculated> { calling(.year) }
  /// The month, 1 to 12.
  public var month: TypedExpression<Int64, Calculated> { calling(.month) }
  /// The day of the month, 1 to 31.
  public var day: TypedExpression<Int64, Calculated> { calling(.day) }
  /// The day of the week: 1 is Sunday, 7 is Saturday.
  public var weekday: TypedExpression<Int64, Calculated> { calling(.weekday) }
  /// The hour, 0 to 23.
  public var hour: TypedExpression<Int64, Calculated> { calling(.hour) }
  /// The minute, 0 to 59.
  public var minute: TypedExpression<Int64, Calculated> { calling(.minute) }
  /// The second, 0 to 59.
  public var second: TypedExpression<Int64, Calculated> { calling(.second) }

  /// The date plus a span.
  public static func + (left: Self, right: TimeSpan) -> TypedExpression<DateTime, Calculated> {
    left.moved(.add, right)
  }

  /// The date minus a span.
  public static func - (left: Self, right: TimeSpan) -> TypedExpression<DateTime, Calculated> {
    left.moved(.subtract, right)
  }

  private func moved(_ operation: ArithmeticOperator, _ span: TimeSpan) -> TypedExpression<DateTime, Calculated> {
    TypedExpression<DateTime, Calculated> { depth in
      .arithmetic(operation, .date, build(depth), .value(TimeSpan.value(span)))
    }
  }

  /// The time between two dates.
  public static func - <Other: SingleReach>(
    left: Self, right: TypedExpression<DateTime, Other>
  ) -> TypedExpression<TimeSpan, Calculated> {
    TypedExpression<TimeSpan, Calculated> {
      .arithmetic(.subtract, .duration, left.build($0), right.build($0))
    }
  }
}

extension TypedExpression where Kind == DateTime, Reach == Calculated {
  /// The time of the fetch; for a live query, the time when it is made.
  public static var now: TypedExpression<DateTime, Calculated> {
    TypedExpression { _ in .function(.now, []) }
  }

  /// The time that lies a span before now.
  public static func ago(_ span: TimeSpan) -> TypedExpression<DateTime, Calculated> { now - span }

  /// The time that lies a span after now.
  public static func ahead(_ span: TimeSpan) -> TypedExpression<DateTime, Calculated> { now + span }
}

/// Comparisons with a date that may be calculated from now: `$0.created > .ago(.days(7))`.
extension TypedExpression where Kind == DateTime {
  /// At the same microsecond.
  public static func == (left: Self, right: TypedExpression<DateTime, Calculated>) -> TypedPredicate {
    left.comparing(.equal, with: right)
  }

  /// At another microsecond, or one of the two is null.
  public static func != (left: Self, right: TypedExpression<DateTime, Calculated>) -> TypedPredicate {
    left.comparing(.notEqual, with: right)
  }

  /// Before it.
  public static func < (left: Self, right: TypedExpression<DateTime, Calculated>) -> TypedPredicate {
    left.comparing(.less, with: right)
  }

  /// Before or at it.
  public static func <= (left: Self, right: TypedExpression<DateTime, Calculated>) -> TypedPredicate {
    left.comparing(.lessOrEqual, with: right)
  }

  /// After it.
  public static func > (left: Self, right: TypedExpression<DateTime, Calculated>) -> TypedPredicate {
    left.comparing(.greater, with: right)
  }

  /// After or at it.
  public static func >= (left: Self, right: TypedExpression<DateTime, Calculated>) -> TypedPredicate {
    left.comparing(.greaterOrEqual, with: right)
  }

  /// Not before `low` and not after `high`.
  public func isBetween(
    _ low: TypedExpression<DateTime, Calculated>, _ high: TypedExpression<DateTime, Calculated>
  ) -> TypedPredicate { comparing(.between, [low.build, high.build]) }
}

extension TypedExpression where Kind == Int64, Reach: SingleReach {
  /// A span of this many seconds.
  public var seconds: TypedExpression<TimeSpan, Calculated> { calling(.seconds) }
  /// A span of this many minutes.
  public var minutes: TypedExpression<TimeSpan, Calculated> { calling(.minutes) }
  /// A span of this many hours.
  public var hours: TypedExpression<TimeSpan, Calculated> { calling(.hours) }
  /// A span of this many times 24 hours.
  public var days: TypedExpression<TimeSpan, Calculated> { calling(.days) }
  /// A span of this many times 7 days.
  public var weeks: TypedExpression<TimeSpan, Calculated> { calling(.weeks) }
}

extension TypedExpression where Kind == Double, Reach: SingleReach {
  /// A span of this many seconds, fractions included.
  public var seconds: TypedExpression<TimeSpan, Calculated> { calling(.seconds) }
  /// A span of this many minutes, fractions included.
  public var minutes: TypedExpression<TimeSpan, Calculated> { calling(.minutes) }
  /// A span of this many hours, fractions included.
  public var hours: TypedExpression<TimeSpan, Calculated> { calling(.hours) }
  /// A span of this many times 24 hours, fractions included.
  public var days: TypedExpression<TimeSpan, Calculated> { calling(.days) }
  /// A span of this many times 7 days, fractions included.
  public var weeks: TypedExpression<TimeSpan, Calculated> { calling(.weeks) }
}

extension TypedExpression where Kind == DateTime, Reach: SingleReach {
  /// The date plus a span.
  public static func + <Other: SingleReach>(
    left: Self, right: TypedExpression<TimeSpan, Other>
  ) -> TypedExpression<DateTime, Calculated> {
    TypedExpression<DateTime, Calculated> { .arithmetic(.add, .date, left.build($0), right.build($0)) }
  }

  /// The date minus a span.
  public static func - <Other: SingleReach>(
    left: Self, right: TypedExpression<TimeSpan, Other>
  ) -> TypedExpression<DateTime, Calculated> {
    TypedExpression<DateTime, Calculated> { .arithmetic(.subtract, .date, left.build($0), right.build($0)) }
  }
}
