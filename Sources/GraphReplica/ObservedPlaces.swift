// Tests: ObservedObjectTests.swift, ObjectObservationTests.swift
import GraphModel
import Observation
import Synchronization

/// An object that a front end can observe with `withObservationTracking`: a read of a property registers the object,
/// and an edit here, a commit of another client, an undo, a refresh and a deletion signal a change of it.
///
/// `onChange` is called on the context's actor, possibly in the middle of a merge: read and edit objects after it. The
/// `id` of an object is not observed, so that a list of ids is not drawn again for each change of its objects. A
/// to-many that is stored at its other end counts as changed with each object that can be a member; any other
/// relationship with each deletion of an object that it can lead to.
///
/// An observation does not depend on the program keeping the object. The place of a released object waits until the
/// context holds the object again (`ReleasedPlaces`), so that an observer of `book.author?.name` is notified when the
/// fault that it has read is loaded. Such an observer may be notified without a change.
extension ManagedObject: Observable {}

/// The key path of a registrar that stands for one object, or for the members of one relationship.
///
/// An object gets its place at the first read, so that a change of an object that no program has read costs one nil
/// check. A read costs the registrar's own check whether an observer reads, which is 12 to 16 ns and can't be avoided:
/// the Observation module does not say whether there is an observer. A registrar of its own would cost each object that
/// is read two allocations and 300 ns; a place costs neither.
struct ObservedPlace: Sendable {
  fileprivate let registrar: ObservationRegistrar
  fileprivate let path: KeyPath<ObservedSubject, Int> & Sendable

  /// Registers a read with the observer that reads, if there is one.
  func registerRead() { registrar.access(ObservedSubject.shared, keyPath: path) }

  /// Notifies the observers that have read.
  func signalChange() { registrar.withMutation(of: ObservedSubject.shared, keyPath: path) {} }
}

/// Makes places, 256 of each registrar. None is used again, because an observer may outlive its object.
struct ObservedPlaces {
  private var registrar = ObservationRegistrar()
  private var used = 0

  mutating func next() -> ObservedPlace {
    if used == ObservedSubject.paths.count { (registrar, used) = (ObservationRegistrar(), 0) }
    defer { used += 1 }
    return ObservedPlace(registrar: registrar, path: ObservedSubject.paths[used])
  }
}

/// The root of the key paths. A registrar distinguishes changes by the path alone.
private final class ObservedSubject: Observable, Sendable {
  static let shared = ObservedSubject()
  static let paths: [KeyPath<ObservedSubject, Int> & Sendable] = (0..<256).map { \ObservedSubject[$0] }

  subscript(place: Int) -> Int { place }
}

/// The places of objects that were read and then released, by id: an observer may still wait for a change of them. A
/// place leaves when the context holds the object again. If there are too many, the older half leaves, and its
/// observers are notified, because the Observation module does not say which places have any. The newer half stays: an
/// observer that is reading right now receives no notification yet.
final class ReleasedPlaces: Sendable {
  /// The most places that wait; more only if objects are released faster than others are read.
  static let maximumCount = 4_096

  private struct Halves {
    var newer = [ObjectID: ObservedPlace]()
    var older = [ObjectID: ObservedPlace]()
  }

  /// Guarded by a mutex, because the last reference to an object may be released on any thread.
  private let places = Mutex(Halves())

  /// Keeps the place of a released object. It notifies no observer: the release may be part of any change.
  func keep(_ place: ObservedPlace, of id: ObjectID) { places.withLock { $0.newer[id] = place } }

  /// Removes the place of an object.
  /// - Returns: nil if the object was not read before it was released, and the places of other objects that can't wait
  ///   any longer.
  func take(_ id: ObjectID) -> (place: ObservedPlace?, expired: [ObservedPlace]) {
    places.withLock { places in
      let place = places.newer.removeValue(forKey: id) ?? places.older.removeValue(forKey: id)
      if places.newer.count <= Self.maximumCount / 2 { return (place, []) }
      defer { places = Halves(older: places.newer) }
      return (place, Array(places.older.values))
    }
  }
}

