/// A fetch of objects in an order, with the kind of its result.
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
  /// `offset`. Otherwise the fetch is refused if it finds one.
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
