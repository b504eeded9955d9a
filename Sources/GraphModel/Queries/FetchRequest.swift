/// Which objects to read, in which order, and what of them.
public struct FetchRequest: Hashable, Sendable {
  /// Objects of this entity and of all that inherit from it.
  public var entity: EntityNumber
  /// Which of them.
  public var predicate: GraphPredicate
  /// Ties, and an empty list, are settled by id.
  public var sort: [SortKey]
  /// Nil for all of them.
  public var limit: Int?
  /// So many objects of the result are passed over, in its order.
  public var offset: Int
  /// What comes back.
  public var result: FetchResult
  /// Where an earlier page of the same order ended: what comes behind it. Goes without `offset`.
  public var after: FetchCursor?
  /// What comes back is how the answer is found, and nothing of the answer.
  public var explains: Bool
  /// The graph as it was at this revision; nil for the present.
  public var at: Revision?
  /// The objects come as the store finds them, which saves it the sorting: for whoever puts them in order, or has none.
  /// It means nothing for a fetch that has an order, or a part of one: `sort`, `limit`, `offset`, `after`.
  public var isUnordered = false

  /// Without a predicate, all objects of the entity.
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

  /// - Throws: `Refusal` for parts that don't go together, and for a cursor of another fetch.
  public func check(in model: Model) throws(Refusal) {
    guard let after else { return }
    if offset > 0 { throw Refusal(.malformed, "a fetch goes on after a cursor or at an offset, not both") }
    switch result {
    case .count: throw Refusal(.malformed, "a count takes no cursor")
    case .rows(let rows) where !rows.standForObjects:
      throw Refusal(.malformed, "groups and distinct rows take no cursor: page them by limit and offset")
    case .objects, .identifiers, .rows: try after.check(entity: entity, sort: sort, model: model)
    }
  }
}

/// What a fetch brings.
public enum FetchResult: Hashable, Sendable {
  /// Whole objects.
  case objects
  /// Objects without their values: ids and revisions.
  case identifiers
  /// Nothing but how many there are.
  case count
  /// Values of the objects, or of groups of them.
  case rows(RowRequest)
}

/// A part of the answer to a fetch, in its order.
public enum FetchedPart: Hashable, Sendable {
  /// Without values where identifiers were asked for.
  case object(ObjectImage)
  /// A value for each column.
  case row([Value])
}

/// How the answer to a fetch ends.
public struct FetchEnd: Hashable, Sendable {
  /// The state that all of it was read at.
  public var at: Token
  /// How many objects or rows there were.
  public var count: Int
  /// Where the next page begins; nil when nothing comes behind the limit, and where there was none.
  public var next: FetchCursor?
  /// For a request that explains.
  public var explanation: FetchExplanation?

  /// How a fetch ended.
  public init(at: Token, count: Int, next: FetchCursor? = nil, explanation: FetchExplanation? = nil) {
    self.at = at
    self.count = count
    self.next = next
    self.explanation = explanation
  }
}

/// How a store finds the answer to a fetch, for the person who wonders why it takes so long. It holds none of the
/// objects' contents and none of the condition's constants.
public struct FetchExplanation: Hashable, Sendable {
  /// The statements that were run, one after the other. `?1` is the first of `arguments`.
  public var statements: [String]
  /// The types of what the statements are given.
  public var arguments: [String]
  /// What the store does, step by step, in words; indented where a step is part of the one before.
  public var plan: [String]
  /// The names of the indexes that are used.
  public var indexes: [String]
  /// SQL could not say all of the condition: objects are read and judged in memory.
  public var checksInMemory: Bool
  /// How long it took to run.
  public var microseconds: Int64
  /// How many objects or rows the answer has.
  public var count: Int
  /// Attributes that an index would help, as `Entity.attribute`.
  public var advice: [String]

  /// How a fetch was carried out.
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
