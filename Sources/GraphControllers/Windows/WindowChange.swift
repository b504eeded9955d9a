import GraphModel
import GraphReplica

/// The cause of a new arrangement: a commit, or an action of this client, such as another filter.
public struct ArrangementCause: Hashable, Sendable {
  /// The commit's revision; 0 without a commit.
  public var revision: Revision
  /// The commit's author; empty without a commit.
  public var author: String
  /// The deleted objects. Objects that are no longer arranged and not in this set left the filter.
  public var deleted: Set<ObjectID>
  /// Whether this client's user committed it. New objects may then be echoes of the client's own inserts.
  public var isOwn: Bool

  /// The cause is not a commit, but another filter, another order, or an object that was created on this client.
  public static let here = ArrangementCause(revision: 0, author: "", deleted: [], isOwn: false)

  /// Creates the cause for a commit.
  public init(revision: Revision, author: String, deleted: Set<ObjectID>, isOwn: Bool) {
    self.revision = revision
    self.author = author
    self.deleted = deleted
    self.isOwn = isOwn
  }

  /// Creates the cause for a commit that a context has reported.
  /// - Parameter user: the author name of this client's commits.
  public init(_ change: ObjectsDidChange, user: String) {
    self.init(
      revision: change.revision, author: change.author, deleted: Set(change.deleted),
      isOwn: !change.author.isEmpty && UTF8Comparison.equal(change.author, user))
  }
}

/// A change of a window set. A front end applies the changes in order.
public enum WindowChange<Controller: WindowControlling> {
  /// The controller is new; the front end shows its window.
  case opened(Controller, ObjectID)
  /// The front end removes the window. The object itself is unaffected.
  case closed(Controller, ObjectID)
  /// The object of a window with an open editor is no longer arranged. The window stays and offers its text, until
  /// `resolveRemoval` or until the object returns.
  case objectRemoved(Controller, WindowRemovalReason)
  /// The object of a lost window is arranged again.
  case objectRestored(Controller, ObjectID)
  /// The temporary id became the permanent one; the controller has been notified.
  case identified(Controller, ObjectID, was: ObjectID)
}

/// The reason why an object that is being edited on this client is no longer arranged.
public struct WindowRemovalReason: Hashable, Sendable {
  /// The kind of a loss.
  public enum Kind: Hashable, Sendable {
    /// The object was deleted.
    case deleted
    /// The object exists but is no longer in this client's arrangement.
    case leftFilter
  }

  /// The object.
  public var id: ObjectID
  /// Whether it was deleted or left the filter.
  public var kind: Kind
  /// The author of the commit; nil if this client caused the loss, or if the author is unknown.
  public var author: String?
  /// The revision of the commit; 0 without a commit.
  public var revision: Revision
  /// The text of the editor, to be kept elsewhere.
  public var text: String

  /// Text for the user, without the edited text: "Ben deleted it while it was edited here".
  public var sentence: String {
    switch (kind, author) {
    case (.deleted, let author?): "\(author) deleted it while it was edited here"
    // Revision 0: the server was restored to a state without the object.
    case (.deleted, nil) where revision == 0: "the server no longer has it"
    case (.deleted, nil): "it was deleted while it was edited here"
    case (.leftFilter, let author?): "\(author) changed it: it is no longer shown here"
    case (.leftFilter, nil): "it is no longer shown here"
    }
  }
}
