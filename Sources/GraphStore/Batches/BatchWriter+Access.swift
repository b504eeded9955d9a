// Tests: WriteAccessTests.swift
import GRDBSQLite
import GraphModel

/// Access of a batch: it selects among the objects that its principal sees, and each of its effects must be permitted.
/// The planner judges the changes of each slice; the objects that a large batch deletes are in no slice.
extension BatchWriter {
  /// Refuses the batches that can't be judged object by object.
  func checkAccess() throws {
    if let judge { try checkAccess(of: judge) }
  }

  private func checkAccess(of judge: AccessJudge) throws {
    switch batch.operation {
    case .restore:
      guard judge.rights.role == .owner else {
        throw Refusal(
          .notAllowed, "a whole graph brings its own ids and creators: this needs the role owner on the complete store")
      }
    case .update(let predicate, _), .delete(let predicate):
      // Otherwise the number of selected objects would reveal values of invisible ones.
      guard judge.seesEverything || predicate.readsOnlyOwnImage(in: model) else {
        throw Refusal(
          .notAllowed,
          "you see a part of the graph only, and a batch then selects by the objects' own properties: its predicate "
            + "reads other objects")
      }
    case .insert: break
    }
  }

  /// The rows of the matching objects that the principal sees. A predicate is evaluated on the values that the
  /// principal sees: the stored reference to an invisible object must not decide.
  func selectVisible(_ predicate: GraphPredicate, _ entity: Entity, _ table: EntityTable) throws -> RowSet {
    guard let judge, !judge.seesEverything else { return try select(predicate, entity, table) }
    let readsReferences = judge.mayHideReferences(of: predicate)
    let evaluator = readsReferences ? PredicateEvaluator(predicate, model: model) : nil
    var seen = RowSet()
    let object = table.selectWithSum + " WHERE t._row = ?"
    for row in try select(readsReferences ? .always : predicate, entity, table) {
      let statement = try connection.statement(object)
      statement.bind(1, row)
      guard try connection.step(statement) else { throw RowWriter.missing }
      let image = try writer.objects.verifiedImage(statement, in: table)
      sqlite3_reset(statement.statement)
      guard judge.sees(image), try evaluator?.matches(reduced(image)) != false else { continue }
      seen.insert(row)
    }
    return seen
  }

  /// The object as the principal sees it.
  func reduced(_ image: ObjectImage) throws -> ObjectImage {
    guard let judge, !judge.seesEverything else { return image }
    var image = image
    for index in image.values.indices {
      image.values[index] = try Visibility.reduced(image.values[index]) { id in
        try writer.objects.readImage(of: id).map { judge.sees($0) } == true
      }
    }
    return image
  }

  /// The number of changes, without those of objects that the principal does not see. Such objects only follow others,
  /// with the scope or the count that is derived from them. An insert is always the principal's own.
  func visibleCount(of changes: [ObjectChange]) -> Int {
    guard let judge, !judge.seesEverything else { return changes.count }
    return changes.count(where: { change in
      change.kind == .inserted || (change.after ?? change.before).map { judge.sees($0) } == true
    })
  }

  /// A violation by objects that the batch reaches, without values that the principal can't see.
  func visible(_ violation: Violation) throws -> Violation {
    guard let judge else { return violation }
    let refusal = try judge.withoutInvisible(Refusal(violations: [violation]), reader: PlanReader(writer: writer))
    guard let seen = refusal.violations.first else { throw refusal }
    return seen
  }

  /// Refuses the batch if one of the deletes is not permitted.
  func checkDeletes(_ images: [ObjectImage]) throws {
    if let judge, !judge.permitsEverything {
      for image in images {
        guard let missing = judge.missingRight(before: image, after: nil, changed: []) else { continue }
        throw missing.operation == .read ? AccessJudge.effectOnInvisible : Refusal(.notAllowed, missing.message)
      }
    }
  }
}
