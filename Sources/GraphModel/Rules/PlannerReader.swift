/// The present graph for the transaction planner. The store reads within its write transaction, a replica from its
/// objects.
public protocol PlannerReader {
  /// The model with the rules.
  var model: Model { get }

  /// The present image of the object; nil if it does not exist.
  func image(of id: ObjectID) throws -> ObjectImage?

  /// The concrete entity of an existing object; cheaper than its image.
  func entity(of id: ObjectID) throws -> EntityNumber?

  /// The revision and author of the object's delete, if history has it.
  func deletion(of id: ObjectID) throws -> (revision: Revision, author: String)?

  /// The last state of a deleted object, with which the judge decides whether a principal may know of it. Nil if it is
  /// unknown.
  func lastImage(ofDeleted id: ObjectID) throws -> ObjectImage?

  /// The objects whose stored relationship `property` refers to `id`, in ascending order.
  func referrers(to id: ObjectID, through property: Property) throws -> [ObjectID]

  /// Members of an ordered relationship that store their positions, by place. They are the objects whose to-one
  /// `reference` is `parent`. Starts with the nearest member after, or before, `place`; from the beginning, or the
  /// end, for nil.
  func members(
    of parent: ObjectID, through reference: Property, beyond place: OrderedMemberKey?, ascending: Bool, limit: Int
  ) throws -> [OrderedMemberKey]

  /// The object's changes after `revision`, oldest first. If the oldest were pruned, the first element is marked
  /// `isPruned`.
  func history(of id: ObjectID, after revision: Revision) throws -> [PastChange]

  /// The object of the constraint's entity with these values for the properties; nil if there is none.
  func object(of entity: Entity, matching constraint: [PropertyNumber], values: [Value]) throws -> ObjectID?

  /// The next number of a sequence.
  func nextInSequence(_ property: PropertyNumber) -> Int64

  /// The shown name of an author, for messages. Conflicts keep the author as the reader gives it.
  func shownName(ofAuthor author: String) -> String
}

extension PlannerReader {
  /// The author itself, for a reader whose authors are names.
  public func shownName(ofAuthor author: String) -> String { author }

  /// Nil, for a reader without history.
  public func lastImage(ofDeleted id: ObjectID) -> ObjectImage? { nil }
}

/// A past change of an object.
public struct PastChange: Sendable {
  /// The revision of the commit.
  public var revision: Revision
  /// The author of the commit.
  public var author: String
  /// The replica that made the commit. A replica's transactions are ordered, so it never conflicts with itself.
  public var replica: UniqueID
  /// The kind of change.
  public var kind: ObjectChange.Kind
  /// For an insert, whether it revived a deleted object.
  public var isRevival: Bool
  /// The edits of an update.
  public var edits: [Edit]
  /// For each edit, the reverse edit of the changed property.
  public var reversals: [Edit]
  /// The edited positions that changed only to make space for other members.
  public var spacing: [PropertyNumber]

  /// Whether this stands for all pruned changes up to `revision`; any property may have changed in them.
  public var isPruned = false

  /// A placeholder for the pruned changes up to a revision.
  public static func pruned(upTo revision: Revision) -> PastChange {
    var change = PastChange(revision: revision, author: "", replica: .zero, kind: .updated, edits: [])
    change.isPruned = true
    return change
  }

  /// Whether the change may include the property.
  public func mayTouch(_ property: PropertyNumber) -> Bool {
    isPruned || edits.contains { $0.property == property }
  }

  /// Whether the update only made space for other members, without changing the object's relative position.
  public var isSpacing: Bool {
    !isPruned && kind == .updated && edits.allSatisfy { spacing.contains($0.property) }
  }

  /// Creates a change from history.
  public init(
    revision: Revision, author: String, replica: UniqueID, kind: ObjectChange.Kind, isRevival: Bool = false,
    edits: [Edit], reversals: [Edit] = [], spacing: [PropertyNumber] = []
  ) {
    self.revision = revision
    self.author = author
    self.replica = replica
    self.kind = kind
    self.isRevival = isRevival
    self.edits = edits
    self.reversals = reversals
    self.spacing = spacing
  }
}

extension PastChange? {
  /// The author and revision for a conflict; empty if history does not have the change.
  var origin: (author: String, revision: Revision) {
    if let self { (self.author, self.revision) } else { ("", 0) }
  }
}

/// The result of planning a transaction; nothing is written until the complete transaction is valid.
public struct TransactionPlan: Sendable {
  /// The changes, in the order in which the objects were first touched. The images have the new revision.
  public var changes: [ObjectChange]
  /// The temporary and permanent id of each insert, in order.
  public var identities: [CommitResult.IDAssignment]
  /// The conflicts that the merge policy decided.
  public var conflicts: [Conflict]
  /// The next number of each sequence that advanced.
  public var sequences: [(property: PropertyNumber, next: Int64)]
}
