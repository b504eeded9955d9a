/// A position in the order of a fetch, directly after an object. It holds the object's sort values, so it remains
/// valid if objects are inserted or deleted, including the object itself.
///
/// The bytes are opaque to clients. They have a checksum, but no signature: a forged cursor can't reveal more than a
/// predicate.
public struct FetchCursor: Hashable, Sendable {
  /// The object's sort values, as from `SortOrder`.
  public let values: [Value]
  /// The object's id, which breaks ties.
  public let id: ObjectID
  /// A hash of the entity and the sort keys.
  let shape: UInt64

  /// The maximum size of a cursor, in bytes.
  public static let maximumSize = 8 << 20

  init(values: [Value], id: ObjectID, shape: UInt64) { (self.values, self.id, self.shape) = (values, id, shape) }
}
