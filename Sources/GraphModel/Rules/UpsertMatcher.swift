/// A key that a uniqueness constraint allows only once.
struct UniqueKey: Hashable {
  /// The entity that declares the constraint.
  let owner: EntityNumber
  let constraint: [PropertyNumber]
  let values: [Value]
}

/// Matches inserts with objects that have the same unique keys, which the inserts become under a trump policy.
struct UpsertMatcher {
  /// Existing objects that the transaction deletes; their keys become free, so no insert becomes one of them.
  let excluded: Set<ObjectID>
  /// Existing objects that inserts became.
  private(set) var targets = Set<ObjectID>()
  /// The unique keys of the inserted objects.
  private var insertedKeys = [UniqueKey: ObjectID]()
  /// The values that the transaction's own updates set, by object; nil before it is needed.
  private var ownUpdates: [ObjectID: [PropertyNumber: Value]]?

  init(excluded: Set<ObjectID>) { self.excluded = excluded }

  /// Adds the keys of an insert that no object has yet.
  mutating func add(_ id: ObjectID, for change: Change, of entity: Entity, _ graph: DraftGraph) {
    for key in keys(of: change, entity, graph) { insertedKeys[key] = id }
  }

  /// The object that an insert becomes; nil if no object of its entity has one of its keys.
  /// - Parameter changes: all changes of the transaction.
  mutating func existingObject(
    for index: Int, in changes: [Change], of entity: Entity, _ graph: DraftGraph
  ) throws -> ObjectID? {
    for key in keys(of: changes[index], entity, graph) {
      if let id = insertedKeys[key] { return id }
      guard let owner = graph.model.entity(key.owner),
        let id = try graph.reader.object(of: owner, matching: key.constraint, values: key.values),
        !excluded.contains(id), !changesKey(id, key, changes, graph)
      else { continue }
      // The key belongs to an object of another entity, which the insert can't become.
      if id.entity == entity.number {
        targets.insert(id)
        return id
      }
    }
    return nil
  }

  /// Whether the transaction itself changes the object's key, so that the insert gets this one.
  private mutating func changesKey(
    _ id: ObjectID, _ key: UniqueKey, _ changes: [Change], _ graph: DraftGraph
  ) -> Bool {
    if ownUpdates == nil {
      var updates = [ObjectID: [PropertyNumber: Value]]()
      for change in changes where change.kind == .update {
        for edit in change.edits {
          if case .set(let value) = edit.action { updates[change.id, default: [:]][edit.property] = value }
        }
      }
      ownUpdates = updates
    }
    guard let own = ownUpdates?[id] else { return false }
    return zip(key.constraint, key.values).contains { property, value in
      guard let wanted = own[property] else { return false }
      if case .object(let target) = wanted { return graph.permanent(target).map(Value.object) != value }
      return (graph.model.property(property)?.attribute?.checked(wanted) ?? wanted) != value
    }
  }

  /// The unique keys of an insert, without keys that the server assigns or that contain null.
  private func keys(of change: Change, _ entity: Entity, _ graph: DraftGraph) -> [UniqueKey] {
    var keys = [UniqueKey]()
    for constraint in entity.uniquenessConstraints {
      // Null without a value and a default: mostly a sequence, which the server assigns.
      if let first = constraint.first, (entity.property(first)?.attribute?.defaultValue).orNull.isNull,
        !change.edits.contains(where: { $0.property == first })
      {
        continue
      }
      let values = constraint.map { number -> Value in
        for edit in change.edits.reversed() where edit.property == number {
          guard case .set(let value) = edit.action else { continue }
          if case .object(let id) = value { return graph.permanent(id).map(Value.object).orNull }
          return (entity.property(number)?.attribute?.checked(value)).orNull
        }
        return (entity.property(number)?.attribute?.defaultValue).orNull
      }
      if !values.contains(.null) {
        keys.append(
          UniqueKey(owner: graph.model.owner(of: constraint, in: entity).number, constraint: constraint, values: values)
        )
      }
    }
    return keys
  }
}
