import GraphModel
import GraphReplica

/// Which objects a results controller shows, in which order and in which sections.
public struct ResultsRequest: Hashable, Sendable {
  /// Objects of this entity and of all that inherit from it.
  public var entity: EntityNumber
  /// Which of them. `now()` is to be bound before.
  public var predicate: GraphPredicate
  /// Ties, and an empty list, are settled by id.
  public var sort: [SortKey]
  /// What the objects of a section share: an attribute, or one of what a to-one refers to. Nil for a single section. The
  /// sections' order is that of the first sort key if it has this path, else ascending.
  public var section: GraphPredicate.Path?
  /// What is loaded along with the objects: whatever the order reaches beyond them.
  public var prefetching: RelationshipTree
  /// The result fails, with `limit`, when it has more objects than these, now or later; nil for any number. A window is
  /// not held to it.
  public var maximumCount: Int?
  /// Which of the rows are here, for a result that is too long to be; nil for all of them. The sort may then read an
  /// object's own properties only, and there are no sections.
  public var window: ResultsWindow?

  /// Without a predicate, all objects of the entity.
  public init(
    entity: EntityNumber, predicate: GraphPredicate = .always, sort: [SortKey] = [],
    section: GraphPredicate.Path? = nil, prefetching: RelationshipTree = .none
  ) {
    self.entity = entity
    self.predicate = predicate
    self.sort = sort
    self.section = section
    self.prefetching = prefetching
  }

  /// A fetch's entity, predicate and sort; everything else in it is not for live results.
  public init(_ fetch: FetchRequest, section: GraphPredicate.Path? = nil, prefetching: RelationshipTree = .none) {
    self.init(
      entity: fetch.entity, predicate: fetch.predicate, sort: fetch.sort, section: section, prefetching: prefetching)
  }

  func order(in model: Model) -> ResultsOrder { ResultsOrder(sort, section: section, model: model) }
}

/// A part of a result's rows.
public struct ResultsWindow: Hashable, Sendable {
  /// So many rows come before it.
  public var offset: Int
  /// At most so many rows, from 1 to 1,000.
  public var limit: Int

  /// Rows from `offset` on.
  public init(offset: Int = 0, limit: Int) {
    self.offset = offset
    self.limit = limit
  }
}
