// Tests: BatchTests.swift, BatchHistoryTests.swift
import GraphModel

/// The present graph for the rules of one slice. Objects that the slice has already read come from memory, and
/// objects that the batch deletes are hidden.
struct BatchReader: PlannerReader {
  private let base: PlanReader
  private let known: [ObjectID: ObjectImage]
  private let deleted: DeleteSet?

  init(_ writer: StoreWriter, known: [ObjectImage] = [], deleted: DeleteSet? = nil) {
    base = PlanReader(writer: writer)
    self.known = Dictionary(known.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    self.deleted = deleted
  }

  var model: Model { base.model }

  private func isDeleted(_ id: ObjectID) throws -> Bool {
    guard let deleted, let root = model.entity(id.entity)?.root, let found = try base.writer.objects.find(id) else {
      return false
    }
    return deleted.contains(found.row, of: root)
  }

  func image(of id: ObjectID) throws -> ObjectImage? {
    if let image = known[id] { return image }
    return try isDeleted(id) ? nil : base.image(of: id)
  }

  func entity(of id: ObjectID) throws -> EntityNumber? { try isDeleted(id) ? nil : base.entity(of: id) }

  func deletion(of id: ObjectID) throws -> (revision: Revision, author: String)? { try base.deletion(of: id) }

  func lastImage(ofDeleted id: ObjectID) throws -> ObjectImage? { try base.lastImage(ofDeleted: id) }

  func referrers(to id: ObjectID, through property: Property) throws -> [ObjectID] {
    let all = try base.referrers(to: id, through: property)
    return deleted == nil ? all : try all.filter { try !isDeleted($0) }
  }

  func members(
    of parent: ObjectID, through reference: Property, beyond place: OrderedMemberKey?, ascending: Bool, limit: Int
  ) throws -> [OrderedMemberKey] {
    try base.members(of: parent, through: reference, beyond: place, ascending: ascending, limit: limit)
  }

  func history(of id: ObjectID, after revision: Revision) throws -> [PastChange] {
    try base.history(of: id, after: revision)
  }

  func object(of entity: Entity, matching constraint: [PropertyNumber], values: [Value]) throws -> ObjectID? {
    guard let id = try base.object(of: entity, matching: constraint, values: values) else { return nil }
    return try isDeleted(id) ? nil : id
  }

  func nextInSequence(_ property: PropertyNumber) -> Int64 { base.nextInSequence(property) }
}
