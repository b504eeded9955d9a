/// Which objects: a condition on an entity's properties, resolved against a model. The text form is parsed by
/// `GraphPredicate(parsing:entity:model:)`; docs/protocol.md describes it.
///
/// Nil equals only nil; no order comparison with nil holds. Strings compare by their bytes unless `[c]` or `[d]` is
/// asked for.
public indirect enum GraphPredicate: Hashable, Sendable {
  /// Every object.
  case always
  /// No object.
  case never
  /// All of them hold.
  case and([GraphPredicate])
  /// At least one of them holds.
  case or([GraphPredicate])
  /// It does not hold: there are two truth values, with null too.
  case not(GraphPredicate)
  /// Two expressions stand to each other as the comparator says.
  case comparison(Comparison)

  /// Whether answering it takes a full-text index.
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

  /// Predicates may lie this deep in each other: well below SQLite's own limit for expressions.
  public static let maximumDepth = 200
  /// A path has at most so many relationships.
  public static let maximumPathLength = 32
  /// The patterns of MATCHES of one predicate may become so many instructions together: what `RegularExpression` bounds
  /// for one of them, five times.
  public static let maximumPatternInstructions = 50_000
  /// A pattern of LIKE has at most this many bytes.
  public static let maximumPatternSize = 1_000
  /// Subqueries may lie this deep in each other, the whole predicate counted as one.
  public static let maximumSubqueries = 4
  /// The most comparisons, list elements and calculations.
  public static let maximumSize = 20_000

  /// One comparison of two expressions.
  public struct Comparison: Hashable, Sendable {
    /// How many of the left side's values must satisfy it.
    public var quantifier: Quantifier
    /// With a quantifier, a path that leads to many values.
    public var left: GraphExpression
    /// How the two are compared.
    public var comparator: Comparator
    /// For strings only.
    public var options: StringOptions
    /// The other side: of one value, or the list of `IN` and `BETWEEN`.
    public var right: GraphExpression

    /// A comparison of two expressions; the parser's rules about types are not checked here.
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

    /// A comparison of what a path leads to.
    public init(
      _ quantifier: Quantifier = .one, _ path: Path, _ comparator: Comparator, _ right: GraphExpression,
      options: StringOptions = []
    ) {
      self.init(quantifier, .path(path), comparator, right, options: options)
    }

    /// The same with what is constant at the right, where the other side is not: there indexes look for it, and the text
    /// form of a constant at the left would be read so too.
    func turned() -> Comparison {
      guard quantifier == .one, left.isConstant, !right.isConstant, let comparator = comparator.mirrored else {
        return self
      }
      return Comparison(quantifier, right, comparator, left, options: options)
    }

    /// The left side, when it is nothing but a path.
    public var path: Path? { if case .path(let path) = left { path } else { nil } }
  }

  /// How many of the values at the end of a path must satisfy the comparison.
  public enum Quantifier: String, Hashable, Sendable {
    /// The left side has one value.
    case one = ""
    /// At least one of them.
    case any = "ANY"
    /// Every one; true when there is none.
    case all = "ALL"
    /// Not one.
    case none = "NONE"
  }

  /// The way from an object to a value: relationships, then what is read at the end.
  public struct Path: Hashable, Sendable {
    /// What is read where the path ends.
    public enum End: Hashable, Sendable {
      /// An attribute, or a to-one relationship's id.
      case property(PropertyNumber)
      /// The object's own id.
      case identifier
      /// How many objects a to-many has.
      case count(PropertyNumber)
      /// A to-many's objects, and what is made of an attribute of theirs.
      case aggregate(Aggregate, PropertyNumber, attribute: PropertyNumber)
    }

    /// Whose path it is: 0 for the object that is judged, 1 for the one around the SUBQUERY that judges it, …
    public var level: Int
    /// Relationships to follow, in order; none for the object itself.
    public var hops: [PropertyNumber]
    /// What is read at the end.
    public var end: End

    /// A path from the object itself, or from one around a subquery.
    public init(level: Int = 0, hops: [PropertyNumber] = [], end: End) {
      self.level = level
      self.hops = hops
      self.end = end
    }

    /// A property of the object itself.
    public static func property(_ number: PropertyNumber) -> Path { Path(end: .property(number)) }
  }

  /// What can be made of the values of one attribute of many objects. Nulls do not count.
  public enum Aggregate: String, Hashable, Sendable, CaseIterable {
    /// The least. Of no values: null.
    case minimum = "min"
    /// The greatest. Of no values: null.
    case maximum = "max"
    /// Of no values: 0.
    case sum
    /// Of no values: null. Of whole numbers: a fraction.
    case average = "avg"
  }

  /// The operators, as the text form writes them.
  public enum Comparator: String, Hashable, Sendable, CaseIterable {
    /// Null equals null and nothing else.
    case equal = "=="
    /// Holds where one of the two is null and the other is not.
    case notEqual = "!="
    /// Never holds for null, like the three that follow.
    case less = "<"
    /// Less or equal.
    case lessOrEqual = "<="
    /// Holds where the right side is less.
    case greater = ">"
    /// Greater or equal.
    case greaterOrEqual = ">="
    /// The value equals one of a list; never for an empty list.
    case `in` = "IN"
    /// The value lies between two others, or is one of them; never for null.
    case between = "BETWEEN"
    /// A pattern fits the whole text: `*` is any run, `?` one Unicode scalar, `\` takes the next literally.
    case like = "LIKE"
    /// The text begins so, or the text form of an id does.
    case beginsWith = "BEGINSWITH"
    /// The text ends so.
    case endsWith = "ENDSWITH"
    /// The text has the other somewhere in it.
    case contains = "CONTAINS"
    /// A regular expression matches the whole text.
    case matches = "MATCHES"
    /// Every word's prefix occurs in a full-text indexed attribute.
    case search = "SEARCH"

    /// The comparator with its two sides changed over; nil where that makes no sense.
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
  /// All of them hold.
  public static func all(_ predicates: [GraphPredicate]) -> GraphPredicate {
    let parts = predicates.filter { $0 != .always }
    return parts.isEmpty ? .always : parts.count == 1 ? parts[0] : .and(parts)
  }

  /// `property == value`; null is equal to null only.
  public static func equal(_ property: Property, _ value: Value) -> GraphPredicate {
    .comparison(Comparison(.one, .property(property.number), .equal, .value(value)))
  }

  /// `property IN {…}`; nothing matches an empty list.
  public static func `in`(_ property: Property, _ values: [Value]) -> GraphPredicate {
    .comparison(Comparison(.one, .property(property.number), .in, .list(values)))
  }

  /// The objects with these ids.
  public static func identifiers(_ ids: [ObjectID]) -> GraphPredicate {
    .comparison(Comparison(.one, Path(end: .identifier), .in, .list(ids.map(Value.object))))
  }

  /// Visits every comparison, those inside subqueries too; `depth` counts the subqueries around it.
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

  /// Whether an object's own image is enough to judge it.
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

  /// The properties of its own object that it reads, where it reads nothing else.
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
