/// A predicate whose matching objects a client follows. Order and sections are up to the client and do not
/// distinguish queries.
public struct LiveQuery: Hashable, Sendable {
  /// The entity; its subentities are included.
  public var entity: EntityNumber
  /// The condition; paths may go through relationships.
  public var predicate: GraphPredicate
  /// Whether deltas contain complete objects instead of changed properties, for clients without a copy.
  public var wholeObjects: Bool

  /// Creates a query, by default for all objects of the entity.
  public init(entity: EntityNumber, predicate: GraphPredicate = .always, wholeObjects: Bool = false) {
    self.entity = entity
    self.predicate = predicate
    self.wholeObjects = wholeObjects
  }
}

/// A commit's change to the result of a live query.
public enum LiveQueryChange: Hashable, Sendable {
  /// The object joined the result: it was inserted, or it now matches.
  case inserted(ObjectImage)
  /// The object changed and still matches; `previous` is its earlier revision.
  case updated(ObjectImage, edits: [Edit], previous: Revision)
  /// The object left the result; `deleted` says whether it was deleted.
  case removed(ObjectImage, deleted: Bool)
}

extension PredicateEvaluator {
  /// The effect of a change on the query's result. The object was in the result if `matches(before)`, and is in it if
  /// `matches(after)`; no list of ids is stored.
  public func effect(of change: ObjectChange, family: [EntityNumber]) -> LiveQueryChange? {
    guard family.contains(change.id.entity) else { return nil }
    let wasIn = change.before.map { matches($0) } == true
    let isIn = change.after.map { matches($0) } == true
    switch (wasIn, isIn) {
    case (false, true): return change.after.map { .inserted($0) }
    case (true, false): return change.before.map { .removed($0, deleted: change.after == nil) }
    case (true, true):
      guard let after = change.after, let before = change.before else { return nil }
      return .updated(after, edits: change.edits, previous: before.revision)
    case (false, false): return nil
    }
  }
}
