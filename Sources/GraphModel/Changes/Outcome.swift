/// The outcome of a transaction.
public enum Outcome: Hashable, Sendable {
  /// The transaction has a revision and is on disk.
  case committed(CommitResult)
  /// The transaction was refused; nothing was written.
  case refused(Refusal)
}

/// An accepted transaction.
public struct CommitResult: Hashable, Sendable {
  /// A temporary id and the permanent id of its object.
  public struct IDAssignment: Hashable, Sendable {
    /// The id in the transaction.
    public var temporary: ObjectID
    /// A newly allocated id, or the id of the existing object with the insert's unique key.
    public var permanent: ObjectID

    /// Creates a pair of ids for one object.
    public init(temporary: ObjectID, permanent: ObjectID) {
      self.temporary = temporary
      self.permanent = permanent
    }
  }

  /// The revision that the commit created.
  public var revision: Revision
  /// The commit's fingerprint; with store and revision it makes a token.
  public var fingerprint: UInt64
  /// One entry for each insert.
  public var identities: [IDAssignment]
  /// Conflicts that the merge policy resolved.
  public var conflicts: [Conflict]

  /// Creates the reply to the author of an accepted transaction.
  public init(revision: Revision, fingerprint: UInt64, identities: [IDAssignment], conflicts: [Conflict]) {
    self.revision = revision
    self.fingerprint = fingerprint
    self.identities = identities
    self.conflicts = conflicts
  }
}

/// A conflict between two clients' changes.
public struct Conflict: Hashable, Sendable {
  /// The kind of conflict.
  public enum Kind: UInt8, Sendable {
    /// The same property was changed after the base revision.
    case changed
    /// The object was deleted after the base revision.
    case deleted
    /// Another object has the unique key.
    case unique
  }

  /// The kind of conflict.
  public var kind: Kind
  /// The object's id; permanent where the store has the object.
  public var id: ObjectID
  /// The property; 0 if the conflict is about the object as a whole.
  public var property: PropertyNumber
  /// The transaction's value. For a splice, this is the complete text that it would have produced; under `overwrite`,
  /// also a value that is set back. Null for a delete, for members that a list stores, and for an object that leaves
  /// a to-one. For an object that joins a to-one by an edit of the list, the list's owner.
  public var mine: Value
  /// The store's value.
  public var theirs: Value
  /// The author of the commit that last set the property or deleted the object. Empty if history no longer has it.
  /// For a collateral conflict under `rollback`, the author of the change that decided the object.
  public var author: String
  /// The revision of that commit; 0 if it is unknown.
  public var revision: Revision
  /// Whether the transaction's value prevailed.
  public var mineWon: Bool
  /// Whether only one side changed the property, while another conflict of its object decided it. This happens under
  /// `overwrite` and `rollback`.
  public var isCollateral: Bool
  /// Another object, whose change is that of the author; nil if the change is one of the conflict's own object. A
  /// principal who can't see it does not learn of the change. Not part of the encoding, nor of comparisons.
  package var cause: ObjectID?

  /// Creates a conflict over one property, or over an object as a whole.
  public init(
    kind: Kind, id: ObjectID, property: PropertyNumber = 0, mine: Value = .null, theirs: Value = .null,
    author: String = "", revision: Revision = 0, mineWon: Bool = false, isCollateral: Bool = false
  ) {
    self.kind = kind
    self.id = id
    self.property = property
    self.mine = mine
    self.theirs = theirs
    self.author = author
    self.revision = revision
    self.mineWon = mineWon
    self.isCollateral = isCollateral
  }

  /// The conflict without values, author and revision, for a principal who may not see them.
  package var withoutContents: Conflict {
    Conflict(kind: kind, id: id, property: property, mineWon: mineWon, isCollateral: isCollateral)
  }

  public static func == (left: Conflict, right: Conflict) -> Bool {
    left.kind == right.kind && left.id == right.id && left.property == right.property && left.mine == right.mine
      && left.theirs == right.theirs && UTF8Comparison.equal(left.author, right.author)
      && left.revision == right.revision
      && left.mineWon == right.mineWon && left.isCollateral == right.isCollateral
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(property)
    hasher.combine(revision)
  }
}

/// A broken rule of the model.
public struct Violation: Hashable, Sendable {
  /// The object; a temporary id if the transaction was to insert it.
  public var id: ObjectID
  /// The property; 0 if the rule is about the object as a whole.
  public var property: PropertyNumber
  /// The name of a `CommonRule`, or of a rule of the model's own.
  public var rule: String
  /// The value that breaks the rule; for a denied delete, the objects in the way.
  public var value: Value
  /// For a unique key over several properties, all but the first; the key as a whole is not unique.
  public var others: [KeyPart]
  /// A message for a person, without contents.
  public var message: String

