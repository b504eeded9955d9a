// Tests: FaultTests.swift
import GraphModel

/// Objects that arrived together, in one fetch or load. A load for one of them covers all of them, since a program
/// that reads one row of a list will read the next.
package final class FetchBatch {
  private var members = [ObjectID]()
  /// The index of each member.
  private var places = [ObjectID: Int]()

  /// The objects were read at this revision or a later one.
  let revision: Revision

  /// An empty batch; `ObjectContext.register` adds objects.
  package init(readAt revision: Revision = 0) { self.revision = revision }

  func add(_ id: ObjectID) {
    if places.updateValue(members.count, forKey: id) == nil { members.append(id) }
  }

  /// All members, beginning at one of them and wrapping around.
  func members(from id: ObjectID) -> some Sequence<ObjectID> {
    assert(places[id] != nil, "an object is a member of its batch")
    let start = places[id, default: 0]
    return [members[start...], members[..<start]].joined()
  }
}

/// Keeps objects that were loaded for others, as long as one of those others is held.
final class RetainedObjects {
  private(set) var states = [ObjectID: ObjectState]()

  func hold(_ state: ObjectState) { states[state.id] = state }

  func holds(_ id: ObjectID) -> Bool { states[id] != nil }
}

/// A to-many whose members were all loaded. They are held as long as one of the holders exists.
struct LoadedMembers {
  private struct Holder {
    weak var companions: RetainedObjects?
  }

  private var holders: [Holder]

  init(_ holders: [RetainedObjects]) { self.holders = holders.map { Holder(companions: $0) } }

  var areHeld: Bool { holders.contains { $0.companions != nil } }

  mutating func add(_ companions: RetainedObjects) {
    holders.removeAll { $0.companions == nil || $0.companions === companions }
    holders.append(Holder(companions: companions))
  }
}
