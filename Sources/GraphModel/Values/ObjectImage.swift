/// An object at a revision: the values of its stored properties, in slot order.
///
/// A to-many whose inverse is a to-one has no slot: adding a note to a board of 100,000 notes does not change the
/// board's image.
public struct ObjectImage: Hashable, Sendable {
  /// The object's id, with its concrete entity.
  public var id: ObjectID
  /// The revision of the object's last change.
  public var revision: Revision
  /// The values, one for each slot of the entity.
  public var values: [Value]

  /// Creates an image with values by slot.
  public init(id: ObjectID, revision: Revision, values: [Value]) {
    self.id = id
    self.revision = revision
    self.values = values
  }

  /// The maximum size of an object's binary form in bytes, so that it always fits into a frame.
  public static let maximumSize = 15 << 20

  /// The value of a stored property; null for a property without a slot.
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
  /// Finds the slots whose values differ from another image of the same object, ascending.
  /// - Parameter changed: receives the slots; pass the same array for many objects to reuse its memory.
  func findChangedSlots(since before: ObjectImage, into changed: inout [Int]) {
    assert(id == before.id && values.count == before.values.count, "both images are of one object")
    changed.removeAll(keepingCapacity: true)
    values.withUnsafeBytes { new in
      before.values.withUnsafeBytes { old in
        for slot in 0..<min(values.count, before.values.count) {
          // Equal bits are equal values, and comparing them needs no retain.
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

extension ObjectImage? {
  /// The ids that a relationship refers to; none without an object.
  func objectIDs(of property: Property) -> [ObjectID] {
    if let self { self[property].objectIDs } else { [] }
  }
}
