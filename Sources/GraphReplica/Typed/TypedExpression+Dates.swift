import GraphModel

/// Dates, in UTC, and spans of time.
extension TypedExpression where Kind == DateTime, Reach: SingleReach {
  /// Midnight before it.
  public var startOfDay: TypedExpression<DateTime, Calculated> { calling(.startOfDay) }
  /// The year, such as 2026.
  public var year: TypedExpression<Int64, Calculated> { calling(.year) }
  /// 1 to 12.
  public var month: TypedExpression<Int64, Calculated> { calling(.month) }
  /// The day of the month, 1 to 31.
  public var day: TypedExpression<Int64, Calculated> { calling(.day) }
  /// Sunday is 1, Saturday is 7.
  public var weekday: TypedExpression<Int64, Calculated> { calling(.weekday) }
  /// 0 to 23.
  public var hour: TypedExpression<Int64, Calculated> { calling(.hour) }
  /// 0 to 59.
  public var minute: TypedExpression<Int64, Calculated> { calling(.minute) }
  /// 0 to 59.
  public var second: TypedExpression<Int64, Calculated> { calling(.second) }

  /// A span later.
  public static func + (left: Self, right: TimeSpan) -> TypedExpression<DateTime, Calculated> {
    left.moved(.add, right)
  }

  /// A span earlier.
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
  /// The time of the fetch; of a live query, the time when it is made.
  public static var now: TypedExpression<DateTime, Calculated> {
    TypedExpression { _ in .function(.now, []) }
  }

  /// So long before now.
  public static func ago(_ span: TimeSpan) -> TypedExpression<DateTime, Calculated> { now - span }

  /// So long after now.
  public static func ahead(_ span: TimeSpan) -> TypedExpression<DateTime, Calculated> { now + span }
}

/// What stands beside a date may be calculated from now: `$0.created > .ago(.days(7))`.
extension TypedExpression where Kind == DateTime {
  /// At the same microsecond.
  public static func == (left: Self, right: TypedExpression<DateTime, Calculated>) -> TypedPredicate {
    left.comparing(.equal, with: right)
  }

  /// At another time, or one of the two is null.
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
  /// So many seconds, as a span.
  public var seconds: TypedExpression<TimeSpan, Calculated> { calling(.seconds) }
  /// So many minutes, as a span.
  public var minutes: TypedExpression<TimeSpan, Calculated> { calling(.minutes) }
  /// So many hours, as a span.
  public var hours: TypedExpression<TimeSpan, Calculated> { calling(.hours) }
  /// So many times 24 hours, as a span.
  public var days: TypedExpression<TimeSpan, Calculated> { calling(.days) }
  /// So many times 7 days, as a span.
  public var weeks: TypedExpression<TimeSpan, Calculated> { calling(.weeks) }
}

extension TypedExpression where Kind == Double, Reach: SingleReach {
  /// So many seconds and parts of one, as a span.
  public var seconds: TypedExpression<TimeSpan, Calculated> { calling(.seconds) }
  /// So many minutes and parts of one, as a span.
  public var minutes: TypedExpression<TimeSpan, Calculated> { calling(.minutes) }
  /// So many hours and parts of one, as a span.
  public var hours: TypedExpression<TimeSpan, Calculated> { calling(.hours) }
  /// So many times 24 hours and parts of that, as a span.
  public var days: TypedExpression<TimeSpan, Calculated> { calling(.days) }
  /// So many times 7 days and parts of that, as a span.
  public var weeks: TypedExpression<TimeSpan, Calculated> { calling(.weeks) }
}

extension TypedExpression where Kind == DateTime, Reach: SingleReach {
  /// A span later.
  public static func + <Other: SingleReach>(
    left: Self, right: TypedExpression<TimeSpan, Other>
  ) -> TypedExpression<DateTime, Calculated> {
    TypedExpression<DateTime, Calculated> { .arithmetic(.add, .date, left.build($0), right.build($0)) }
  }

  /// A span earlier.
  public static func - <Other: SingleReach>(
    left: Self, right: TypedExpression<TimeSpan, Other>
  ) -> TypedExpression<DateTime, Calculated> {
    TypedExpression<DateTime, Calculated> { .arithmetic(.subtract, .date, left.build($0), right.build($0)) }
  }
}
