/// Why a property has the value that it has: who set it, when, in which transaction, what it replaced, and what lost to it.
public struct ValueOrigin: Hashable, Sendable {
  /// How a property comes to a value.
  public enum Kind: UInt8, Sendable {
    /// With the object: given at its insert, or its default.
    case inserted
    /// By a later change of the object, or by a migration.
    case updated
    /// The object was deleted, and came back with another value than it went with.
    case revived
  }

  /// A value that somebody else wanted.
  public struct Loser: Hashable, Sendable {
    /// The value.
    public var value: Value
    /// The commit that made or wanted it: of one that wanted it the property tells nothing.
    public var revision: Revision
    /// When that was committed; 0 where the commit was pruned.
    public var time: Timestamp
    /// Whether nobody knows any more when that was.
    public var isPruned: Bool { time == 0 }
    /// Who wanted it.
    public var author: String

    /// A value that gave way.
    public init(value: Value, revision: Revision, time: Timestamp, author: String) {
      self.value = value
      self.revision = revision
      self.time = time
      self.author = author
    }
  }

  /// How the value came there.
  public var kind: Kind
  /// What the property has; of a deleted object, what it had.
  public var value: Value
  /// What it had before; null behind an insert, and where nobody can tell.
  public var replaced: Value
  /// False where a migration made the value, of which no history has what was there before, and where that is too large.
  public var isReplacedKnown = true
  /// The commit that set it.
  public var revision: Revision
  /// When it was committed.
  public var time: Timestamp
  /// Who committed it.
  public var author: String
  /// The idempotency key that it was committed under.
  public var transaction: TransactionID
  /// The undo group of that commit.
  public var undo: UndoGroup?
  /// For an undo or a redo, as in a commit record.
  public var undoes: Revision?
  /// For a redo, as in a commit record.
  public var redoes: Revision?
  /// When the object was deleted; nil for one that is there.
  public var deletion: Revision?
  /// What lost to it, the oldest first.
  public var losers: [Loser]

  /// At most so many losers are told, the newest.
  public static let maximumLosers = 100

  /// Where a value comes from.
  public init(
    kind: Kind, value: Value = .null, replaced: Value = .null, revision: Revision = 0, time: Timestamp = 0,
    author: String = "", transaction: TransactionID = TransactionID(replica: .zero, sequence: 0),
    undo: UndoGroup? = nil, undoes: Revision? = nil, redoes: Revision? = nil, deletion: Revision? = nil,
    losers: [Loser] = []
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
    self.losers = losers
  }
}

/// `enum OriginKind { INSERTED = 0; UPDATED = 1; REVIVED = 2; }`, `message LostValue { Value value = 1;
/// int64 revision = 2; int64 time = 3; string author = 4; }`, and `message WhyReply` as it stands below.
extension ValueOrigin: BinaryForm {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(kind.rawValue))
    writer.field(2, value)
    writer.field(3, replaced)
    writer.field(4, revision)
    writer.field(5, time)
    writer.field(6, author)
    writer.field(7, transaction)
    if let undo { writer.field(8, undo) }
    writer.field(9, undoes ?? 0)
    writer.field(10, redoes ?? 0)
    writer.field(11, deletion ?? 0)
    for loser in losers { writer.field(12, loser) }
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
      case 12: losers.append(try field.form())
      case 13: isReplacedKnown = try !field.bool()
      default: break
      }
    }
  }

  private static func revision(_ value: Int64) -> Revision? { value == 0 ? nil : value }
}

extension ValueOrigin.Loser: BinaryForm {
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