  /// The rules that every model has. No rule of a model may have one of these names, in any case.
  public enum CommonRule: String, Hashable, Sendable, CaseIterable {
    /// A value is required.
    case required
    /// The value has the property's type.
    case type
    /// The value is not less than the minimum, or not greater than the maximum.
    case minimum, maximum
    /// A text or data is not shorter than the minimum length, or not longer than the maximum.
    case minimumLength, maximumLength
    /// A text matches the model's regular expression.
    case pattern
    /// Clients don't set attributes that the server assigns.
    case assigned
    /// The referenced object exists and has the right entity.
    case destination
    /// A to-many has at least the minimum and at most the maximum number of members.
    case count
    /// No two objects have the same key.
    case unique
    /// An object can't be deleted while a relationship with the deny rule is not empty.
    case deny
    /// No object refers to a deleted object.
    case dangling
    /// The changed or deleted object exists or existed.
    case missing

    /// Whether the rule depends on other objects. All other rules depend on the object's own values only.
    public var isAboutOthers: Bool {
      switch self {
      case .destination, .count, .unique, .deny, .dangling, .missing: true
      case .required, .type, .minimum, .maximum, .minimumLength, .maximumLength, .pattern, .assigned: false
      }
    }
  }

  /// The common rule; nil if the broken rule is the model's own.
  public var commonRule: CommonRule? { CommonRule(rawValue: rule) }

  /// A property of a unique key, with the value that the other object has, too.
  public struct KeyPart: Hashable, Sendable {
    /// The property.
    public var property: PropertyNumber
    /// Its value.
    public var value: Value

    /// A property and its value.
    public init(_ property: PropertyNumber, _ value: Value) {
      self.property = property
      self.value = value
    }
  }

  /// Creates a violation; without a property it is about the object as a whole.
  public init(
    id: ObjectID, property: PropertyNumber = 0, rule: String, value: Value = .null, others: [KeyPart] = [],
    message: String
  ) {
    self.id = id
    self.others = others
    self.property = property
    self.rule = rule
    self.value = value
    self.message = message
  }
}

/// The reason why a request was refused. Nothing was written, unless `isOutcomeUnknown`.
public struct Refusal: Error, Hashable, Sendable {
  /// The code, for programs. The raw values are part of the wire protocol and of `--json`, and never change.
  public enum Code: String, Sendable, CaseIterable {
    /// Another client changed the same property or deleted the object, and the policy is `error`.
    case conflict
    /// Values break the model's rules; all of them are listed.
    case invalid
    /// A delete rule denies the delete; the objects in the way are listed.
    case denied
    /// Another object has the same unique key.
    case unique
    /// There is no object or commit with that id, number or name.
    case notFound
    /// The request is invalid: an unknown property, a predicate with a syntax error.
    case malformed
    /// The request exceeds a limit of the server.
    case limit
    /// The request needs history that was pruned; the message says how far back history goes.
    case pruned
    /// The store accepts no commits at the moment.
    case unavailable
    /// Server and client have different models or protocols, or the client lacks the permission.
    case notAllowed
    /// The caller cancelled the request before it was answered.
    case cancelled
  }

  /// The code, for programs.
  public var code: Code
  /// A message for a person: what happened, where, and what to do. It has no contents.
  public var message: String
  /// For `conflict`, all conflicts.
  public var conflicts: [Conflict]
  /// For `invalid`, `denied`, `unique` and a transaction's `notFound`, all violations.
  public var violations: [Violation]
  /// For `unavailable`, whether the change may or may not have been committed. It must not be repeated as a new
  /// transaction.
  public var isOutcomeUnknown: Bool
  /// The message for a principal with rights, if `message` may have paths of the machine, which are for its owner. Not
  /// part of the encoding, nor of comparisons.
  package var messageWithoutPaths: String?

  /// Creates a refusal; each list belongs to the codes named at its property.
  public init(
    _ code: Code, _ message: String, conflicts: [Conflict] = [], violations: [Violation] = [],
    isOutcomeUnknown: Bool = false
  ) {
    self.code = code
    self.message = message
    self.conflicts = conflicts
    self.violations = violations
    self.isOutcomeUnknown = isOutcomeUnknown
  }

  /// The refusal for a principal with rights.
  package var withoutPaths: Refusal {
    guard let messageWithoutPaths else { return self }
    var refusal = self
    refusal.message = messageWithoutPaths
    return refusal
  }

  public static func == (left: Refusal, right: Refusal) -> Bool {
    left.code == right.code && left.message == right.message && left.conflicts == right.conflicts
      && left.violations == right.violations && left.isOutcomeUnknown == right.isOutcomeUnknown
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message)
  }
}

extension Refusal: CustomStringConvertible {
  public var description: String { "\(code.rawValue): \(message)" }
}
