// Tests: ChangeTrackerTests.swift
import GraphModel

/// Counts the changes of a context's objects, and passes each changed id to the context's trackers.
final class ChangeCounter {
  private(set) var number = 1
  private var trackers = [WeakTracker]()
  /// For the objects of the context that are read.
  var places = ObservedPlaces()
  /// Those of objects that were released.
  let released = ReleasedPlaces()
  /// The to-manys that were read and are stored at their other ends, by the properties that store them.
  var observedMembers = [PropertyNumber: ObservedPlace]()
  /// The destinations of the other relationships that were read, with the entities of their objects.
  var observedDestinations = [ObservedDestination: (family: [EntityNumber], place: ObservedPlace)]()

  private struct WeakTracker {
    weak var tracker: ChangeTracker?
  }

  func add(_ tracker: ChangeTracker) {
    trackers.removeAll { $0.tracker == nil }
    trackers.append(WeakTracker(tracker: tracker))
  }

  func advance(_ id: ObjectID) {
    number += 1
    for entry in trackers { entry.tracker?.add(id) }
  }
}

/// Collects the ids of objects whose values may have changed, so that a cache of values can drop them.
///
/// A change is an edit, a rollback, a commit of another client, an answer to a save, a fault that loads, or an object
/// that is removed or gets its permanent id. An object may be listed although its values are the same. Each is listed
/// once, however often it changed.
///
/// A tracker belongs to the context's actor, and is active for as long as its owner holds it.
package final class ChangeTracker {
  private var ids = Set<ObjectID>()

  /// Whether nothing has changed since the last `take`.
  package var isEmpty: Bool { ids.isEmpty }

  /// Removes and returns the ids that changed since the last call, or since the tracker was made.
  package func take() -> Set<ObjectID> {
    defer { ids = [] }
    return ids
  }

  func add(_ id: ObjectID) { ids.insert(id) }
}
