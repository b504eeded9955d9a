import GraphModel

/// The numbers under which a store keeps entities and properties.
///
/// A model numbers its parts in the order of their names, so that equal models number alike everywhere. A store can't
/// follow that: a property that comes in the middle would renumber the others, and every row, every checksum and all of
/// history speak in numbers. So what a store has once numbered keeps its number for as long as the store lives; what comes
/// later gets the next one, and the number of what goes is never given again. In memory everything has the numbers of the
/// present model; they are exchanged where rows and history are read and written, and nowhere else.
///
/// A store that was never migrated keeps the model's own numbers, and nothing is exchanged.
final class StoredNumbers: Sendable {
  /// Those of a store that was made with the model.
  static func plain(_ model: Model) -> StoredNumbers {
    StoredNumbers(
      entities: model.entities.map(\.number).sorted(),
      properties: (0..<model.propertyCount).map { PropertyNumber($0 + 1) }, isPlain: true)
  }

  /// What the present model does not know gets a number that no model gives.
  static let retired: UInt32 = 1 << 24

  /// By the model's number, less one; 0 for a transient property.
  private let entities: [EntityNumber]
  private let properties: [PropertyNumber]
  private let presentEntities: [EntityNumber: EntityNumber]
  private let presentProperties: [PropertyNumber: PropertyNumber]
  /// Nothing has to be exchanged in an object's image.
  let keepsEntities: Bool
  /// Nothing has to be exchanged at all.
  let isPlain: Bool

  /// - Parameter isPlain: the store has had no other model.
  init(entities: [EntityNumber], properties: [PropertyNumber], isPlain: Bool = false) {
    self.entities = entities
    self.properties = properties
    keepsEntities = entities.enumerated().allSatisfy { $0 + 1 == Int($1) }
    self.isPlain = isPlain
    presentEntities = Dictionary(
      entities.enumerated().map { ($1, EntityNumber($0 + 1)) }, uniquingKeysWith: { first, _ in first })
    presentProperties = Dictionary(
      properties.enumerated().filter { $1 != 0 }.map { ($1, PropertyNumber($0 + 1)) },
      uniquingKeysWith: { first, _ in first })
  }

  // MARK: - One number

  func stored(entity: EntityNumber) -> EntityNumber {
    if keepsEntities { return entity & ~Self.retired }
    return entity >= 1 && entity <= entities.count ? entities[Int(entity) - 1] : entity & ~Self.retired
  }

  func present(entity: EntityNumber) -> EntityNumber {
    if keepsEntities { return entity <= entities.count ? entity : Self.retired | entity }
    return presentEntities[entity] ?? Self.retired | entity
  }

  func stored(property: PropertyNumber) -> PropertyNumber {
    if isPlain { return property & ~Self.retired }
    return property >= 1 && property <= properties.count ? properties[Int(property) - 1] : property & ~Self.retired
  }

  func present(property: PropertyNumber) -> PropertyNumber {
    if isPlain { return property }
    return presentProperties[property] ?? Self.retired | property
  }

  /// The entity whose number stands in a row; a tombstone's may be gone.
  func entity(_ row: Row, _ column: Int32) -> EntityNumber {
    present(entity: EntityNumber(truncatingIfNeeded: row.integer(column)))
  }

  /// For `_entity IN (…)`.
  func family(of entity: Entity) -> String {
    entity.family.map { String(stored(entity: $0)) }.joined(separator: ", ")
  }

  // MARK: - Ids, and what has ids in it

  func stored(_ id: ObjectID) -> ObjectID { ObjectID(key: id.key, entity: stored(entity: id.entity)) }

  func present(_ id: ObjectID) -> ObjectID { ObjectID(key: id.key, entity: present(entity: id.entity)) }

  func stored(_ value: Value) -> Value {
    if keepsEntities { return value }
    switch value {
    case .object(let id): return .object(stored(id))
    case .objects(let ids): return .objects(ids.map { stored($0) })
    default: return value
    }
  }

  func present(_ value: Value) -> Value {
    if keepsEntities { return value }
    switch value {
    case .object(let id): return .object(present(id))
    case .objects(let ids): return .objects(ids.map { present($0) })
    default: return value
    }
  }

  /// The form that checksums cover.
  func stored(_ image: ObjectImage) -> ObjectImage {
    if keepsEntities { return image }
    return ObjectImage(id: stored(image.id), revision: image.revision, values: image.values.map { stored($0) })
  }

  func stored(_ answer: Committed) -> Committed {
    if isPlain { return answer }
    return exchanged(answer, { self.stored($0) }, { self.stored(property: $0) }, { self.stored($0) })
  }

  func present(_ answer: Committed) -> Committed {
    if isPlain { return answer }
    return exchanged(answer, { self.present($0) }, { self.present(property: $0) }, { self.present($0) })
  }

  private func exchanged(
    _ answer: Committed, _ id: (ObjectID) -> ObjectID, _ property: (PropertyNumber) -> PropertyNumber,
    _ value: (Value) -> Value
  ) -> Committed {
    var answer = answer
    answer.identities = answer.identities.map {
      .init(temporary: id($0.temporary), permanent: id($0.permanent))
    }
    answer.conflicts = answer.conflicts.map { conflict in
      var conflict = conflict
      conflict.id = id(conflict.id)
      // 0 is the object as a whole.
      if conflict.property != 0 { conflict.property = property(conflict.property) }
      (conflict.mine, conflict.theirs) = (value(conflict.mine), value(conflict.theirs))
      return conflict
    }
    return answer
  }
}
