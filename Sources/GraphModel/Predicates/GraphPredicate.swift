/// A condition on the properties of an entity's objects, resolved against a model.
/// `GraphPredicate(parsing:entity:model:)` parses the text form; docs/protocol.md describes it.
///
/// Nil equals only nil; an order comparison with nil is false. Strings compare by their bytes, except with `[c]` or
/// `[d]`.
public indirect enum GraphPredicate: Hashable, Sendable {
  /// Matches every object.
  case always
  /// Matches no object.
  case never
  /// All predicates hold.
  case and([GraphPredicate])
  /// At least one predicate holds.
  case or([GraphPredicate])
  /// The predicate does not hold. There are two truth values only, even with null.
  case not(GraphPredicate)
  /// A comparison of two expressions.
  case comparison(Comparison)

  /// Whether evaluation requires a full-text index.
  public var searchesText: Bool {
    switch self {
    case .always, .never: false
    case .and(let parts), .or(let parts): parts.contains(where: \.searchesText)
    case .not(let part): part.searchesText
    case .comparison:
      {
        var found = false
        forEachComparison { comparison, _ in found = found || comparison.comparator == .search }
        return found
      }()
    }
  }

  /// The maximum nesting depth of a predicate; well below SQLite's limit for expressions.
  public static let maximumDepth = 200
  /// The maximum number of relationships in a path.
  public static let maximumPathLength = 32
  /// The most instructions of all MATCHES patterns of a predicate together. This is five times the limit of one
  /// `RegularExpression`.
  public static let maximumPatternInstructions = 50_000
  /// The maximum size of a LIKE pattern, in bytes.
  public static let maximumPatternSize = 1_000
  /// The maximum nesting depth of subqueries, with the outermost predicate counted.
  public static let maximumSubqueries = 4
  /// The most comparisons, list elements and calculations.
  public static let maximumSize = 20_000

  /// One comparison of two expressions.
  public struct Comparison: Hashable, Sendable {
    /// The quantifier: the number of the left side's values that must satisfy the comparison.
    public var quantifier: Quantifier
    /// The left side; with a quantifier, a path to many values.
    public var left: GraphExpression
    /// The comparison operator.
    public var comparator: Comparator
    /// The ignored differences; for strings only.
    public var options: StringOptions
    /// The right side: one value, or the list of `IN` and `BETWEEN`.
    public var right: GraphExpression

    /// Creates a comparison of two expressions, without the parser's checks of their types.
    public init(
      _ quantifier: Quantifier = .one, _ left: GraphExpression, _ comparator: Comparator, _ right: GraphExpression,
      options: StringOptions = []
    ) {
      self.quantifier = quantifier
      self.left = left
      self.comparator = comparator
      self.options = options
      self.right = right
    }

    /// Creates a comparison of the values at the end of a path.
    public init(
      _ quantifier: Quantifier = .one, _ path: Path, _ comparator: Comparator, _ right: GraphExpression,
      options: StringOptions = []
    ) {
      self.init(quantifier, .path(path), comparator, right, options: options)
    }

    /// The comparison with a constant left side moved to the right, unless both sides are constant. Indexes are
    /// looked up there, and parsing a text form with a constant at the left also results in this form.
    func turned() -> Comparison {
      guard quantifier == .one, left.isConstant, !right.isConstant, let comparator = comparator.mirrored else {
        return self
      }
      return Comparison(quantifier, right, comparator, left, options: options)
    }

    /// The left side, if it is only a path.
    public var path: Path? { if case .path(let path) = left { path } else { nil } }
  }

  /// The number of the values at the end of a path that must satisfy the comparison.
  public enum Quantifier: String, Hashable, Sendable {
    /// The left side has a single value.
    case one = ""
    /// At least one of them.
    case any = "ANY"
    /// Every value; true if there are none.
    case all = "ALL"
    /// No value.
    case none = "NONE"
  }

  /// A path from an object to a value: relationships, then a property, id or aggregate.
  public struct Path: Hashable, Sendable {
    /// The value that a path reads at its end.
    public enum End: Hashable, Sendable {
      /// An attribute, or a to-one relationship's id.
      case property(PropertyNumber)
      /// The object's own id.
      case identifier
      /// The number of objects of a to-many.
      case count(PropertyNumber)
      /// An aggregate over an attribute of a to-many's objects.
      case aggregate(Aggregate, PropertyNumber, attribute: PropertyNumber)
    }

    /// The object where the path starts: 0 for the evaluated object, 1 for the one of the enclosing SUBQUERY, and so
    /// on.
    public var level: Int
    /// The relationships to follow, in order; empty for the object itself.
    public var hops: [PropertyNumber]
    /// The value at the end.
    public var end: End

    /// Creates a path from the evaluated object, or from one of an enclosing subquery.
    public init(level: Int = 0, hops: [PropertyNumber] = [], end: End) {
      self.level = level
      self.hops = hops
      self.end = end
    }

    /// A path to a property of the object itself.
    public static func property(_ number: PropertyNumber) -> Path { Path(end: .property(number)) }

    /// Whether the path's value depends on other objects than the one where it starts.
    var readsOthers: Bool {
      if !hops.isEmpty { return true }
      return switch end {
      case .count, .aggregate: true
      case .identifier, .property: false
      }
    }
  }

  /// An aggregate of an attribute over many objects. Nulls are ignored.
  public enum Aggregate: String, Hashable, Sendable, CaseIterable {
    /// The minimum; null for no values.
    case minimum = "min"
    /// The maximum; null for no values.
    case maximum = "max"
    /// The sum; 0 for no values.
    case sum
    /// The average, a double for integers; null for no values.
    case average = "avg"
  }

  /// The comparison operators; the raw values are those of the text form.
  public enum Comparator: String, Hashable, Sendable, CaseIterable {
    /// Equal; null equals only null.
    case equal = "=="
    /// Not equal; true if exactly one of the two is null.
    case notEqual = "!="
    /// Less; false for null, as the next three are.
    case less = "<"
    /// Less or equal.
    case lessOrEqual = "<="
    /// Greater.
    case greater = ">"
    /// Greater or equal.
    case greaterOrEqual = ">="
    /// Equal to an element of the list; false for an empty list.
    case `in` = "IN"
    /// Between the two bounds, inclusive; false for null.
    case between = "BETWEEN"
    /// Matches a pattern as a whole: `*` is any run, `?` one Unicode scalar, `\` escapes the next.
    case like = "LIKE"
    /// Begins with the text; also for the text form of an id.
    case beginsWith = "BEGINSWITH"
    /// Ends with the text.
    case endsWith = "ENDSWITH"
    /// Contains the text.
    case contains = "CONTAINS"
    /// Matches a regular expression as a whole.
    case matches = "MATCHES"
    /// A full-text indexed attribute contains a word with the prefix, for each of the prefixes.
    case search = "SEARCH"

    /// The comparator for exchanged sides; nil if there is none.
    var mirrored: Comparator? {
      switch self {
      case .equal, .notEqual: self
      case .less: .greater
      case .lessOrEqual: .greaterOrEqual
      case .greater: .less
      case .greaterOrEqual: .lessOrEqual
      default: nil
      }
    }
  }
}

