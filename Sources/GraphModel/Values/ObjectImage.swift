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

extension ObjectImage {
  /// The slots in which another image of the same object has another value, ascending.
  /// - Parameter changed: what is to hold them; whoever asks of many objects gives the same again.
  func findChangedSlots(since before: ObjectImage, into changed: inout [Int]) {
    changed.removeAll(keepingCapacity: true)
    values.withUnsafeBytes { new in
      before.values.withUnsafeBytes { old in
        for slot in 0..<min(values.count, before.values.count) {
          // The same bits are the same value, and to see that nothing has to be retained.
          if !Self.haveSameBits(new, old, at: slot), values[slot] != before.values[slot] { changed.append(slot) }
        }
      }
    }
  }

  private static func haveSameBits(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, at slot: Int
  ) -> Bool {
    let (size, start) = (MemoryLayout<Value>.size, slot * MemoryLayout<Value>.stride)
    var offset = 0
    while offset + 8 <= size {
      let (one, other) = (
        left.loadUnaligned(fromByteOffset: start + offset, as: UInt64.self),
        right.loadUnaligned(fromByteOffset: start + offset, as: UInt64.self)
      )
      if one != other { return false }
      offset += 8
    }
    while offset < size {
      if left[start + offset] != right[start + offset] { return false }
      offset += 1
    }
    return true
  }
}
