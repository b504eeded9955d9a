import GraphModel
import GraphWire

/// What a number of loads ask for at once, each id once.
struct LoadNeeds {
  let context: ObjectContext
  /// By the roots of their entities' families: one table has them, and one request brings them.
  private(set) var objects = [EntityNumber: Wanted]()
  /// By the to-many whose members are wanted, the ids of its owners.
  private(set) var members = [PropertyNumber: Wanted]()

  init(context: ObjectContext) { self.context = context }

  mutating func add(_ load: ObjectLoad) {
    guard load.faults.isEmpty else {
      for id in load.faults where context.state(id)?.isFault == true { want(id, load) }
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
    guard let relationship = property.relationship else { return }
    if relationship.storage == .inverse {
      guard !object.id.isTemporary else { return }
      if !load.isAnew, context.isLoaded(property, of: object) { return hold(property, of: object, load) }
      members[property.number, default: Wanted()].add(object.id, load)
      return
    }
    for id in object.value(property).objectIDs where !id.isTemporary {
      if let state = context.state(id), !state.isFault,
        !load.isAnew || load.companions.holds(id) || (state.isDeleted && !context.mayBeBack(state))
          || context.isFollowed(id)
      {
        load.companions.hold(state)
      } else {
        want(id, load)
      }
    }
  }

  /// They are here by another's load; this one keeps them as well.
  private func hold(_ property: Property, of object: ObjectState, _ load: ObjectLoad) {
    for id in context.related(to: object, through: property) {
      if let state = context.state(id) { load.companions.hold(state) }
    }
    object.loadedMembers[property.number]?.add(load.companions)
  }

  private mutating func want(_ id: ObjectID, _ load: ObjectLoad) {
    if let number = context.loads.asked[id] {
      // Somebody has asked already.
      load.waitsFor.insert(number)
      context.loads.requests[number]?.wanted.add(id, load)
    } else if let entity = context.model.entity(id.entity) {
      objects[entity.root, default: Wanted()].add(id, load)
    }
  }

  /// Who touches one fault will touch the next: other faults that somebody holds fill up the request.
  mutating func addOthers(for ready: [ObjectLoad]) {
    for root in objects.keys.sorted() {
      guard let wanted = objects[root],
        let load = ready.first(where: { load in load.bringsOthers && load.faults.contains(where: wanted.contains) })
      else { continue }
      var room = (ObjectLoads.batchSize - wanted.ids.count % ObjectLoads.batchSize) % ObjectLoads.batchSize
      for state in context.held where room > 0 {
        guard state.isFault, state.entity.root == root, state.face != nil, !wanted.contains(state.id),
          context.loads.asked[state.id] == nil
        else { continue }
        objects[root]?.add(state.id, load)
        room -= 1
      }
    }
  }
}

extension ObjectContext {
  /// Others have deleted it, as far as was heard; something that leads there says that they have brought it back.
  func mayBeBack(_ state: ObjectState) -> Bool { state.isGone && state.sent.isEmpty && dirty[state.id] == nil }

  /// A live query keeps it as the server has it.
  func isFollowed(_ id: ObjectID) -> Bool { results.values.contains { $0[id] != nil } }
}
