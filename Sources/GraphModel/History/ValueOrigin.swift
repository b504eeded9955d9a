/// The origin of a property's value: author, time, transaction, and the values that it prevailed over.
public struct ValueOrigin: Hashable, Sendable {
  /// How the property got its value.
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

  /// How the property got its value.
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

/// `enum OriginKind { INSERTED = 0; UPDATED = 1; REVIVED = 2; }`, `message LostValue { Value value = 1; int64
/// revision = 2; int64 time = 3; string author = 4; }`, and `message WhyReply` as encoded below.
extension ValueOrigin: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(kind.rawValue))
    writer.field(2, value)
    writer.field(3, replaced)
    writer.field(4, revision)
    writer.field(5, time)
    writer.field(6, author)
    writer.field(7, transaction)
    if let undo { writer.field(8, undo) }
    writer.field(9, undoes)
    writer.field(10, redoes)
    writer.field(11, deletion)
    for loser in overwrittenValues { writer.field(12, loser) }
    writer.field(13, !isReplacedKnown)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(kind: .inserted)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: kind = try field.choice()
      case 2: value = try field.form()
      case 3: replaced = try field.form()
      case 4: revision = try field.integer()
      case 5: time = try field.integer()
      case 6: author = try field.string()
      case 7: transaction = try field.form()
      case 8: undo = try field.form()
      case 9: undoes = Self.revision(try field.integer())
      case 10: redoes = Self.revision(try field.integer())
      case 11: deletion = Self.revision(try field.integer())
      case 12: overwrittenValues.append(try field.form())
      case 13: isReplacedKnown = try !field.bool()
      default: break
      }
    }
  }

  private static func revision(_ value: Int64) -> Revision? { value == 0 ? nil : value }
}

extension ValueOrigin.OverwrittenValue: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, value)
    writer.field(2, revision)
    writer.field(3, time)
    writer.field(4, author)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(value: .null, revision: 0, time: 0, author: "")
    while let (number, field) = try reader.next() {
      switch number {
      case 1: value = try field.form()
      case 2: revision = try field.integer()
      case 3: time = try field.integer()
      case 4: author = try field.string()
      default: break
      }
    }
  }
}
