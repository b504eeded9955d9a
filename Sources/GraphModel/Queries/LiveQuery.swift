/// A condition whose objects a client follows. Order and sections are the client's own affair: they are no part of
/// what makes two queries equal.
public struct LiveQuery: Hashable, Sendable {
  /// Objects of this entity and of all that inherit from it.
  public var entity: EntityNumber
  /// Which of them; paths may lead through relationships.
  public var predicate: GraphPredicate
  /// Deltas carry whole objects rather than changed properties, for clients that hold no copy.
  public var wholeObjects: Bool

  /// Without a predicate, all objects of the entity.
  public init(entity: EntityNumber, predicate: GraphPredicate = .always, wholeObjects: Bool = false) {
    self.entity = entity
    self.predicate = predicate
    self.wholeObjects = wholeObjects
  }
}

/// What one commit does to the result of one live query.
public enum LiveQueryChange: Hashable, Sendable {
  /// The object came: it was made, or it matches now.
  case inserted(ObjectImage)
  /// The object stays; `previous` is the revision that it had before.
  case updated(ObjectImage, edits: [Edit], previous: Revision)
  /// The object left the result; `deleted` says whether it is gone altogether.
  case removed(ObjectImage, deleted: Bool)
}

extension PredicateEvaluator {
  /// What a change means for the query: was-in is `matches(before)`, is-in is `matches(after)`. No list of ids is kept.
  public func effect(of change: ObjectChange, family: [EntityNumber]) -> LiveQueryChange? {
    guard family.contains(change.id.entity) else { return nil }
    let wasIn = change.before.map { matches($0) } ?? false
    let isIn = change.after.map { matches($0) } ?? false
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
