// Tests: BatchTests.swift, BatchHistoryTests.swift
import GraphModel

/// Updates all matching objects. The set of matching objects is fixed before the first object changes.
extension BatchWriter {
  /// - Returns: the complete batch as a transaction if it is small; nil if it has been written in slices.
  func update(
    _ predicate: GraphPredicate, _ assignments: [Batch.Assignment], _ entity: Entity, _ table: EntityTable
  ) throws -> Transaction? {
    let prepared = try assignments.map { assignment in
      let property = try invariant(
        entity.property(assignment.property), "a batch that was checked assigns properties of its entity")
      return PreparedAssignment(property, assignment.value, model)
    }
    let hidesReferences = assignments.contains { judge?.mayHideReferences(of: $0.value) == true }
    func changes(of images: [ObjectImage]) throws -> [Change] {
      try images.map { try Self.change(of: hidesReferences ? reduced($0) : $0, prepared) }
    }
    let rows = try selectVisible(predicate, entity, table)
    if rows.count <= writer.sliceObjects {
      var whole = [Change]()
      try forEachSlice(of: rows, in: table) { whole += try changes(of: $0) }
      return transaction(whole)
    }
    let deferredKeys = batch.deferredKeys(in: model)
    var done = 0
    try report(done: 0, of: rows.count)
    try forEachSlice(of: rows, in: table) { images in
      try write(
        slice: try changes(of: images), reader: BatchReader(writer, known: images), deferredKeys: deferredKeys)
      done += images.count
      try report(done: done, of: rows.count)
    }
    try refuseIfViolated()
    if !deferredKeys.isEmpty { try writeDeferredKeys(deferredKeys) }
    return nil
  }

  /// One assignment, prepared for many objects.
  private struct PreparedAssignment {
    let property: Property
    private let constant: Value?
    private let evaluator: ExpressionEvaluator

    init(_ property: Property, _ expression: GraphExpression, _ model: Model) {
      self.property = property
      if case .value(let value) = expression { constant = value } else { constant = nil }
      evaluator = ExpressionEvaluator(expression, model: model)
    }

    func value(for image: ObjectImage) -> Value {
      if let constant { return constant }
      let value = evaluator.value(of: image)
      return property.attribute?.calculated(value) ?? value
    }
  }

  private static func change(of image: ObjectImage, _ prepared: [PreparedAssignment]) -> Change {
    // Based on no state that a client has read, so nothing can conflict.
    Change(.update, image.id, base: .max, edits: prepared.map { Edit($0.property.number, .set($0.value(for: image))) })
  }

  // MARK: - Unique keys

  /// Writes the calculated attributes of unique keys, which all slices have left null.
  private func writeDeferredKeys(_ keys: Set<PropertyNumber>) throws {
    let keys = DeferredKeyWriter(writer: writer, keys: keys)
    try keys.forEach(of: revision, parts: parts.count) { id, values in
      do {
        try keys.write(values, of: id)
      } catch let failure as SQLConstraintFailure {
        guard let violation = try keyConflict(of: id, values) else { throw failure }
        try collect([violation.0], [Conflict(kind: .unique, id: violation.other)])
      }
    }
  }

  /// The violation and the object that already has the key.
  private func keyConflict(
    of id: ObjectID, _ values: [(property: Property, value: Value)]
  ) throws -> (Violation, other: ObjectID)? {
    guard var image = try writer.objects.readImage(of: id) else { return nil }
    for (property, value) in values { image[property] = value }
    return try keyConflict(of: image, inBatch: .changed)
  }

  /// - Parameters:
  ///   - image: the object as it should have been written.
  ///   - holder: the description of a conflicting object that this batch wrote.
  func keyConflict(of image: ObjectImage, inBatch holder: Violation.KeyHolder) throws -> (Violation, other: ObjectID)? {
    let entity = try invariant(
      model.entity(image.id.entity), "an object that a batch writes has an entity of the model")
    let reader = PlanReader(writer: writer)
    for constraint in entity.uniquenessConstraints {
      let key = try constraint.map { number in
        image[try invariant(entity.property(number), "a unique key consists of its entity's properties")]
      }
      guard !key.contains(.null) else { continue }
      let owner = model.owner(of: constraint, in: entity)
      guard let other = try reader.object(of: owner, matching: constraint, values: key), other != image.id
      else { continue }
      let isOfBatch = try writer.objects.readImage(of: other)?.revision == revision
      return (
        Violation(
          image.id, meets: constraint, of: owner, values: key, model, by: isOfBatch ? holder : .stored), other
      )
    }
    return nil
  }
}
