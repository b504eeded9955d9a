// Tests: ObjectIdentityTests.swift

/// Names an object of one context for as long as an instance of it exists, across the change of its id.
///
/// A state gets its identity when an instance of it is first hashed, and the instance keeps it. The id can't be hashed:
/// the save that inserts an object replaces it. The instance alone can't be compared: a live query may deliver an
/// inserted object before its save is answered, and the answer then finds two instances of one object. They are equal
/// from then on, unless both were hashed before, because a hash must not change.
final class ObjectIdentity {}

extension ManagedObject: Hashable, Identifiable {
  private var identity: ObjectIdentity? { hashedIdentity ?? state.identity }

  /// Whether both are the same object of the same context; their values are not compared. The instances of one object
  /// in two contexts are not equal: compare their ids.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool {
    left === right || (left.state === right.state && left.identity === right.identity)
  }

  /// Hashes the object's identity, which stays the same when a save replaces the temporary id.
  public func hash(into hasher: inout Hasher) {
    let known = identity ?? ObjectIdentity()
    state.identity = state.identity ?? known
    hashedIdentity = known
    hasher.combine(ObjectIdentifier(known))
  }
}
