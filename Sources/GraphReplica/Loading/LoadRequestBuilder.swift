// Tests: PrefetchTests.swift, FaultTests.swift
import GraphModel
import GraphWire

/// The objects and members that a set of loads needs together, each id once.
struct LoadRequestBuilder {
  let context: ObjectContext
  let scheduler: LoadScheduler
  /// Wanted objects by the root entities of their families. Each family has one table, and one request reads it.
  private(set) var objects = [EntityNumber: RequestedIDs]()
  /// The owners whose members are wanted, by to-many.
  private(set) var members = [PropertyNumber: RequestedIDs]()

  init(context: ObjectContext, scheduler: LoadScheduler) { (self.context, self.scheduler) = (context, scheduler) }

  mutating func add(_ load: ObjectLoad) {
    guard load.faults.isEmpty else {
      for id in load.faults {
        guard let state = context.state(id) else { continue }
        if load.readsAgain { add(id, load) } else if state.isFault { request(id, load) }
      }
      return
    }
    for (tree, objects) in load.level {
      for branch in tree.branches {
        for object in objects where !object.isDeleted {
          guard let property = object.entity.property(branch.property) else { continue }
          add(property, of: object, load)
        }
      }
    }
  }

  private mutating func add(_ property: Property, of object: ObjectState, _ load: ObjectLoad) {
    guard let relationship = property.relationship else {
      return assertionFailure("a load follows relationships: \(property.name)")
    }
    if relationship.storage == .inverse {
      // The server knows no members of an object that is not committed.
      if object.id.isTemporary { return }
      if !load.reloadsHeld, context.isLoaded(property, of: object) { return hold(property, of: object, load) }
      members[property.number, default: RequestedIDs()].add(object.id, load)
      return
    }
    for id in object.value(property).objectIDs where !id.isTemporary {
      if let state = context.state(id), !state.isFault,
        !load.reloadsHeld || load.companions.holds(id) || (state.isDeleted && !context.mayBeRestored(state))
          || context.isFollowed(id)
      {
        load.companions.hold(state)
      } else {
        request(id, load)
      }
    }
  }

  /// Keeps members that another load has read.
  private func hold(_ property: Property, of object: ObjectState, _ load: ObjectLoad) {
    for id in context.related(to: object, through: property) {
      if let state = context.state(id) { load.companions.hold(state) }
    }
    object.loadedMembers.modify(property.number) { $0.add(load.companions) }
  }

  private mutating func request(_ id: ObjectID, _ load: ObjectLoad) {
    if !scheduler.join(load, toRequestOf: id) { add(id, load) }
  }

  /// Adds an object, also one that an earlier request names: with other rights, that one is refused.
  private mutating func add(_ id: ObjectID, _ load: ObjectLoad) {
    if let entity = context.model.entity(id.entity) {
      objects[entity.root, default: RequestedIDs()].add(id, load)
    }
  }

  /// Fills up requests with other faults that the program holds. A program that accesses one fault will access the
  /// next.
  mutating func addOthers(for ready: [ObjectLoad]) {
    for root in objects.keys.sorted() {
      guard let wanted = objects[root],
        let load = ready.first(where: { load in load.bringsOthers && load.faults.contains(where: wanted.contains) })
      else { continue }
      var room = (LoadScheduler.batchSize - wanted.ids.count % LoadScheduler.batchSize) % LoadScheduler.batchSize
      for state in context.heldStates where room > 0 {
        guard state.isFault, state.entity.root == root, state.instance != nil, !wanted.contains(state.id),
          !scheduler.hasRequested(state.id)
        else { continue }
        objects.modify(root) { $0.add(state.id, load) }
        room -= 1
      }
    }
  }
}
