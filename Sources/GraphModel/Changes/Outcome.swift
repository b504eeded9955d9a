/// What became of a transaction.
public enum Outcome: Hashable, Sendable {
  /// It has a revision, and is on disk.
  case committed(Committed)
  /// Nothing was written.
  case refused(Refusal)
}

/// An accepted transaction.
public struct Committed: Hashable, Sendable {
  /// A temporary id and the object that it stands for now.
  public struct Identity: Hashable, Sendable {
    /// As the transaction named it.
    public var temporary: ObjectID
    /// Newly allocated, or that of an object whose unique key the insert met.
    public var permanent: ObjectID

    /// A pair of ids for one object.
    public init(temporary: ObjectID, permanent: ObjectID) {
      self.temporary = temporary
      self.permanent = permanent
    }
  }

  /// The state that the commit led to.
  public var revision: Revision
  /// Of the commit; with store and revision it makes a token.
  public var fingerprint: UInt64
  /// One for each insert.
  public var identities: [Identity]
  /// Conflicts that the merge policy resolved.
  public var conflicts: [Conflict]

  /// What the author of an accepted transaction is told.
  public init(revision: Revision, fingerprint: UInt64, identities: [Identity], conflicts: [Conflict]) {
    self.revision = revision
    self.fingerprint = fingerprint
    self.identities = identities
    self.conflicts = conflicts
  }
}

/// Two clients changed the same thing.
public struct Conflict: Hashable, Sendable {
  /// What stands in the way.
  public enum Kind: UInt8, Sendable {
    /// The same property was changed since the base revision.
    case changed
    /// The object was deleted since.
    case deleted
    /// Another object has the unique key.
    case unique
  }

  /// What stands in the way.
  public var kind: Kind
  /// The object as the store knows it.
  public var id: ObjectID
  /// 0 when it is about the object as a whole.
  public var property: PropertyNumber
  /// What the transaction wanted: for a splice the whole text as it would have been, for an overwrite also what goes
  /// back. Null for a delete, for members that a list stores, and for who leaves a to-one; for who joins one by an edit of
  /// the list, its owner.
  public var mine: Value
  /// What is in the store.
  public var theirs: Value
  /// The author of the commit that last set the property, or that deleted the object; empty when history no longer knows.
  /// Of a collateral conflict under `rollback`, the author of the change that decided the object.
  public var author: String
  /// That commit; 0 when it is not known.
  public var revision: Revision
  /// Whether the transaction's side prevailed.
  public var mineWon: Bool
  /// Whether only one side changed the property, and `overwrite` or `rollback` decided it with its object, over another one.
  public var isCollateral: Bool

  /// A conflict over one property, or over an object as a whole.
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

  public static func == (left: Conflict, right: Conflict) -> Bool {
    left.kind == right.kind && left.id == right.id && left.property == right.property && left.mine == right.mine
      && left.theirs == right.theirs && Bytes.equal(left.author, right.author) && left.revision == right.revision
      && left.mineWon == right.mineWon && left.isCollateral == right.isCollateral
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(property)
    hasher.combine(revision)
  }
}

/// A rule that an object would break.
public struct Violation: Hashable, Sendable {
  /// A temporary id for an object that the transaction was to insert.
  public var id: ObjectID
  /// 0 when it is about the object as a whole.
  public var property: PropertyNumber
  /// The name of a rule of every model, or of one of the model's own.
  public var rule: String
  /// The value that breaks the rule; for a denied delete, the objects in the way.
  public var value: Value
  /// Of a unique key over several properties, those behind the first: the rule is broken by all of them together.
  public var others: [KeyPart]
  /// A sentence for a person, without contents.
  public var message: String

  /// The rules that every model has. None of a model's own is called like one of them, in whatever case.
  public enum CommonRule: String, Hashable, Sendable, CaseIterable {
    /// There is a value.
    case required
    /// It is of the property's type.
    case type
    /// It is not less, or not greater, than the model says.
    case minimum, maximum
    /// A text or data is not shorter, or not longer.
    case minimumLength, maximumLength
    /// A text has the form that the model asks for.
    case pattern
    /// A client sets nothing that the server sets.
    case assigned
    /// Whoever is referred to is there, and of the right entity.
    case destination
    /// A to-many has not too few members and not too many.
    case count
    /// No two objects have the same key.
    case unique
    /// A relationship keeps its object from being deleted while it leads somewhere.
    case deny
    /// Nobody refers to what is deleted.
    case dangling
    /// What is changed or deleted is there, or was.
    case missing

    /// Whether other objects, which are there or not, decide about it. Any other rule is about an object's own values.
    public var isAboutOthers: Bool {
      switch self {
      case .destination, .count, .unique, .deny, .dangling, .missing: true
      case .required, .type, .minimum, .maximum, .minimumLength, .maximumLength, .pattern, .assigned: false
      }
    }
  }

  /// Nil where it is one of the model's own that is broken.
  public var commonRule: CommonRule? { CommonRule(rawValue: rule) }

  /// A property of a unique key, with the value that another object has, too.
  public struct KeyPart: Hashable, Sendable {
    /// Which property of the key.
    public var property: PropertyNumber
    /// Its value.
    public var value: Value

    /// A property and its value.
    public init(_ property: PropertyNumber, _ value: Value) {
      self.property = property
      self.value = value
    }
  }

  /// A broken rule; without a property it is about the object as a whole.
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

/// Why a request was not carried out. Nothing was written.
public struct Refusal: Error, Hashable, Sendable {
  /// For programs. The names stand on the wire and in `--json`: they stay.
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
    /// It would take history that was pruned: the message says how far back history goes.
    case pruned
    /// The store can't take commits now.
    case unavailable
    /// Server and client have different models or protocols, or the client may not do this.
    case notAllowed
  }

  /// What kind of refusal it is.
  public var code: Code
  /// A sentence for a person: what, where, what to do. It holds no contents.
  public var message: String
  /// For `conflict`, all of them.
  public var conflicts: [Conflict]
  /// For `invalid`, `denied`, `unique` and, of a transaction, `notFound`, all of them.
  public var violations: [Violation]

  /// A refusal for a person to read; lists belong to the codes that say so.
  public init(_ code: Code, _ message: String, conflicts: [Conflict] = [], violations: [Violation] = []) {
    self.code = code
    self.message = message
    self.conflicts = conflicts
    self.violations = violations
  }

  /// For rules that are broken; there must be one.
  public init(violations: [Violation], conflicts: [Conflict] = []) {
    // A batch stops at so many: nobody has counted the rest.
    let least = violations.count == Batch.maximumViolations ? "at least " : ""
    // Each object in the way of one delete says the same, with how many they are.
    let others = Set(violations.map { $0.commonRule == .deny ? "\($0.id) \($0.property)" : "\($0)" }).count - 1
    let more = others > 0 ? " (and \(least)\(others) more)" : ""
    let code: Code =
      if violations.allSatisfy({ $0.commonRule == .deny }) {
        .denied
      } else if violations.allSatisfy({ $0.commonRule == .unique }) {
        .unique
      } else if violations.allSatisfy({ $0.commonRule == .missing }) {
        .notFound
      } else {
        .invalid
      }
    self.init(code, (violations.first?.message ?? "") + more, conflicts: conflicts, violations: violations)
  }
}

extension Refusal: CustomStringConvertible {
  public var description: String { "\(code.rawValue): \(message)" }
}
