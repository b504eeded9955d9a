// Tests: MirrorOverlayTests.swift
import GraphModel

/// The graph that the user of a replica sees, for the rules engine. It records the objects that a plan has read.
final class OverlayPlanReader: PlannerReader {
  private let objects: ObjectReader
  private let history: HistoryReader
  private let tables: OverlayTables
  private let usedNumbers: Int64
  /// The keys of what was read.
  private(set) var reads = Set<[UInt8]>()

  init(_ objects: ObjectReader, _ history: HistoryReader, _ tables: OverlayTables, usedNumbers: Int64) {
    (self.objects, self.history, self.tables, self.usedNumbers) = (objects, history, tables, usedNumbers)
  }

  var model: Model { objects.model }

  private func note(_ id: ObjectID) { reads.insert(OverlayKey.object(id)) }

  func image(of id: ObjectID) throws -> ObjectImage? {
    note(id)
    return try objects.readImage(of: id)
  }

  func entity(of id: ObjectID) throws -> EntityNumber? {
    note(id)
    return try objects.find(id)?.id.entity
  }

  func referrers(to id: ObjectID, through property: Property) throws -> [ObjectID] {
    reads.insert(OverlayKey.referrers(to: id))
    let found = try objects.readReferrers(to: id, through: property)
    for other in found { note(other) }
    return found
  }

  func members(
    of parent: ObjectID, through reference: Property, beyond place: OrderedMemberKey?, ascending: Bool, limit: Int
  ) throws -> [OrderedMemberKey] {
    // Others' members at the same end change no position that is not theirs, so the plan does not depend on them.
    note(parent)
    return try objects.readMembers(of: parent, through: reference, beyond: place, ascending: ascending, limit: limit)
  }

  func deletion(of id: ObjectID) throws -> (revision: Revision, author: String)? {
    note(id)
    return try history.deletion(of: id)
  }

  /// The others' changes. The replica's own unsent edits are in order and conflict with none of its edits.
  func history(of id: ObjectID, after revision: Revision) throws -> [PastChange] {
    note(id)
    if let place = try tables.place(of: id) {
      guard let mirrored = place.mirrored else { return [] }
      return try history.past(of: id, newest: mirrored, after: revision)
    }
    guard let image = try objects.readImage(of: id) else { return [] }
    return try history.past(of: image.id, newest: image.revision, after: revision)
  }

  func object(of entity: Entity, matching constraint: [PropertyNumber], values: [Value]) throws -> ObjectID? {
    reads.insert(OverlayKey.unique(constraint, values))
    let found = try objects.readObject(of: entity, matching: constraint, values: values)
    if let found { note(found) }
    return found
  }

  func nextInSequence(_ property: PropertyNumber) -> Int64 { ProvisionalNumber.base + usedNumbers + 1 }
}
