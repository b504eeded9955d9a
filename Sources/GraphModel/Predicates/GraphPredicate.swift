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
  case and([GraphPredicate])
  case or([GraphPredicate])
  case not(GraphPredicate)
  case comparison(Comparison)

  /// Whether answering it takes a full-text index.
  public var searchesText: Bool {
    switch self {
    case .always, .never: false
    case .and(let parts), .or(let parts): parts.contains(where: \.searchesText)
    case .not(let part): part.searchesText
    case .comparison(let comparison): comparison.comparator == .search
    }
  }

  /// Predicates may lie this deep in each other: well below SQLite's own limit for expressions.
  public static let maximumDepth = 200
  /// A pattern of LIKE has at most this many bytes.
  public static let maximumPatternSize = 1_000
  /// The most comparisons, list elements included.
  public static let maximumSize = 20_000

  /// One comparison: the values at the end of a path against an operand.
  public struct Comparison: Hashable, Sendable {
    /// How many of the path's values must satisfy it.
    public var quantifier: Quantifier
    /// Where the left side comes from.
    public var path: Path
    /// How the two are compared.
    public var comparator: Comparator
    /// For strings only.
    public var options: StringOptions
    /// The right side.
    public var operand: Operand

    public init(
      _ quantifier: Quantifier = .one, _ path: Path, _ comparator: Comparator, _ operand: Operand,
      options: StringOptions = []
    ) {
      self.quantifier = quantifier
      self.path = path
      self.comparator = comparator
      self.options = options
      self.operand = operand
    }
  }

  /// How many of the values at the end of a path must satisfy the comparison.
  public enum Quantifier: String, Hashable, Sendable {
    /// The path has one value.
    case one = ""
    case any = "ANY"
    case all = "ALL"
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
    }

    /// Relationships to follow, in order; none for the object itself.
    public var hops: [PropertyNumber]
    /// What is read at the end.
    public var end: End

    public init(hops: [PropertyNumber] = [], end: End) {
      self.hops = hops
      self.end = end
    }

    /// A property of the object itself.
    public static func property(_ number: PropertyNumber) -> Path { Path(end: .property(number)) }
  }

  /// The operators, as the text form writes them.
  public enum Comparator: String, Hashable, Sendable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case `in` = "IN"
    case between = "BETWEEN"
    case like = "LIKE"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    /// Every word's prefix occurs in a full-text indexed attribute.
    case search = "SEARCH"
  }

  /// What the right side of a comparison can be.
  public enum Operand: Hashable, Sendable {
    case value(Value)
    /// For `IN`, and the two ends of `BETWEEN`.
    case list([Value])
    case path(Path)
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

  /// Visits every comparison.
  public func forEachComparison(_ body: (Comparison) -> Void) {
    switch self {
    case .always, .never: break
    case .and(let parts), .or(let parts): for part in parts { part.forEachComparison(body) }
    case .not(let inner): inner.forEachComparison(body)
    case .comparison(let comparison): body(comparison)
    }
  }

  /// Whether an object's own image is enough to judge it.
  public func readsOnlyOwnImage(in model: Model) -> Bool {
    var own = true
    func check(_ path: Path) {
      if !path.hops.isEmpty { own = false }
      if case .count(let number) = path.end, model.property(number)?.slot == nil { own = false }
    }
    forEachComparison { comparison in
      check(comparison.path)
      if case .path(let other) = comparison.operand { check(other) }
    }
    return own
  }

  /// The stored properties of the object itself that decide whether it matches.
  public var ownProperties: Set<PropertyNumber> {
    var numbers = Set<PropertyNumber>()
    func add(_ path: Path) {
      switch (path.hops.first, path.end) {
      case (let first?, _): numbers.insert(first)
      case (nil, .property(let number)), (nil, .count(let number)): numbers.insert(number)
      case (nil, .identifier): break
      }
    }
    forEachComparison { comparison in
      add(comparison.path)
      if case .path(let other) = comparison.operand { add(other) }
    }
    return numbers
  }
}
