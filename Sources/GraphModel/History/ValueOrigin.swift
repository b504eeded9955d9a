/// The origin of a property's value: author, time, transaction, and the values that it prevailed over.
public struct ValueOrigin: Hashable, Sendable {
  /// The kind of change that set the value.
  public enum Kind: UInt8, Sendable {
    /// At the object's insert: explicitly, or as the default.
    case inserted
    /// By a later change of the object, or by a migration.
    case updated
    /// By a revival of the deleted object with a value other than its last one.
    case revived
  }

  /// A value that lost a conflict.
  public struct OverwrittenValue: Hashable, Sendable {
    /// The value.
    public var value: Value
    /// The commit that set or requested the value; the property itself does not show a requested one.
    public var revision: Revision
    /// The time of that commit; 0 if it was pruned.
    public var time: Timestamp
    /// Whether the commit was pruned, so that its time is unknown.
    public var isPruned: Bool { time == 0 }
    /// The author of that commit.
    public var author: String

    /// Creates a value that lost a conflict.
    public init(value: Value, revision: Revision, time: Timestamp, author: String) {
      self.value = value
      self.revision = revision
      self.time = time
      self.author = author
    }
  }

  /// The kind of change that set the value.
  public var kind: Kind
  /// The current value; for a deleted object, its last value.
  public var value: Value
  /// The previous value; null after an insert, and if it is unknown.
  public var replaced: Value
  /// Whether the previous value is known. It is not if it is too large to report, or if a migration made the current
  /// value, as no history has the one before.
  public var isReplacedKnown = true
  /// The commit that set the value.
  public var revision: Revision
  /// The time of that commit.
  public var time: Timestamp
  /// The author of that commit.
  public var author: String
  /// The idempotency key of its transaction.
  public var transaction: TransactionID
  /// The undo group of that commit.
  public var undo: UndoGroup?
  /// For an undo or a redo, as in `CommitRecord`.
  public var undoes: Revision?
  /// For a redo, as in `CommitRecord`.
  public var redoes: Revision?
  /// The revision of the object's delete; nil if the object exists.
  public var deletion: Revision?
  /// The values that lost to it, oldest first.
  public var overwrittenValues: [OverwrittenValue]

  /// The most losing values reported; the newest ones are.
  public static let maximumOverwrittenValues = 100

  /// Creates the origin of a value.
  public init(
    kind: Kind, value: Value = .null, replaced: Value = .null, revision: Revision = 0, time: Timestamp = 0,
    author: String = "", transaction: TransactionID = TransactionID(replica: .zero, sequence: 0),
    undo: UndoGroup? = nil, undoes: Revision? = nil, redoes: Revision? = nil, deletion: Revision? = nil,
    overwrittenValues: [OverwrittenValue] = []
  ) {
    self.kind = kind
    self.value = value
    self.replaced = replaced
    self.revision = revision
    self.time = time
    self.author = author
    self.transaction = transaction
    self.undo = undo
    self.undoes = undoes
    self.redoes = redoes
    self.deletion = deletion
    self.overwrittenValues = overwrittenValues
  }
}
