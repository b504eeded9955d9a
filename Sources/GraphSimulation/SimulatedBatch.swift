import GraphModel
import GraphWire

/// A batch of a simulated user, with its expected effect.
///
/// The effect is computed from the previous graph object by object, without the store's code.
struct SimulatedBatch {
  /// The new value of a property, in a form that needs no evaluator.
  enum NewValue {
    case value(Value)
    /// Adds this number to the object's value.
    case plus(Int64)
    /// Adds this number of microseconds to the object's date.
    case later(Int64)
  }

  enum Operation {
    case insert([Property], [[Value]])
    case update(GraphPredicate, [(property: Property, to: NewValue)])
    case delete(GraphPredicate)
  }

  let id: TransactionID
  let entity: Entity
  let policy: MergePolicy
  let operation: Operation
  let model: Model

  var event: CoverageEvent {
    switch operation {
    case .insert: .batchInserted
    case .update: .batchUpdated
    case .delete: .batchDeleted
    }
  }

  /// The request to send.
  var request: BatchRequest {
    func text(_ predicate: GraphPredicate) -> String { predicate == .always ? "" : predicate.text(in: model) }
    let operation: BatchRequest.Operation =
      switch self.operation {
      case .insert(let properties, let rows): .insert(properties: properties.map(\.number), rows: UInt64(rows.count))
      case .delete(let predicate): .delete(predicate: text(predicate))
      case .update(let predicate, let assignments):
        .update(
          predicate: text(predicate),
          assignments.map { property, becoming in
            switch becoming {
            case .value(let value): BatchRequest.Assignment(property.number, .value(value))
            case .plus(let number):
              BatchRequest.Assignment(property.number, .expression("\(property.name) + \(number)"))
            case .later(let time):
              BatchRequest.Assignment(property.number, .expression("\(property.name) + microseconds(\(time))"))
            }
          })
      }
    return BatchRequest(id: id, policy: policy, entity: entity.number, operation: operation)
  }

  // MARK: - The invariant

  /// Describes an effect of the commit that is missing or was not requested; nil if there is none.
  func failure(from before: RecordedGraph, to after: RecordedGraph) -> String? {
    let reason =
      switch operation {
      case .insert(let properties, let rows): failure(properties, rows, before, after)
      case .update(let predicate, let assignments): failure(predicate, assignments, before, after)
      case .delete(let predicate): failure(predicate, before, after)
      }
    return reason.map { "batch \(id.sequence) of \(entity.name): \($0)" }
  }

  private func failure(
    _ properties: [Property], _ rows: [[Value]], _ before: RecordedGraph, _ after: RecordedGraph
  ) -> String? {
    let made = after.images.values.filter { before.images[$0.id] == nil }
    // A row with an existing unique key may have been merged into that object.
    let candidates = policy == .error ? made : Array(after.images.values)
    if policy == .error, made.count != rows.count { return "\(rows.count) rows became \(made.count) objects" }
    var found = [[Value]: Int]()
    for image in candidates where image.id.entity == entity.number {
      found[properties.map { image[$0] }, default: 0] += 1
    }
    for row in rows {
      guard let count = found[row], count > 0 else { return "no object is there for the row \(row)" }
      if policy == .error { found[row] = count - 1 }
    }
    if before.images.keys.contains(where: { after.images[$0] == nil }) { return "an insert has deleted something" }
    return untouched(before, after) { _, _ in false }
  }

  private func failure(
    _ predicate: GraphPredicate, _ assignments: [(property: Property, to: NewValue)], _ before: RecordedGraph,
    _ after: RecordedGraph
  ) -> String? {
    if Set(before.images.keys) != Set(after.images.keys) { return "an update has inserted or deleted something" }
    let matched = before.objects(of: entity, predicate)
    for (id, old) in matched {
      for (property, becoming) in assignments {
        let wanted: Value
        switch (becoming, old[property]) {
        case (.value(let value), _): wanted = value
        case (.plus(let number), .integer(let past)): wanted = .integer(past + number)
        case (.later(let time), .date(let past)): wanted = .date(past + time)
        case (.plus, _), (.later, _): wanted = .null
        }
        guard let image = after.images[id], image[property] == wanted else {
          return "\(property.name) of \(id) is \(after.images[id]?[property] ?? .null) and should be \(wanted)"
        }
      }
    }
    let assigned = Set(assignments.map(\.property.number))
    return untouched(before, after) { id, property in matched[id] != nil && assigned.contains(property.number) }
  }

  private func failure(_ predicate: GraphPredicate, _ before: RecordedGraph, _ after: RecordedGraph) -> String? {
    var leaving = Set(before.objects(of: entity, predicate).keys)
    // The only cascade of the model: deleting a folder deletes its items.
    if let folder = model.entity(named: "Item")?.property(named: "folder") {
      for image in before.images.values where model.entity(image.id.entity)?.name == "Item" {
        if let owner = image[folder].objectID, leaving.contains(owner) { leaving.insert(image.id) }
      }
    }
    let left = Set(before.images.keys).subtracting(leaving)
    if left != Set(after.images.keys) {
      return "\(leaving.count) should have gone, \(before.images.count - after.images.count) went"
    }
    return untouched(before, after) { _, _ in false }
  }

  /// Checks that no other attribute changed; values that the server derives are checked elsewhere.
  private func untouched(
    _ before: RecordedGraph, _ after: RecordedGraph, except isExempt: (ObjectID, Property) -> Bool
  ) -> String? {
    for (id, old) in before.images {
      guard let new = after.images[id], old != new else { continue }
      for property in model.storedProperties(of: id.entity) where property.isPlainAttribute {
        if old[property] != new[property], !isExempt(id, property) { return "\(property.name) of \(id) has changed" }
      }
    }
    return nil
  }
}
