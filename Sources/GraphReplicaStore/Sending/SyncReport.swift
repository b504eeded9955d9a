// Tests: SynchronizerTests.swift, SyncRunTests.swift

/// The result of a run of the synchronizer.
public struct SyncReport: Sendable, Equatable {
  /// The number of edits that the server has committed.
  public var sent = 0
  /// The number of edits that were parked.
  public var parked = 0
  /// The number of conflicts that a merge policy has resolved.
  public var conflicts = 0
  /// The number of commits that were received.
  public var received = 0
  /// Whether the copy of the server's objects was loaded as a whole.
  public var isReloaded = false
  /// Events of the run that a user should know of.
  public var notices = [Notice]()

  /// An event that has an effect on the copy or on edits that wait.
  public enum Notice: Sendable, Hashable {
    /// The server was restored from a backup. Edits of what it has lost wait in the list of conflicts.
    case restoredServer
    /// The server's history no longer reaches back to the copy, so the copy was compared with the server, object by
    /// object.
    case prunedServer
    /// The files of the replica were copied or restored. They have a new id now, and no edit was sent twice.
    case copiedReplica
    /// The copy was one of another version of the model. Edits were carried over by name.
    case otherModel

    /// The event as a sentence.
    public var sentence: String {
      switch self {
      case .restoredServer:
        "the server was restored from a backup: the copy and the edits were compared with what it has"
      case .prunedServer:
        "the server's history no longer reaches back to this copy: the copy was compared object by object"
      case .copiedReplica: "the files of this replica were copied or restored: they have got an id of their own"
      case .otherModel: "the server has another version of the model: your edits were carried over by name"
      }
    }
  }

  package init() {}
}
