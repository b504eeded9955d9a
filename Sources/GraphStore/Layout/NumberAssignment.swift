// Tests: MigrationTests.swift, PastMigrationTests.swift
import GraphModel

/// The numbers of entities and properties in a store.
///
/// A model numbers its parts in the order of their names, so that equal models have equal numbers everywhere. A store
/// can't follow that: an added property would renumber others, but every row, every checksum and all history contain
/// numbers. So a number that a store has assigned stays assigned for the store's lifetime; new parts get the next
/// numbers, and numbers of removed parts are never reused. In memory everything has the numbers of the present model;
/// conversion happens only where rows and history are read and written.
///
/// A store that was never migrated has the model's own numbers, without conversion.
package final class NumberAssignment: Sendable {
  /// The numbers of a store that was created with the model.
  static func plain(_ model: Model) -> NumberAssignment {
    NumberAssignment(
      entities: model.entities.map(\.number).sorted(),
      properties: (0..<model.propertyCount).map { PropertyNumber($0 + 1) }, isPlain: true)
  }

  /// The flag in the number of a part that the present model lacks; no model assigns such numbers.
  package static let retired: UInt32 = 1 << 24

  /// Indexed by the model's number minus one; 0 for a transient property.
  private let entities: [EntityNumber]
  private let properties: [PropertyNumber]
  private let presentEntities: [EntityNumber: EntityNumber]
  private let presentProperties: [PropertyNumber: PropertyNumber]
  /// Whether entity numbers need no conversion, so that images stay as they are.
  let keepsEntities: Bool
  /// Whether nothing needs conversion.
  let isPlain: Bool

  /// - Parameter isPlain: whether the store has had no other model.
  package init(entities: [EntityNumber], properties: [PropertyNumber], isPlain: Bool = false) {
    assert(!isPlain || entities.enumerated().allSatisfy { $0 + 1 == Int($1) }, "a plain store has the model's numbers")
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

  // MARK: - Single numbers

  package func stored(entity: EntityNumber) -> EntityNumber {
    if keepsEntities { return entity & ~Self.retired }
    return entity >= 1 && entity <= entities.count ? entities[Int(entity) - 1] : entity & ~Self.retired
  }

  package func present(entity: EntityNumber) -> EntityNumber {
    if keepsEntities { return entity <= entities.count ? entity : Self.retired | entity }
    return presentEntities[entity] ?? Self.retired | entity
  }

  package func stored(property: PropertyNumber) -> PropertyNumber {
    if isPlain { return property & ~Self.retired }
    return property >= 1 && property <= properties.count ? properties[Int(property) - 1] : property & ~Self.retired
  }

  package func present(property: PropertyNumber) -> PropertyNumber {
    if isPlain { return property }
    return presentProperties[property] ?? Self.retired | property
  }

  /// The entity of a row; a tombstone's may have been removed.
  package func entity(_ row: Row, _ column: Int32) -> EntityNumber {
    present(entity: EntityNumber(truncatingIfNeeded: row.integer(column)))
  }

  /// The stored numbers of a family, for `_entity IN (…)`.
  package func family(of entity: Entity) -> String {
    entity.family.map { String(stored(entity: $0)) }.joined(separator: ", ")
  }

  // MARK: - Ids and values with ids

  package func stored(_ id: ObjectID) -> ObjectID { ObjectID(key: id.key, entity: stored(entity: id.entity)) }

  package func present(_ id: ObjectID) -> ObjectID { ObjectID(key: id.key, entity: present(entity: id.entity)) }

  package func stored(_ value: Value) -> Value {
    if keepsEntities { return value }
    switch value {
    case .object(let id): return .object(stored(id))
    case .objects(let ids): return .objects(ids.map { stored($0) })
    default: return value
    }
  }

  package func present(_ value: Value) -> Value {
    if keepsEntities { return value }
    switch value {
    case .object(let id): return .object(present(id))
    case .objects(let ids): return .objects(ids.map { present($0) })
    default: return value
    }
  }

  /// The image in the form that checksums cover.
  package func stored(_ image: ObjectImage) -> ObjectImage {
    if keepsEntities { return image }
    return ObjectImage(id: stored(image.id), revision: image.revision, values: image.values.map { stored($0) })
  }

  func present(_ image: ObjectImage) -> ObjectImage {
    if keepsEntities { return image }
    return ObjectImage(id: present(image.id), revision: image.revision, values: image.values.map { present($0) })
  }

  package func stored(_ answer: CommitResult) -> CommitResult {
    if isPlain { return answer }
    return exchanged(answer, { self.stored($0) }, { self.stored(property: $0) }, { self.stored($0) })
  }

  package func present(_ answer: CommitResult) -> CommitResult {
    if isPlain { return answer }
    return exchanged(answer, { self.present($0) }, { self.present(property: $0) }, { self.present($0) })
  }

  private func exchanged(
    _ answer: CommitResult, _ id: (ObjectID) -> ObjectID, _ property: (PropertyNumber) -> PropertyNumber,
    _ value: (Value) -> Value
  ) -> CommitResult {
    var answer = answer
    answer.identities = answer.identities.map {
      .init(temporary: id($0.temporary), permanent: id($0.permanent))
    }
    answer.conflicts = answer.conflicts.map { conflict in
      var conflict = conflict
      conflict.id = id(conflict.id)
      // 0 means the complete object.
      if conflict.property != 0 { conflict.property = property(conflict.property) }
      (conflict.mine, conflict.theirs) = (value(conflict.mine), value(conflict.theirs))
      return conflict
    }
    return answer
  }
}
