/// A fetch of objects, in an order, with a choice of what to return.
public struct FetchRequest: Hashable, Sendable {
  /// The entity; its subentities are included.
  public var entity: EntityNumber
  /// The condition.
  public var predicate: GraphPredicate
  /// The sort keys; ties, and an empty list, are ordered by id.
  public var sort: [SortKey]
  /// The maximum number of objects; nil for all.
  public var limit: Int?
  /// The number of objects to skip, in the order of the result.
  public var offset: Int
  /// The kind of result.
  public var result: FetchResult
  /// The end of an earlier page in the same order; the result continues after it. Not allowed together with `offset`.
  public var after: FetchCursor?
  /// Whether to return an explanation of the execution instead of the result.
  public var explains: Bool
  /// The revision to read at; nil for the present.
  public var at: Revision?
  /// Whether the objects may come in any order, which saves the sort. For callers that sort them or don't need an
  /// order. Ignored if `sort`, `limit`, `offset` or `after` is set.
  public var isUnordered = false
  /// Whether damaged objects are omitted and named in `FetchCompletion.damage`. They count towards `limit` and
  /// `offset`. Otherwise the fetch is refused if it meets one.
  public var omitsDamage = false

  /// Creates a fetch, by default of all objects of the entity.
  public init(
    entity: EntityNumber, predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil,
    offset: Int = 0, result: FetchResult = .objects, after: FetchCursor? = nil, explains: Bool = false,
    at: Revision? = nil
  ) {
    self.entity = entity
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
    self.result = result
    self.after = after
    self.explains = explains
    self.at = at
  }

  /// - Throws: `Refusal` for an invalid combination, and for a cursor of another fetch.
  public func check(in model: Model) throws(Refusal) {
    guard let after else { return }
    if offset > 0 { throw Refusal(.malformed, "a fetch continues after a cursor or at an offset, not both") }
    switch result {
    case .count: throw Refusal(.malformed, "a count can't have a cursor")
    case .rows(let rows) where !rows.hasRowPerObject:
      throw Refusal(.malformed, "groups and distinct rows can't have a cursor: page them by limit and offset")
    case .objects, .identifiers, .rows: try after.check(entity: entity, sort: sort, model: model)
    }
  }
}

/// The kind of result of a fetch.
public enum FetchResult: Hashable, Sendable {
  /// Objects with their values.
  case objects
  /// Objects without their values: ids and revisions.
  case identifiers
  /// The number of objects only.
  case count
  /// Values of the objects, or of groups of them.
  case rows(RowRequest)
}

/// An element of the result of a fetch, in its order.
public enum FetchElement: Hashable, Sendable {
  /// An object; without values if identifiers were requested.
  case object(ObjectImage)
  /// A row with a value for each column.
  case row([Value])
}

/// The end of the result of a fetch.
public struct FetchCompletion: Hashable, Sendable {
  /// The state at which the complete result was read.
  public var at: Token
  /// The number of objects or rows.
  public var count: Int
  /// The start of the next page; nil if nothing follows the limit, and without a limit.
  public var next: FetchCursor?
  /// The explanation, if it was requested.
  public var explanation: FetchExplanation?
  /// The objects that the result omits because they are damaged, if the request omits them.
  public var damage: DamageNotice

  /// Creates the end of a result.
  public init(
    at: Token, count: Int, next: FetchCursor? = nil, explanation: FetchExplanation? = nil,
    damage: DamageNotice = DamageNotice()
  ) {
    self.damage = damage
    self.at = at
    self.count = count
    self.next = next
    self.explanation = explanation
  }
}

/// An explanation of how a store executes a fetch, for the diagnosis of slow fetches. It contains neither the
/// objects' contents nor the predicate's constants.
public struct FetchExplanation: Hashable, Sendable {
  /// The statements, in the order of their execution. `?1` is the first of `arguments`.
  public var statements: [String]
  /// The types of the statements' arguments.
  public var arguments: [String]
  /// The store's query plan, step by step; substeps are indented.
  public var plan: [String]
  /// The names of the used indexes.
  public var indexes: [String]
  /// Whether objects are also filtered in memory, because SQL can't express the complete predicate.
  public var checksInMemory: Bool
  /// The execution time.
  public var microseconds: Int64
  /// The number of objects or rows in the result.
  public var count: Int
  /// The attributes for which an index is advisable, as `Entity.attribute`.
  public var advice: [String]

  /// Creates an explanation.
  public init(
    statements: [String] = [], arguments: [String] = [], plan: [String] = [], indexes: [String] = [],
    checksInMemory: Bool = false, microseconds: Int64 = 0, count: Int = 0, advice: [String] = []
  ) {
    self.statements = statements
    self.arguments = arguments
    self.plan = plan
    self.indexes = indexes
    self.checksInMemory = checksInMemory
    self.microseconds = microseconds
    self.count = count
    self.advice = advice
  }
}
