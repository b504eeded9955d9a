// Tests: ReplicaTests.swift, DeletedObjectTests.swift
import GraphModel

/// The identity map of a context: the states of its objects by id, held weakly.
///
/// A state is released when no instance, live query or unsaved edit holds it. Its entry stays until the next sweep, at
/// twice as many entries as the last one left.
struct ObjectRegistry {
  private struct WeakState {
    weak var state: ObjectState?
  }

  private var states = [ObjectID: WeakState]()
  private var sweepAt = Self.minimumSweep
  private static let minimumSweep = 1_024

  /// The state of an object; nil if it is not held.
  subscript(id: ObjectID) -> ObjectState? { states[id]?.state }

  /// All held states, in no order.
  var all: [ObjectState] { states.values.compactMap(\.state) }

  /// Adds a state under its id.
  mutating func add(_ state: ObjectState) {
    states[state.id] = WeakState(state: state)
    if states.count > sweepAt {
      states = states.filter { $0.value.state != nil }
      sweepAt = max(Self.minimumSweep, 2 * states.count)
    }
  }

  mutating func remove(_ id: ObjectID) { states[id] = nil }
}
