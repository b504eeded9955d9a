import GraphModel

extension TypedExpression {
  func comparing(
    _ comparator: GraphPredicate.Comparator, _ plain: Kind.Plain, _ options: StringOptions = []
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

  /// The value is that one.
  public static func == (left: Self, right: Kind.Plain) -> TypedPredicate { left.comparing(.equal, right) }

  /// The value is another one, or null.
  public static func != (left: Self, right: Kind.Plain) -> TypedPredicate { left.comparing(.notEqual, right) }

  /// Both have one value, or both are null.
  public static func == <OtherKind, Other: SingleReach>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.Like == Kind.Like { left.comparing(.equal, with: right) }

  /// They have two values, or one of them is null.
  public static func != <OtherKind, Other: SingleReach>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.Like == Kind.Like { left.comparing(.notEqual, with: right) }

  /// The value is one of them; nothing is one of none.
  public func isIn(_ values: some Sequence<Kind.Plain>) -> TypedPredicate {
    let list = values.map { Kind.value($0) }
    return comparing(.in) { _ in .list(list) }
  }
}

extension TypedExpression {
  /// The value is one of other expressions' values.
  public func isIn<OtherKind, Other: SingleReach>(
    _ first: TypedExpression<OtherKind, Other>, _ others: TypedExpression<OtherKind, Other>...
  ) -> TypedPredicate where OtherKind.Like == Kind.Like { comparing(.in, ([first] + others).map(\.build)) }
}

extension TypedExpression where Reach: NullableReach {
  /// There is no value.
  public static func == (left: Self, right: NoValue) -> TypedPredicate { left.comparing(.equal) { _ in .value(.null) } }

  /// There is a value.
  public static func != (left: Self, right: NoValue) -> TypedPredicate {
    left.comparing(.notEqual) { _ in .value(.null) }
  }
}

extension TypedExpression where Kind == Bool {
  /// `== true`, for `where: \.active.isTrue`.
  public var isTrue: TypedPredicate { comparing(.equal, true) }
}

// MARK: - Order

/// Null is neither less nor greater than anything.
extension TypedExpression where Kind: OrderedKind {
  /// Less than a value.
  public static func < (left: Self, right: Kind.Plain) -> TypedPredicate { left.comparing(.less, right) }
  /// A value or less.
  public static func <= (left: Self, right: Kind.Plain) -> TypedPredicate { left.comparing(.lessOrEqual, right) }
  /// Greater than a value.
  public static func > (left: Self, right: Kind.Plain) -> TypedPredicate { left.comparing(.greater, right) }
  /// A value or greater.
  public static func >= (left: Self, right: Kind.Plain) -> TypedPredicate { left.comparing(.greaterOrEqual, right) }

  /// Less than another expression.
  public static func < <OtherKind, Other: SingleReach>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.Like == Kind.Like { left.comparing(.less, with: right) }

  /// Another expression's value, or less.
  public static func <= <OtherKind, Other: SingleReach>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.Like == Kind.Like { left.comparing(.lessOrEqual, with: right) }

  /// Greater than another expression.
  public static func > <OtherKind, Other: SingleReach>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.Like == Kind.Like { left.comparing(.greater, with: right) }

  /// Another expression's value, or greater.
  public static func >= <OtherKind, Other: SingleReach>(
    left: Self, right: TypedExpression<OtherKind, Other>
  ) -> TypedPredicate where OtherKind.Like == Kind.Like { left.comparing(.greaterOrEqual, with: right) }

  /// Not less than `low` and not greater than `high`.
  public func isBetween(_ low: Kind.Plain, _ high: Kind.Plain) -> TypedPredicate {
    let ends = [Kind.value(low), Kind.value(high)]
    return comparing(.between) { _ in .list(ends) }
  }

  /// The same with expressions at both ends.
  public func isBetween<LowKind, Low: SingleReach, HighKind, High: SingleReach>(
    _ low: TypedExpression<LowKind, Low>, _ high: TypedExpression<HighKind, High>
  ) -> TypedPredicate where LowKind.Like == Kind.Like, HighKind.Like == Kind.Like {
    comparing(.between, [low.build, high.build])
  }
}

extension TypedExpression where Kind: OrderedKind, Kind.Plain: Comparable {
  /// Not less than the beginning of `span` and not greater than its end: `$0.weight.isIn(0.5...2)`. Of whole numbers and
  /// of dates, too, it is two ends and not all that lies between them.
  public func isIn(_ span: ClosedRange<Kind.Plain>) -> TypedPredicate { isBetween(span.lowerBound, span.upperBound) }
}

// MARK: - Text

extension TypedExpression where Kind: TextKind {
  /// The text is that one, case or diacritics aside.
  public func isEqual(to text: String, _ options: StringOptions) -> TypedPredicate {
    comparing(.equal, text, options)
  }

  /// The text occurs in it.
  public func contains(_ text: String, _ options: StringOptions = []) -> TypedPredicate {
    comparing(.contains, text, options)
  }

  /// It begins with the text.
  public func hasPrefix(_ text: String, _ options: StringOptions = []) -> TypedPredicate {
    comparing(.beginsWith, text, options)
  }

  /// It ends with the text.
  public func hasSuffix(_ text: String, _ options: StringOptions = []) -> TypedPredicate {
    comparing(.endsWith, text, options)
  }

  /// Another expression's text occurs in it.
  public func contains<OtherKind: TextKind, Other: SingleReach>(
    _ other: TypedExpression<OtherKind, Other>, _ options: StringOptions = []
  ) -> TypedPredicate { comparing(.contains, with: other, options) }

  /// It begins with another expression's text.
  public func hasPrefix<OtherKind: TextKind, Other: SingleReach>(
    _ other: TypedExpression<OtherKind, Other>, _ options: StringOptions = []
  ) -> TypedPredicate { comparing(.beginsWith, with: other, options) }

  /// It ends with another expression's text.
  public func hasSuffix<OtherKind: TextKind, Other: SingleReach>(
    _ other: TypedExpression<OtherKind, Other>, _ options: StringOptions = []
  ) -> TypedPredicate { comparing(.endsWith, with: other, options) }

  /// The text is one of them, case or diacritics aside; nothing is one of none.
  public func isIn(_ texts: some Sequence<String>, _ options: StringOptions) -> TypedPredicate {
    let list = texts.map { Value.string($0) }
    return comparing(.in, options) { _ in .list(list) }
  }

  /// `*` stands for any text, `?` for one character. The server refuses a pattern of more than 1,000 bytes.
  public func isLike(_ pattern: String, _ options: StringOptions = []) -> TypedPredicate {
    comparing(.like, pattern, options)
  }

  /// The expression matches the whole text, under its own options. It was checked when it was read.
  public func matches(_ expression: RegularExpression) -> TypedPredicate {
    comparing(.matches, expression.pattern, expression.options)
  }
}

extension TypedExpression where Kind == FullText {
  /// Every word of `words` begins a word of the text.
  public func search(_ words: String) -> TypedPredicate { comparing(.search, words) }
}
