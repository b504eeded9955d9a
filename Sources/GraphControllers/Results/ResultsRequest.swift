import GraphModel
import GraphReplica

/// The objects that a results controller shows, with their order and sections.
public struct ResultsRequest: Hashable, Sendable {
  /// The entity; objects of inheriting entities are included.
  public var entity: EntityNumber
  /// The filter. Bind `now()` before.
  public var predicate: GraphPredicate
  /// The sort keys. Ties, and an empty list, are ordered by id.
  public var sort: [SortKey]
  /// The path whose value the objects of a section share: an attribute, or one of the object that a to-one refers to.
  /// Nil for a single section. The sections are sorted as the first sort key says if it has this path, otherwise in
  /// ascending order.
  public var section: GraphPredicate.Path?
  /// The relationships to prefetch: those that the order reads.
  public var prefetch: RelationshipTree
  /// The maximum number of objects; the query fails with `limit` if the result has more, now or later. Nil for no
  /// maximum. It does not apply to a window.
  public var maximumCount: Int?
  /// The window of rows to load, for a result that is too long to load completely; nil for all rows. A windowed
  /// result can only be sorted by the object's own properties and has no sections.
  public var window: ResultsWindow?

  /// Creates a request; without a predicate, it selects all objects of the entity.
  public init(
    entity: EntityNumber, predicate: GraphPredicate = .always, sort: [SortKey] = [],
    section: GraphPredicate.Path? = nil, prefetch: RelationshipTree = .none
  ) {
    self.entity = entity
    self.predicate = predicate
    self.sort = sort
    self.section = section
    self.prefetch = prefetch
  }

  /// Creates a request from a fetch's entity, predicate and sort; its other properties do not apply to live results.
  public init(_ fetch: FetchRequest, section: GraphPredicate.Path? = nil, prefetch: RelationshipTree = .none) {
    self.init(
      entity: fetch.entity, predicate: fetch.predicate, sort: fetch.sort, section: section, prefetch: prefetch)
  }

  func order(in model: Model) -> ResultsOrder { ResultsOrder(sort, section: section, model: model) }
}

/// A range of a result's rows.
public struct ResultsWindow: Hashable, Sendable {
  /// The number of rows before the window.
  public var offset: Int
  /// The maximum number of rows, from 1 to 1,000.
  public var limit: Int

  /// Creates a window that begins at `offset`.
  public init(offset: Int = 0, limit: Int) {
    self.offset = offset
    self.limit = limit
  }
}