extension GraphPredicate {
  /// The conjunction of the predicates.
  public static func all(_ predicates: [GraphPredicate]) -> GraphPredicate {
    let parts = predicates.filter { $0 != .always }
    return parts.isEmpty ? .always : parts.count == 1 ? parts[0] : .and(parts)
  }

  /// `property == value`; null is equal to null only.
  public static func equal(_ property: Property, _ value: Value) -> GraphPredicate {
    .comparison(Comparison(.one, .property(property.number), .equal, .value(value)))
  }

  /// `property IN {…}`; an empty list matches nothing.
  public static func `in`(_ property: Property, _ values: [Value]) -> GraphPredicate {
    .comparison(Comparison(.one, .property(property.number), .in, .list(values)))
  }

  /// The objects with these ids.
  public static func identifiers(_ ids: [ObjectID]) -> GraphPredicate {
    .comparison(Comparison(.one, Path(end: .identifier), .in, .list(ids.map(Value.object))))
  }

  /// Whether only objects whose ids the predicate names can match.
  public var namesObjects: Bool {
    switch self {
    case .and(let parts): parts.contains(where: \.namesObjects)
    case .or(let parts): parts.allSatisfy(\.namesObjects)
    case .comparison(let comparison):
      comparison.quantifier == .one && comparison.path == Path(end: .identifier)
        && [.equal, .in].contains(comparison.comparator)
    case .always, .never, .not: false
    }
  }

  /// Visits all comparisons, including those in subqueries; `depth` is the number of enclosing subqueries.
  public func forEachComparison(depth: Int = 0, _ body: (Comparison, _ depth: Int) -> Void) {
    switch self {
    case .always, .never: break
    case .and(let parts), .or(let parts): for part in parts { part.forEachComparison(depth: depth, body) }
    case .not(let inner): inner.forEachComparison(depth: depth, body)
    case .comparison(let comparison):
      body(comparison, depth)
      for side in [comparison.left, comparison.right] {
        side.forEachSubquery { $0.forEachComparison(depth: depth + 1, body) }
      }
    }
  }

  /// Whether the result depends on the object's own image only.
  public func readsOnlyOwnImage(in model: Model) -> Bool {
    var own = true
    forEachComparison { comparison, depth in
      guard depth == 0, comparison.left.readsOnlyOwnImage(in: model), comparison.right.readsOnlyOwnImage(in: model)
      else {
        own = false
        return
      }
    }
    return own
  }

  /// Whether a path that reads other objects occurs more than once.
  var repeatsPaths: Bool {
    var seen = Set<Path>()
    var repeats = false
    forEachComparison { comparison, _ in
      for path in comparison.left.paths + comparison.right.paths where path.readsOthers {
        if !seen.insert(path).inserted { repeats = true }
      }
    }
    return repeats
  }

  /// The properties that the predicate reads, for a predicate that reads its own object only.
  var ownProperties: Set<PropertyNumber> {
    var numbers = Set<PropertyNumber>()
    forEachComparison { comparison, _ in
      for path in comparison.left.paths + comparison.right.paths {
        switch path.end {
        case .property(let number), .count(let number): numbers.insert(number)
        case .aggregate, .identifier: break
        }
      }
    }
    return numbers
  }
}
