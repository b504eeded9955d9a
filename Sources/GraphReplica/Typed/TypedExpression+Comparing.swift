// Tests: TypedPredicateTests.swift
import GraphModel

extension TypedExpression {
  func comparing(
    _ comparator: GraphPredicate.Comparator, _ plain: Kind.Constant, _ options: StringOptions = []
  ) -> TypedPredicate {
    let value = Kind.value(plain)
    return comparing(comparator, options) { _ in .value(value) }
  }

  func comparing<OtherKind, Other>(
    _ comparator: GraphPredicate.Comparator, with other: TypedExpression<OtherKind, Other>,
    _ options: StringOptions = []
  ) -> TypedPredicate { comparing(comparator, options, other.build) }

  func comparing(
    _ comparator: GraphPredicate.Comparator, _ options: StringOptions = [],
    _ right: @escaping (Int) -> GraphExpression
  ) -> TypedPredicate {
    TypedPredicate { depth in
      .comparison(GraphPredicate.Comparison(quantifier, build(depth), comparator, right(depth), options: options))
    }
  }

  func comparing(_ comparator: GraphPredicate.Comparator, _ parts: [(Int) -> GraphExpression]) -> TypedPredicate {
    comparing(comparator) { depth in .expressions(parts.map { $0(depth) }) }
  }

  // MARK: - Equality

  /// Equal to the value.
  public static func == (left: Self, right: Kind.Constant) -> TypedPredicate { left.comparing(.equal, right) }

  /// Different from the value, or null.
  public static func != (left: Self, right: Kind.Constant) -> TypedPredicate { left.comparing(.notEqual, right) }

  /// Both are equal, or both are null.
  public static func == <OtherKind, Other: SingleCardinality>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.ComparableKind == Kind.ComparableKind { left.comparing(.equal, with: right) }

  /// The two differ, or one of them is null.
  public static func != <OtherKind, Other: SingleCardinality>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.ComparableKind == Kind.ComparableKind { left.comparing(.notEqual, with: right) }

  /// Equal to one of the values; false for an empty sequence.
  public func isIn(_ values: some Sequence<Kind.Constant>) -> TypedPredicate {
    let list = values.map { Kind.value($0) }
    return comparing(.in) { _ in .list(list) }
  }
}

extension TypedExpression {
  /// Equal to one of the other expressions' values.
  public func isIn<OtherKind, Other: SingleCardinality>(
    _ first: TypedExpression<OtherKind, Other>, _ others: TypedExpression<OtherKind, Other>...
  ) -> TypedPredicate where OtherKind.ComparableKind == Kind.ComparableKind {
    comparing(.in, ([first] + others).map(\.build))
  }
}

extension TypedExpression where Cardinality: NullableCardinality {
  /// There is no value.
  public static func == (left: Self, right: NullLiteral) -> TypedPredicate {
    left.comparing(.equal) { _ in .value(.null) }
  }

  /// There is a value.
  public static func != (left: Self, right: NullLiteral) -> TypedPredicate {
    left.comparing(.notEqual) { _ in .value(.null) }
  }
}

// MARK: - Order

/// Comparisons by order. Null is neither less nor greater than anything.
extension TypedExpression where Kind: OrderedKind {
  /// Less than a value.
  public static func < (left: Self, right: Kind.Constant) -> TypedPredicate { left.comparing(.less, right) }
  /// Less than or equal to a value.
  public static func <= (left: Self, right: Kind.Constant) -> TypedPredicate { left.comparing(.lessOrEqual, right) }
  /// Greater than a value.
  public static func > (left: Self, right: Kind.Constant) -> TypedPredicate { left.comparing(.greater, right) }
  /// Greater than or equal to a value.
  public static func >= (left: Self, right: Kind.Constant) -> TypedPredicate { left.comparing(.greaterOrEqual, right) }

  /// Less than another expression.
  public static func < <OtherKind, Other: SingleCardinality>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.ComparableKind == Kind.ComparableKind { left.comparing(.less, with: right) }

  /// Less than or equal to another expression.
  public static func <= <OtherKind, Other: SingleCardinality>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.ComparableKind == Kind.ComparableKind {
    left.comparing(.lessOrEqual, with: right)
  }

