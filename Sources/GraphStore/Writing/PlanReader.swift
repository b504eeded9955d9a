// Tests: CommitTests.swift, RowsWrittenTests.swift
import GraphModel

/// The present graph for the rules engine, read inside the writer's transaction.
struct PlanReader: PlannerReader {
  let writer: StoreWriter

  var model: Model { writer.layout.model }

  func image(of id: ObjectID) throws -> ObjectImage? { try writer.objects.readImage(of: id) }

  func entity(of id: ObjectID) throws -> EntityNumber? { try writer.objects.find(id)?.id.entity }

  func referrers(to id: ObjectID, through property: Property) throws -> [ObjectID] {
    try writer.objects.readReferrers(to: id, through: property)
  }

  func members(
    of parent: ObjectID, through reference: Property, beyond place: OrderedMemberKey?, ascending: Bool, limit: Int
  ) throws -> [OrderedMemberKey] {
    try writer.objects.readMembers(
      of: parent, through: reference, beyond: place, ascending: ascending, limit: limit)
  }

  func deletion(of id: ObjectID) throws -> (revision: Revision, author: String)? {
    try writer.history.deletion(of: id)
  }

  func lastImage(ofDeleted id: ObjectID) throws -> ObjectImage? {
    guard case let (known, deletion?) = try writer.history.located(id) else { return nil }
    do {
      return try ObjectTimeTravelReader(history: writer.history).image(of: known, at: deletion - 1)
    } catch is Refusal {
      // Pruned, or unreadable in the terms of the present model.
      return nil
    }
  }

  func history(of id: ObjectID, after revision: Revision) throws -> [PastChange] {
    guard let image = try image(of: id) else { return [] }
    let past = try writer.history.past(of: image.id, newest: image.revision, after: revision)
    return if let replace = writer.hooks.past { replace(past) } else { past }
  }

  func object(of entity: Entity, matching constraint: [PropertyNumber], values: [Value]) throws -> ObjectID? {
    try writer.objects.readObject(of: entity, matching: constraint, values: values)
  }

  func shownName(ofAuthor author: String) -> String { writer.names.name(of: author) }

  func nextInSequence(_ property: PropertyNumber) -> Int64 { writer.sequences[property, default: 1] }
}
