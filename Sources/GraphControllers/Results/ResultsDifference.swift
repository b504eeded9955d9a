import GraphModel

/// A section that a commit inserted or removed.
public enum ResultsSectionChange: Hashable, Sendable {
  /// The section's index before the commit; its rows are also reported as removed or moved.
  case removed(name: Value?, from: Int)
  /// The section's index after the commit.
  case inserted(name: Value?, at: Int)
}

/// The effect of a commit on one object of a result. `from` is a position before the commit, `to` and `at` are
/// positions after it.
public enum ResultsObjectChange: Hashable, Sendable {
  /// The object was deleted or left the filter.
  case removed(ObjectID, from: ResultsPosition)
  /// The object was created or now matches the filter.
  case inserted(ObjectID, at: ResultsPosition)
  /// The object moved relative to the remaining rows. Its changed properties are `properties`; nil if they are
  /// unknown.
  case moved(ObjectID, from: ResultsPosition, to: ResultsPosition, properties: Set<PropertyNumber>?)
  /// The object changed without moving, though rows before it may have been inserted or removed: it is at `from`
  /// before the commit and at `at` after it.
  case updated(ObjectID, from: ResultsPosition, at: ResultsPosition, properties: Set<PropertyNumber>?)

  /// The object's id.
  public var id: ObjectID {
    switch self {
    case .removed(let id, _), .inserted(let id, _), .moved(let id, _, _, _), .updated(let id, _, _, _): id
    }
  }
}

/// All changes of one commit to a result; or, for a slow reader, of several commits combined.
///
/// A view that keeps its own rows applies the difference in this order. Remove the removed rows and the sources of
/// moves by their old positions, from the last to the first; remove the removed sections likewise. Insert the
/// inserted sections by their new positions, from the first to the last; insert the inserted rows and the targets of
/// moves likewise. The lists `objects` and `sections` are in that order.
public struct ResultsDifference: Hashable, Sendable {
  /// The commit's revision; 0 for a loaded result.
  public var revision: Revision = 0
  /// The commit's author; empty for a loaded result.
  public var author = ""
  /// The commit's time, in microseconds since 1970; 0 for a loaded result. With a client it is also a `date`: this
  /// module has no Foundation.
  public var time: Timestamp = 0
  /// Removed sections from the last to the first, then inserted ones from the first to the last.
  public var sections = [ResultsSectionChange]()
  /// Removed objects from the last to the first, then inserted, moved and updated ones, each from the first to the
  /// last.
  public var objects = [ResultsObjectChange]()
  /// The number of rows before.
  public var countBefore = 0
  /// The number of rows after.
  public var countAfter = 0

  /// Whether nothing changed.
  public var isEmpty: Bool { sections.isEmpty && objects.isEmpty }

  /// The same difference for a flat list of ids: a move becomes an associated removal and insertion; updates are
  /// omitted.
  public var collectionDifference: CollectionDifference<ObjectID> {
    var changes = [CollectionDifference<ObjectID>.Change]()
    for object in objects {
      switch object {
      case .removed(let id, let old): changes.append(.remove(offset: old.offset, element: id, associatedWith: nil))
      case .inserted(let id, let new): changes.append(.insert(offset: new.offset, element: id, associatedWith: nil))
      case .moved(let id, let old, let new, _):
        changes.append(.remove(offset: old.offset, element: id, associatedWith: new.offset))
        changes.append(.insert(offset: new.offset, element: id, associatedWith: old.offset))
      case .updated: break
      }
    }
    // The initializer refuses duplicate offsets, which the positions of one list never are.
    guard let difference = CollectionDifference(changes) else { preconditionFailure("the offsets of \(changes) clash") }
    return difference
  }
}

/// One object that a commit touched, with its rows before and after.
public struct ResultsRowChange: Sendable {
  /// Nil if the object was not in the result.
  public var before: ResultsRow?
  /// Nil if the object is not in the result.
  public var after: ResultsRow?
  /// Whether the object itself changed, and not only an object that its position depends on.
  public var isChanged: Bool
  /// The changed properties; nil if they are unknown.
  public var properties: Set<PropertyNumber>?

  /// Creates a touch from an object's rows before and after a commit.
  public init(
    before: ResultsRow?, after: ResultsRow?, isChanged: Bool = true, properties: Set<PropertyNumber>? = nil
  ) {
    self.before = before
    self.after = after
    self.isChanged = isChanged
    self.properties = properties
  }

  /// Combines this touch with a later one of the same object.
  func followed(by later: ResultsRowChange) -> ResultsRowChange {
    var both = ResultsRowChange(before: before, after: later.after, isChanged: isChanged || later.isChanged)
    switch (isChanged, later.isChanged) {
    case (true, true): both.properties = properties.flatMap { mine in later.properties.map { mine.union($0) } }
    case (true, false): both.properties = properties
    case (false, _): both.properties = later.properties
    }
    return both
  }
}
