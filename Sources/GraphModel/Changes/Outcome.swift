/// What became of a transaction.
public enum Outcome: Hashable, Sendable {
  case committed(Committed)
  case refused(Refusal)
}

/// An accepted transaction.
public struct Committed: Hashable, Sendable {
  /// A temporary id and the object that it stands for now.
  public struct Identity: Hashable, Sendable {
    public var temporary: ObjectID
    public var permanent: ObjectID

    public init(temporary: ObjectID, permanent: ObjectID) {
      self.temporary = temporary
      self.permanent = permanent
    }
  }

  public var revision: Revision
  public var fingerprint: UInt64
  public var identities: [Identity]
  /// Conflicts that the merge policy resolved.
  public var conflicts: [Conflict]

  public init(revision: Revision, fingerprint: UInt64, identities: [Identity], conflicts: [Conflict]) {
    self.revision = revision
    self.fingerprint = fingerprint
    self.identities = identities
    self.conflicts = conflicts
  }
}

/// Two clients changed the same thing.
public struct Conflict: Hashable, Sendable {
  public enum Kind: UInt8, Sendable {
    /// The same property was changed since the base revision.
    case changed
    /// The object was deleted since.
    case deleted
    /// Another object has the unique key.
    case unique
  }

  public var kind: Kind
  public var id: ObjectID
  /// 0 when it is about the object as a whole.
  public var property: PropertyNumber
  public var mine: Value
  public var theirs: Value
  /// Who made the change that is in the store; empty when history no longer knows.
  public var author: String
  public var revision: Revision
  /// Whether the transaction's side prevailed.
  public var mineWon: Bool

  public init(
    kind: Kind, id: ObjectID, property: PropertyNumber = 0, mine: Value = .null, theirs: Value = .null,
    author: String = "", revision: Revision = 0, mineWon: Bool = false
  ) {
    self.kind = kind
    self.id = id
    self.property = property
    self.mine = mine
    self.theirs = theirs
    self.author = author
    self.revision = revision
    self.mineWon = mineWon
  }
}

/// A rule that an object would break.
public struct Violation: Hashable, Sendable {
  public var id: ObjectID
  /// 0 when it is about the object as a whole.
  public var property: PropertyNumber
  /// `required`, `type`, `minimum`, `maximum`, `minimumLength`, `maximumLength`, `count`, `unique`, `destination`,
  /// `assigned`, `deny`, `dangling`, …
  public var rule: String
  public var value: Value
  /// A sentence for a person, without contents.
  public var message: String

  public init(id: ObjectID, property: PropertyNumber = 0, rule: String, value: Value = .null, message: String) {
    self.id = id
    self.property = property
    self.rule = rule
    self.value = value
    self.message = message
  }
}

/// Why a request was not carried out. Nothing was written.
public struct Refusal: Error, Hashable, Sendable {
  public enum Code: String, Sendable, CaseIterable {
    /// The same property was changed by someone else, or the object is gone, and the policy is `error`.
    case conflict
    /// Values break the model's rules; all of them are listed.
    case invalid
    /// A delete rule forbids it; the objects in the way are listed.
    case denied
    /// Another object has the same unique key.
    case unique
    /// There is nothing with that id, number or name.
    case notFound
    /// The request makes no sense: an unknown property, a predicate that can't be read.
    case malformed
    /// A limit of the server.
    case limit
    /// The store can't take commits now.
    case unavailable
    /// Server and client have different models or protocols, or the client may not do this.
    case notAllowed
  }

  public var code: Code
  /// A sentence for a person: what, where, what to do. It holds no contents.
  public var message: String
  public var conflicts: [Conflict]
  public var violations: [Violation]

  public init(_ code: Code, _ message: String, conflicts: [Conflict] = [], violations: [Violation] = []) {
    self.code = code
    self.message = message
    self.conflicts = conflicts
    self.violations = violations
  }
}

extension Refusal: CustomStringConvertible {
  public var description: String { "\(code.rawValue): \(message)" }
}
