// Tests: MirrorOverlayTests.swift
import GraphModel

/// The graph that the user of a replica sees, for the rules engine. It records the objects that a plan has read.
final class OverlayPlanReader: PlannerReader {
  private let objects: ObjectReader
  private let history: HistoryReader
  private let tables: OverlayTables
  private let usedNumbers: Int64
  private(set) var dependencies = Set<ObjectID>()

  init(_ objects: ObjectReader, _ history: HistoryReader, _ tables: OverlayTables, usedNumbers: Int64) {
    (self.objects, self.history, self.tables, self.usedNumbers) = (objects, history, tables, usedNumbers)
  }

  var model: Model { objects.model }

  func image(of id: ObjectID) throws -> ObjectImage? {
    dependencies.insert(id)
    return try objects.readImage(of: id)
  }

  func entity(of id: ObjectID) throws -> EntityNumber? {
    dependencies.insert(id)
    return try objects.find(id)?.id.entity
  }

  func referrers(to id: ObjectID, through property: Property) throws -> [ObjectID] {
    dependencies.insert(id)
    return try objects.readReferrers(to: id, through: property)
  }

  func members(
    of parent: ObjectID, through reference: Property, beyond place: OrderedMemberKey?, ascending: Bool, limit: Int
  ) throws -> [OrderedMemberKey] {
    dependencies.insert(parent)
    return try objects.readMembers(of: parent, through: reference, beyond: place, ascending: ascending, limit: limit)
  }

  func deletion(of id: ObjectID) throws -> (revision: Revision, author: String)? {
    try history.deletion(of: id)
  }

  /// The others' changes. The replica's own unsent edits are in order and conflict with none of its edits.
  func history(of id: ObjectID, after revision: Revision) throws -> [PastChange] {
    if tables.contains(id) {
      guard let mirrored = tables.mirrored[id] else { return [] }
      return try history.past(of: id, newest: mirrored, after: revision)
    }
    guard let image = try objects.readImage(of: id) else { return [] }
    return try history.past(of: image.id, newest: image.revision, after: revision)
  }

  func object(of entity: Entity, matching constraint: [PropertyNumber], values: [Value]) throws -> ObjectID? {
    let found = try objects.readObject(of: entity, matching: constraint, values: values)
    if let found { dependencies.insert(found) }
    return found
  }

  func nextInSequence(_ property: PropertyNumber) -> Int64 { ProvisionalNumber.base + usedNumbers + 1 }
}
