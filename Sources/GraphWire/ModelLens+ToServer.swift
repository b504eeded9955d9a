import GraphModel

extension ModelLens {
  /// A message of a client of the older version, translated to the newer one.
  /// - Throws: `Refusal` for what the older version does not have, and for what has no meaning in the newer.
  public func later(_ message: ToServer) throws(Refusal) -> ToServer {
    var result = message
    switch message.body {
    case .fetch(let fetch): result.body = .fetch(try later(fetch))
    case .commit(let transaction, let acknowledged):
      result.body = .commit(try later(transaction), acknowledged: acknowledged)
    case .subscribe(let subscribe): result.body = .subscribe(try later(subscribe))
    case .log(var log):
      log.filter.entities = try later(entities: log.filter.entities)
      result.body = .log(log)
    case .batchRows(let rows): result.body = .batchRows(try later(rows))
    case .batch(let batch): result.body = .batch(try later(batch))
    case .why(let object, let property): result.body = .why(try later(object), try later(property: property))
    case .restore(var restore):
      switch restore.scope {
      case .object(let object): restore.scope = .object(try later(object))
      case .contents(let object): restore.scope = .contents(try later(object))
      case .everything: break
      }
      result.body = .restore(restore)
    case .changes(.follow(var follow)):
      follow.filter.entities = try later(entities: follow.filter.entities)
      result.body = .changes(.follow(follow))
    case .changes(.differences(var differences)):
      differences.entities = try later(entities: differences.entities)
      if let object = differences.object { differences.object = try later(object) }
      result.body = .changes(.differences(differences))
    case .exportGraph, .importGraph:
      throw Refusal(
        .notAllowed,
        "graph export and import need the store's version: use a client of \(new.name) version \(new.version)")
    case .hello, .model, .undo, .unsubscribe, .more, .status, .ping, .close, .presence, .undoState, .revisionAt,
      .moveWindow:
      break
    }
    assert(result.request == message.request, "the answer needs the number of its request")
    return result
  }

  private func later(_ fetch: Fetch) throws(Refusal) -> Fetch {
    var result = fetch
    result.entity = try later(entity: fetch.entity)
    result.predicate = try later(predicate: fetch.predicate, of: fetch.entity)
    if fetch.result == .rows {
      (result.properties, result.groupBy, result.sort) = try later(
        rows: fetch.properties, distinct: fetch.distinct, groups: fetch.groupBy, order: fetch.sort, of: fetch.entity)
    } else {
      result.sort = try later(sort: fetch.sort, of: fetch.entity)
    }
    return result
  }

  private func later(_ subscribe: Subscribe) throws(Refusal) -> Subscribe {
    var result = subscribe
    result.entity = try later(entity: subscribe.entity)
    result.predicate = try later(predicate: subscribe.predicate, of: subscribe.entity)
    if var window = subscribe.window {
      window.sort = try later(sort: window.sort, of: subscribe.entity)
      result.window = window
    }
    return result
  }

  // MARK: - Batches

  /// Translates the values alone: their properties are only known with the batch that follows.
  private func later(_ rows: BatchRows) throws(Refusal) -> BatchRows {
    var result = BatchRows(id: rows.id, rows: [])
    for row in rows.rows {
      var values = [Value]()
      for value in row { values.append(try later(value)) }
      assert(values.count == row.count, "a row keeps a value for each property of its batch")
      result.rows.append(values)
    }
    assert(result.rows.count == rows.rows.count, "the batch counts the rows that were sent")
    return result
  }

  private func later(_ batch: BatchRequest) throws(Refusal) -> BatchRequest {
    var result = batch
    result.entity = try later(entity: batch.entity)
    switch batch.operation {
    case .delete(let predicate):
      result.operation = .delete(predicate: try later(predicate: predicate, of: batch.entity))
    case .update(let predicate, let assignments):
      var later = [BatchRequest.Assignment]()
      for assignment in assignments { later.append(try self.later(assignment, of: batch.entity)) }
      result.operation = .update(predicate: try self.later(predicate: predicate, of: batch.entity), later)
    case .insert(let properties, let rows):
      var later = [PropertyNumber]()
      for property in properties {
        later.append(try self.later(property: property))
        try checkRows(of: property)
      }
      result.operation = .insert(properties: later, rows: rows)
    }
    return result
  }

  private func later(
    _ assignment: BatchRequest.Assignment, of entity: EntityNumber
  ) throws(Refusal) -> BatchRequest.Assignment {
    let property = try later(property: assignment.property)
    switch assignment.source {
    case .value(let value):
      return BatchRequest.Assignment(property, .value(try later(value, of: assignment.property)))
    case .expression(let text):
      return BatchRequest.Assignment(property, .expression(try later(expression: text, of: entity)))
    }
  }

  private func checkRows(of number: PropertyNumber) throws(Refusal) {
    guard isWidened(number), let property = old.property(number) else { return }
    let owner = old.entity(property.owner)
    assert(owner != nil, "a property's owner is an entity of its model")
    let name = owner.map { "\($0.name).\(property.name)" } ?? property.name
    throw Refusal(
      .notAllowed,
      "\(name) is of another type in version \(new.version) of the model: "
        + "rows for it take a client of that version; transactions don't")
  }
}
