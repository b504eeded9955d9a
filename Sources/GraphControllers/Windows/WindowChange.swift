import GraphModel
import GraphReplica

/// What brought an arrangement about: a commit, or the client's own doing, such as another filter.
public struct ArrangementCause: Hashable, Sendable {
  /// The commit; 0 when it was none.
  public var revision: Revision
  /// Who committed; empty when it was no commit.
  public var author: String
  /// The objects that are gone altogether; those that are not arranged any more and not among them left the filter.
  public var deleted: Set<ObjectID>
  /// Whether this client's user committed it: then what is new in it may be the echo of the client's own insert.
  public var isOwn: Bool

  /// No commit: another filter, another order, an object that was made here.
  public static let here = ArrangementCause(revision: 0, author: "", deleted: [], isOwn: false)

  /// A commit, and what it deleted.
  public init(revision: Revision, author: String, deleted: Set<ObjectID>, isOwn: Bool) {
    self.revision = revision
    self.author = author
    self.deleted = deleted
    self.isOwn = isOwn
  }

  /// What a context has told of a commit.
  /// - Parameter user: the name that this client commits under.
  public init(_ change: ObjectsDidChange, user: String) {
    self.init(
      revision: change.revision, author: change.author, deleted: Set(change.deleted),
      isOwn: !change.author.isEmpty && Bytes.equal(change.author, user))
  }
}

/// What a window set did, in this order; a face follows it one by one.
public enum WindowChange<Controller: WindowControlling> {
  /// The controller is new; its window comes on the screen.
  case opened(Controller, ObjectID)
  /// The window leaves the screen. Nothing happened to the object by it.
  case closed(Controller, ObjectID)
  /// Somebody edits in the window and its object is not there any more: the window stays, says so and offers the text,
  /// until `resolveLoss` or until the object comes back.
  case lost(Controller, WindowLoss)
  /// The object of a window that was lost is there again.
  case returned(Controller, ObjectID)
  /// The temporary id became the permanent one; the controller has been told.
  case identified(Controller, ObjectID, was: ObjectID)
}

/// What became of an object while somebody edited it here.
public struct WindowLoss: Hashable, Sendable {
  /// How it went.
  public enum Kind: Hashable, Sendable {
    /// It is gone, for everybody.
    case deleted
    /// It is there, but not in what this client has arranged.
    case leftFilter
  }

  /// The object.
  public var id: ObjectID
  /// How it went.
  public var kind: Kind
  /// Who did it; nil when it was this client's own doing, or nobody's that is known.
  public var author: String?
  /// The commit that did it; 0 when none did.
  public var revision: Revision
  /// What stood in the editor, to be kept elsewhere.
  public var text: String

  /// For a person, without the text: "Ben deleted it while it was edited here".
  public var sentence: String {
    switch (kind, author) {
    case (.deleted, let author?): "\(author) deleted it while it was edited here"
    // No commit did it: the server was put back to a state without it.
    case (.deleted, nil) where revision == 0: "the server does not have it any more"
    case (.deleted, nil): "it was deleted while it was edited here"
    case (.leftFilter, let author?): "\(author) changed it: it is not shown here any more"
    case (.leftFilter, nil): "it is not shown here any more"
    }
  }
}