// MARK: - Reads

extension ObjectState {
  /// Registers a read of the object with the observer that reads, if there is one. A child's object changes with its
  /// parent's.
  func registerRead() {
    var next: ObjectState? = self
    while let state = next {
      // An object that a context of the past refused never changes.
      if state.observed == nil { state.observed = state.changeCounter?.places.next() }
      state.observed?.registerRead()
      next = state.parentState
    }
  }

  /// Registers a read of a property.
  /// - Parameter asksWhetherLoaded: the read also depends on which objects at the other end are faults.
  func registerRead(of property: Property, asksWhetherLoaded: Bool = false, in context: ObjectContext) {
    registerRead()
    if let relationship = property.relationship {
      registerRead(of: relationship, asksWhetherLoaded: asksWhetherLoaded, in: context)
    }
  }

  private func registerRead(of relationship: Relationship, asksWhetherLoaded: Bool, in context: ObjectContext) {
    let destination = ObservedDestination(entity: relationship.destination, asksWhetherLoaded: asksWhetherLoaded)
    var next: ObjectContext? = context
    while let here = next {
      switch relationship.storage {
      case .inverse: here.changeCounter.registerRead(ofMembersBy: relationship.inverse)
      case .members, .reference: here.changeCounter.registerRead(ofReferencesTo: destination, here.model)
      }
      next = here.parent
    }
  }
}

/// The destination of relationships that are read at the end that stores them. The deletion of an object changes no
/// property of the objects that refer to it, but the result of these reads.
struct ObservedDestination: Hashable {
  let entity: EntityNumber
  /// Whether the read also depends on which of the objects are faults.
  let asksWhetherLoaded: Bool
}

extension ChangeCounter {
  /// Passes the observers of an object to its new state. They have read a fault, or a child's view of its parent, whose
  /// state was released. If values arrive with the new state, they are notified.
  func passObservers(to state: ObjectState) {
    let (place, expired) = released.take(state.id)
    if let place {
      if state.stored == nil, state.observed == nil { state.observed = place } else { place.signalChange() }
    }
    for place in expired { place.signalChange() }
  }

  /// Registers a read of members, which the property of theirs stores.
  fileprivate func registerRead(ofMembersBy property: PropertyNumber) {
    if let place = observedMembers[property] { return place.registerRead() }
    let place = places.next()
    observedMembers[property] = place
    place.registerRead()
  }

  /// Registers a read of references.
  fileprivate func registerRead(ofReferencesTo destination: ObservedDestination, _ model: Model) {
    if let known = observedDestinations[destination] { return known.place.registerRead() }
    guard let family = model.entity(destination.entity)?.family else {
      return assertionFailure("a relationship leads to an entity of the model")
    }
    let place = places.next()
    observedDestinations[destination] = (family, place)
    place.registerRead()
  }

  /// Signals that an object of an entity was deleted, or came back, to all readers of references to it.
  func signalDeletion(of entity: Entity) { signalReferences(to: entity) { _ in true } }

  /// Signals that an object of an entity is no longer a fault.
  func signalLoad(of entity: Entity) { signalReferences(to: entity, where: \.asksWhetherLoaded) }

  private func signalReferences(to entity: Entity, where isAffected: (ObservedDestination) -> Bool) {
    if observedDestinations.isEmpty { return }
    for (destination, (family, place)) in observedDestinations
    where isAffected(destination) && family.contains(entity.number) {
      place.signalChange()
    }
  }

  /// Signals a change of all to-manys in which objects of an entity can be members.
  func signalMembers(of entity: Entity) {
    if observedMembers.isEmpty { return }
    for (property, place) in observedMembers where entity.property(property) != nil { place.signalChange() }
  }
}
