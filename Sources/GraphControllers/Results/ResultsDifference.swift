import GraphModel

/// A section that came or went with a commit.
public enum ResultsSectionChange: Hashable, Sendable {
  /// It had this place before the commit; its rows are told as removed or moved, too.
  case removed(name: Value?, from: Int)
  /// It has this place after the commit.
  case inserted(name: Value?, at: Int)
}

/// What a commit did to one object of a result. Places of what leaves are those before the commit, places of what comes
/// those after it.
public enum ResultsObjectChange: Hashable, Sendable {
  /// It was deleted, or left the filter.
  case removed(ObjectID, from: ResultsPosition)
  /// It was made, or came to fit the filter.
  case inserted(ObjectID, at: ResultsPosition)
  /// It stands elsewhere among the rows that stayed; these properties of it changed as well, nil if nobody said which.
  case moved(ObjectID, from: ResultsPosition, to: ResultsPosition, properties: Set<PropertyNumber>?)
  /// It changed and stands where it stood, though rows before it may have come and gone: before the commit at `from`,
  /// after it at `at`.
  case updated(ObjectID, from: ResultsPosition, at: ResultsPosition, properties: Set<PropertyNumber>?)

  /// The object.
  public var id: ObjectID {
    switch self {
    case .removed(let id, _), .inserted(let id, _), .moved(let id, _, _, _), .updated(let id, _, _, _): id
    }
  }
}

/// All that one commit did to a result; or, for who reads slowly, several commits as if they had been one.
///
/// Whoever keeps rows of their own gets from before to after in this order: take out the removed rows and the sources of
/// moves by their old places, from the last to the first; take out the removed sections likewise; put in the inserted
/// sections by their new places, from the first to the last; put in the inserted rows and the targets of moves likewise.
/// Objects and sections stand in the lists in that order.
public struct ResultsDifference: Hashable, Sendable {
  /// The commit; 0 for a result that was loaded.
  public var revision: Revision = 0
  /// Who committed; empty for a result that was loaded.
  public var author = ""
  /// When; 0 for a result that was loaded.
  public var time: Timestamp = 0
  /// Removed ones from the last to the first, then inserted ones from the first to the last.
  public var sections = [ResultsSectionChange]()
  /// Removed ones from the last to the first, then inserted, moved and updated ones, each from the first to the last.
  public var objects = [ResultsObjectChange]()
  /// How many rows there were.
  public var countBefore = 0
  /// How many there are.
  public var countAfter = 0

  /// Whether nothing changed.
  public var isEmpty: Bool { sections.isEmpty && objects.isEmpty }

  /// The same for a plain list of ids: moves as a removal and an insert that know each other; updates are no part of it.
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
    // It refuses places that are named twice, which places of one list never are.
    guard let difference = CollectionDifference(changes) else { preconditionFailure("the places of \(changes) clash") }
    return difference
  }
}

/// One object that a commit touched, as a result's row before and after.
public struct ResultsTouch: Sendable {
  /// Nil when it was not in the result.
  public var before: ResultsRow?
  /// Nil when it is not in the result.
  public var after: ResultsRow?
  /// The object itself changed, and not only what gives it its place.
  public var isChanged: Bool
  /// Which of its properties; nil if nobody said.
  public var properties: Set<PropertyNumber>?

  /// An object's row before and after a commit.
  public init(
    before: ResultsRow?, after: ResultsRow?, isChanged: Bool = true, properties: Set<PropertyNumber>? = nil
  ) {
    self.before = before
    self.after = after
    self.isChanged = isChanged
    self.properties = properties
  }

  /// This one, and what happened to the same object later, as one.
  func followed(by later: ResultsTouch) -> ResultsTouch {
    var both = ResultsTouch(before: before, after: later.after, isChanged: isChanged || later.isChanged)
    switch (isChanged, later.isChanged) {
    case (true, true): both.properties = properties.flatMap { mine in later.properties.map { mine.union($0) } }
    case (true, false): both.properties = properties
    case (false, _): both.properties = later.properties
    }
    return both
  }
}
