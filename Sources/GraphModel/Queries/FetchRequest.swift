/// Which objects to read, and in which order.
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

  /// Without a predicate, all objects of the entity.
  public init(
    entity: EntityNumber, predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil,
    offset: Int = 0
  ) {
    self.entity = entity
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
  }
}
