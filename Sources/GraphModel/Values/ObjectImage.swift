/// One object as it was at a revision: the values of its stored properties, in the order of their slots.
///
/// A to-many whose inverse is a to-one has no slot: adding a note to a board of 100,000 does not touch the board.
public struct ObjectImage: Hashable, Sendable {
  /// Whose image it is, with the concrete entity.
  public var id: ObjectID
  /// The revision of the object's last change.
  public var revision: Revision
  /// One for each slot of the entity.
  public var values: [Value]

  /// An object's state, its values by slot.
  public init(id: ObjectID, revision: Revision, values: [Value]) {
    self.id = id
    self.revision = revision
    self.values = values
  }

  /// An object's binary form has at most this many bytes, so that a frame can always hold one.
  public static let maximumSize = 15 << 20

  /// The value of a stored property; null for one that has no slot here.
  public subscript(property: Property) -> Value {
    get {
      guard let slot = property.slot, slot < values.count else { return .null }
      return values[slot]
    }
    set {
      guard let slot = property.slot, slot < values.count else { return }
      values[slot] = newValue
    }
  }
}
