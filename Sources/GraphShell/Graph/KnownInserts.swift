import GraphModel

/// Finds inserts that change nothing: their unique key exists, and the object with it has their values.
///
/// The daemon would store a commit without changes for them, because the answer to a transaction is kept with its
/// commit. A script that inserts the same lines every hour would fill the log with such commits.
@MainActor
struct KnownInserts {
  /// The number of keys that one request looks up. A predicate has limits, and the first unknown key ends the lookup.
  private static let keysInOneRequest = 200
  private let shell: CommandContext

  init(_ shell: CommandContext) { self.shell = shell }

  /// Returns the existing object of each insert; nil if one of the inserts would change something, or may.
  ///
  /// The objects are those at the time of the lookup: a later change of another client counts as made after it.
  func identities(of changes: [Change], policy: MergePolicy) async -> [CommitResult.IDAssignment]? {
    // Under `error` an existing key is refused, and `overwrite` sets the omitted properties too.
    guard policy != .error, policy != .overwrite else { return nil }
    assert(changes.allSatisfy { $0.kind == .insert }, "only inserts become existing objects")
    var identities = [CommitResult.IDAssignment]()
    for start in stride(from: 0, to: changes.count, by: Self.keysInOneRequest) {
      let part = Array(changes[start..<min(start + Self.keysInOneRequest, changes.count)])
      // The daemon decides about inserts that can't be looked up, for example because of very long keys.
      guard let found = try? await existing(part) else { return nil }
      for change in part {
        guard let id = found[change.id] else { return nil }
        identities.append(.init(temporary: change.id, permanent: id))
      }
    }
    return identities
  }

  /// The existing objects that have the keys and the values of inserts.
  private func existing(_ inserts: [Change]) async throws -> [ObjectID: ObjectID] {
    var found = [ObjectID: ObjectID]()
    for (number, inserts) in Dictionary(grouping: inserts, by: { $0.id.entity }).sorted(by: { $0.key < $1.key }) {
      guard let entity = shell.model.entity(number), let keys = keys(of: inserts, entity) else { return [:] }
      let images = try await shell.images(of: entity, where: .or(keys.map(\.predicate)))
      for (insert, key) in zip(inserts, keys) {
        let image = images.first { $0.id.entity == number && key.matches($0) }
        guard let image, insert.edits.allSatisfy({ isThere($0, in: image, of: entity) }) else { return [:] }
        found[insert.id] = image.id
      }
    }
    return found
  }

  /// The values of a unique key.
  private struct Key {
    let properties: [Property]
    let values: [Value]

    var predicate: GraphPredicate { .all(zip(properties, values).map { GraphPredicate.equal($0, $1) }) }

    func matches(_ image: ObjectImage) -> Bool { zip(properties, values).allSatisfy { image[$0] == $1 } }
  }

  /// The key of each insert; nil if one has none, or more than one: the daemon then decides which object it becomes.
  private func keys(of inserts: [Change], _ entity: Entity) -> [Key]? {
    var keys = [Key]()
    for insert in inserts {
      let complete = entity.uniquenessConstraints.compactMap { key($0, of: insert, entity) }
      guard let key = complete.first, complete.count == 1 else { return nil }
      keys.append(key)
    }
    return keys
  }

  /// The values that an insert has for a unique key; nil if it lacks one of them. A key with a null is not unique.
  private func key(_ constraint: [PropertyNumber], of insert: Change, _ entity: Entity) -> Key? {
    let properties = constraint.compactMap { entity.property($0) }
    let values = properties.compactMap { property -> Value? in
      let edit = insert.edits.last { $0.property == property.number }
      guard let edit else { return property.attribute?.defaultValue }
      guard case .set(let value) = edit.action else { return nil }
      return stored(value, of: property)
    }
    assert(properties.count == constraint.count, "the properties of a unique key are the entity's")
    guard values.count == constraint.count, !values.contains(.null) else { return nil }
    return Key(properties: properties, values: values)
  }

  /// A value as the daemon would store it; nil for one of the wrong type, and for an object that is yet to be inserted.
  private func stored(_ value: Value, of property: Property) -> Value? {
    if let attribute = property.attribute { return attribute.checked(value) }
    return value.objectID?.isTemporary == true ? nil : value
  }

  /// Whether the object has the value that an edit sets.
  private func isThere(_ edit: Edit, in image: ObjectImage, of entity: Entity) -> Bool {
    guard let property = entity.property(edit.property), case .set(let value) = edit.action else { return false }
    // An existing object keeps the values that the daemon has assigned to it.
    if property.attribute?.assignment != nil { return true }
    guard property.slot != nil else { return false }
    // Members are added to the object's present members.
    if property.relationship?.isToMany == true {
      return Set(value.objectIDs).isSubset(of: Set(image[property].objectIDs))
    }
    return stored(value, of: property) == image[property]
  }
}
