/// The present graph, as the rules read it. The store answers from inside its own write transaction, a replica from
/// what it holds.
public protocol GraphReader {
  /// What the rules are read from.
  var model: Model { get }

  /// The object as it is now; nil when it is not there.
  func image(of id: ObjectID) throws -> ObjectImage?

  /// The concrete entity of an object that is there. Cheaper than its image.
  func entity(of id: ObjectID) throws -> EntityNumber?

  /// Who deleted the object and when, if history knows.
  func deletion(of id: ObjectID) throws -> (revision: Revision, author: String)?

  /// The objects whose stored relationship `property` refers to `id`, in ascending order.
  func referrers(to id: ObjectID, through property: Property) throws -> [ObjectID]

  /// Members of an ordered relationship that hold their places themselves: the objects whose stored to-one `reference`
  /// is `parent`, by place. Those behind `place`, or before it, the nearest first; from the beginning, or the end, for
  /// nil.
  func members(
    of parent: ObjectID, through reference: Property, beyond place: MemberPlace?, ascending: Bool, limit: Int
  ) throws -> [MemberPlace]

  /// What happened to the object after `revision`, oldest first. Where the oldest of it was pruned, the first says so.
  func history(of id: ObjectID, after revision: Revision) throws -> [PastChange]

  /// The object of the constraint's entity whose properties have these values; nil when there is none.
  func object(of entity: Entity, matching constraint: [PropertyNumber], values: [Value]) throws -> ObjectID?

  /// The number that a sequence gives next.
  func nextInSequence(_ property: PropertyNumber) -> Int64
}

/// One change in an object's past.
public struct PastChange: Sendable {
  /// The commit that made the change.
  public var revision: Revision
  /// Who made it.
  public var author: String
  /// Who made it: a replica's own transactions come in order, so it never conflicts with itself.
  public var replica: UniqueID
  /// What became of the object.
  public var kind: ObjectChange.Kind
  /// Of an insert: whether the object was there before, was deleted and came back.
  public var isRevival: Bool
  /// For an update, what changed.
  public var edits: [Edit]
  /// For each edit the one that takes it back, from the property as the change left it.
  public var reversals: [Edit]
  /// Of the edits, places that changed only to make room for others.
  public var spacing: [PropertyNumber]

  /// Stands for all that was pruned, `revision` being the newest of it: any property may have changed, and nobody knows
  /// how.
  public var isPruned = false

  /// What is not kept any more.
  public static func pruned(upTo revision: Revision) -> PastChange {
    var change = PastChange(revision: revision, author: "", replica: .zero, kind: .updated, edits: [])
    change.isPruned = true
    return change
  }

  /// Whether it may have changed a property.
  public func mayTouch(_ property: PropertyNumber) -> Bool {
    isPruned || edits.contains { $0.property == property }
  }

  /// Whether nothing happened that anybody meant: the object stands where it stood, with more room around it.
  public var isSpacing: Bool {
    !isPruned && kind == .updated && edits.allSatisfy { spacing.contains($0.property) }
  }

  /// A change as history tells it.
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

/// What a transaction comes to: nothing is written until all of it is known to be legal.
public struct TransactionPlan: Sendable {
  /// In the order in which the objects were first touched. Revisions in the images are the new one's.
  public var changes: [ObjectChange]
  /// For each insert its temporary id and the permanent one, in the order of the inserts.
  public var identities: [Committed.Identity]
  /// Those that the merge policy decided.
  public var conflicts: [Conflict]
  /// For each sequence that moved, the number it gives next.
  public var sequences: [(property: PropertyNumber, next: Int64)]
}
