import GraphModel

/// A request to history other than the log.
public enum ChangesRequest: Hashable, Sendable {
  /// Commits after a token; answered by one message, `followed`.
  case follow(FollowRequest)
  /// The differences of two states; answered by chunks, `differences`.
  case differences(DifferenceRequest)
}

extension ToServer.Body {
  /// The newest commits after `after` and up to `through`; 0 is the head.
  public static func log(after: Revision, limit: UInt64, through: Revision) -> Self {
    .log(LogRequest(after: after, limit: limit, through: through))
  }
}

/// A commit in the log.
public struct CommitEntry: Hashable, Sendable {
  /// The revision of the state after the commit.
  public var revision: Revision
  /// The commit's time, by the server's clock.
  public var time: Timestamp
  /// The commit's author.
  public var author: String
  /// The idempotency key of the commit; its replica distinguishes clients of one author.
  public var transaction: TransactionID
  /// The revision that this commit undoes: for an undo the newest of its step, for a redo the undo.
  public var undoes: Revision?
  /// For a redo: the newest commit of the step that it redoes.
  public var redoes: Revision?
  /// The undo group that the client named, or the group of the step that this commit undoes or redoes.
  public var undo: UndoGroup?
  /// All changes, with complete objects unless the commit is too large for a frame: then ids only.
  public var changes: [Delta.Change]
  /// The commit's fingerprint; with store and revision it forms a token.
  public var fingerprint: UInt64
  /// The number of changes that are not listed, because a batch made them.
  public var unlisted: UInt64
  /// The number of further changes that match, beyond the number requested.
  public var more: UInt64

  /// A complete commit of history.
  public init(_ record: CommitRecord) {
    revision = record.revision
    time = record.time
    author = record.author
    transaction = record.transaction
    undoes = record.undoes
    redoes = record.redoes
    undo = record.undo
    changes = record.changes.map { Delta.Change($0) }
    fingerprint = record.fingerprint
    unlisted = 0
    if let summary = record.summary { unlisted = UInt64(summary.count) }
    more = UInt64(record.more)
  }

  init() {
    (revision, time, author, undoes, changes, fingerprint, unlisted, more) = (0, 0, "", nil, [], 0, 0, 0)
    transaction = TransactionID(replica: .zero, sequence: 0)
  }
}