  /// Greater than another expression.
  public static func > <OtherKind, Other: SingleCardinality>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.ComparableKind == Kind.ComparableKind { left.comparing(.greater, with: right) }

  /// Greater than or equal to another expression.
  public static func >= <OtherKind, Other: SingleCardinality>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.ComparableKind == Kind.ComparableKind {
    left.comparing(.greaterOrEqual, with: right)
  }

  /// Not less than `low` and not greater than `high`.
  public func isBetween(_ low: Kind.Constant, _ high: Kind.Constant) -> TypedPredicate {
    let ends = [Kind.value(low), Kind.value(high)]
    return comparing(.between) { _ in .list(ends) }
  }

  /// Not less than `low` and not greater than `high`, which are expressions.
  public func isBetween<LowKind, Low: SingleCardinality, HighKind, High: SingleCardinality>(
    _ low: TypedExpression<LowKind, Low>, _ high: TypedExpression<HighKind, High>
  ) -> TypedPredicate
  where LowKind.ComparableKind == Kind.ComparableKind, HighKind.ComparableKind == Kind.ComparableKind {
    comparing(.between, [low.build, high.build])
  }
}

extension TypedExpression where Kind: OrderedKind, Kind.Constant: Comparable {
  /// Not less than the lower bound of `span` and not greater than the upper one. Example: `$0.weight.isIn(0.5...2)`.
  /// The predicate compares with two bounds, also for whole numbers and dates; it does not list the values between
  /// them.
  public func isIn(_ span: ClosedRange<Kind.Constant>) -> TypedPredicate { isBetween(span.lowerBound, span.upperBound) }
}

// MARK: - Text

extension TypedExpression where Kind: TextKind {
  /// Equal to the text, ignoring case or diacritics as `options` say.
  public func isEqual(to text: String, _ options: StringOptions) -> TypedPredicate {
    comparing(.equal, text, options)
  }

  /// Contains the text.
  public func contains(_ text: String, _ options: StringOptions = []) -> TypedPredicate {
    comparing(.contains, text, options)
  }

  /// Begins with the text.
  public func hasPrefix(_ text: String, _ options: StringOptions = []) -> TypedPredicate {
    comparing(.beginsWith, text, options)
  }

  /// Ends with the text.
  public func hasSuffix(_ text: String, _ options: StringOptions = []) -> TypedPredicate {
    comparing(.endsWith, text, options)
  }

  /// Contains another expression's text.
  public func contains<OtherKind: TextKind, Other: SingleCardinality>(
    _ other: TypedExpression<OtherKind, Other>, _ options: StringOptions = []
  ) -> TypedPredicate { comparing(.contains, with: other, options) }

  /// Begins with another expression's text.
  public func hasPrefix<OtherKind: TextKind, Other: SingleCardinality>(
    _ other: TypedExpression<OtherKind, Other>, _ options: StringOptions = []
  ) -> TypedPredicate { comparing(.beginsWith, with: other, options) }

  /// Ends with another expression's text.
  public func hasSuffix<OtherKind: TextKind, Other: SingleCardinality>(
    _ other: TypedExpression<OtherKind, Other>, _ options: StringOptions = []
  ) -> TypedPredicate { comparing(.endsWith, with: other, options) }

  /// Equal to one of the texts, ignoring case or diacritics as `options` say. False for an empty sequence.
  public func isIn(_ texts: some Sequence<String>, _ options: StringOptions) -> TypedPredicate {
    let list = texts.map { Value.string($0) }
    return comparing(.in, options) { _ in .list(list) }
  }

  /// Matches a pattern, in which `*` stands for any text and `?` for one character. The server refuses a pattern of
  /// more than 1,000 bytes.
  public func isLike(_ pattern: String, _ options: StringOptions = []) -> TypedPredicate {
    comparing(.like, pattern, options)
  }

  /// The regular expression matches the complete text, under its own options. Its syntax was checked when it was
  /// parsed.
  public func matches(_ expression: RegularExpression) -> TypedPredicate {
    comparing(.matches, expression.pattern, expression.options)
  }
}

extension TypedExpression where Kind == FullText {
  /// Each word of `words` is the beginning of a word of the text.
  public func search(_ words: String) -> TypedPredicate { comparing(.search, words) }
}
