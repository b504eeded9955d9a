import GraphModel

extension ModelLens {
  /// A message of a client of the older version, translated to the newer one.
  /// - Throws: `Refusal` for parts that the older version does not have, and for values without a meaning in the newer
  ///   version.
  public func upgraded(_ message: ToServer) throws(Refusal) -> ToServer {
    guard message.body.isTranslatedByLens else { return message }
    var result = message
    switch message.body {
    case .fetch(let fetch): result.body = .fetch(try upgraded(fetch))
    case .commit(let transaction): result.body = .commit(try upgraded(transaction))
    case .subscribe(let subscribe): result.body = .subscribe(try upgraded(subscribe))
    case .log(var log):
      log.filter.entities = try upgraded(entities: log.filter.entities)
      result.body = .log(log)
    case .batchRows(let rows): result.body = .batchRows(try upgraded(rows))
    case .batch(let batch): result.body = .batch(try upgraded(batch))
    case .why(let object, let property): result.body = .why(try upgraded(object), try upgraded(property: property))
    case .restore(var restore):
      switch restore.scope {
      case .object(let object): restore.scope = .object(try upgraded(object))
      case .contents(let object): restore.scope = .contents(try upgraded(object))
      case .everything: break
      }
      result.body = .restore(restore)
    case .changes(.follow(var follow)):
      follow.filter.entities = try upgraded(entities: follow.filter.entities)
      result.body = .changes(.follow(follow))
    case .changes(.differences(var differences)):
      differences.entities = try upgraded(entities: differences.entities)
      if let object = differences.object { differences.object = try upgraded(object) }
      result.body = .changes(.differences(differences))
    case .exportGraph, .importGraph:
      throw Refusal(
        .notAllowed,
        "graph export and import need the store's version: use a client of \(new.name) version \(new.version)")
    default: preconditionFailure("a lens has no translation of \(message.body)")
    }
    assert(result.request == message.request, "the answer needs the number of its request")
    return result
  }

  private func upgraded(_ fetch: Fetch) throws(Refusal) -> Fetch {
    var (result, work) = (fetch, TranslationWork())
    result.entity = try upgraded(entity: fetch.entity)
    result.predicate = try upgraded(predicate: fetch.predicate, of: fetch.entity, &work)
    if fetch.result == .rows {
      (result.properties, result.groupBy, result.sort) = try upgraded(
        rows: fetch.properties, distinct: fetch.distinct, groups: fetch.groupBy, order: fetch.sort, of: fetch.entity,
        &work)
    } else {
      result.sort = try upgraded(sort: fetch.sort, of: fetch.entity, &work)
    }
    return result
  }

  private func upgraded(_ subscribe: Subscribe) throws(Refusal) -> Subscribe {
    var (result, work) = (subscribe, TranslationWork())
    result.entity = try upgraded(entity: subscribe.entity)
    result.predicate = try upgraded(predicate: subscribe.predicate, of: subscribe.entity, &work)
    if var window = subscribe.window {
      window.sort = try upgraded(sort: window.sort, of: subscribe.entity, &work)
      result.window = window
    }
    return result
  }

  // MARK: - Batches

  /// Translates the values alone: their properties are only known with the batch that follows.
  private func upgraded(_ rows: BatchRows) throws(Refusal) -> BatchRows {
    var result = BatchRows(id: rows.id, rows: [])
    for row in rows.rows {
      var values = [Value]()
      for value in row { values.append(try upgraded(value)) }
      assert(values.count == row.count, "a row keeps a value for each property of its batch")
      result.rows.append(values)
    }
    assert(result.rows.count == rows.rows.count, "the batch counts the rows that were sent")
    return result
  }

  private func upgraded(_ batch: BatchRequest) throws(Refusal) -> BatchRequest {
    var (result, work) = (batch, TranslationWork())
    result.entity = try upgraded(entity: batch.entity)
    switch batch.operation {
    case .delete(let predicate):
      result.operation = .delete(predicate: try upgraded(predicate: predicate, of: batch.entity, &work))
    case .update(let predicate, let assignments):
      var later = [BatchRequest.Assignment]()
      for assignment in assignments { later.append(try self.upgraded(assignment, of: batch.entity, &work)) }
      result.operation = .update(predicate: try self.upgraded(predicate: predicate, of: batch.entity, &work), later)
    case .insert(let properties, let rows):
      var later = [PropertyNumber]()
      for property in properties {
        later.append(try self.upgraded(property: property))
        try checkRows(of: property)
      }
      result.operation = .insert(properties: later, rows: rows)
    }
    return result
  }

  private func upgraded(
    _ assignment: BatchRequest.Assignment, of entity: EntityNumber, _ work: inout TranslationWork
  ) throws(Refusal) -> BatchRequest.Assignment {
    let property = try upgraded(property: assignment.property)
    switch assignment.source {
    case .value(let value):
      return BatchRequest.Assignment(property, .value(try upgraded(value, of: assignment.property)))
    case .expression(let text):
      return BatchRequest.Assignment(property, .expression(try upgraded(expression: text, of: entity, &work)))
    }
  }

  private func checkRows(of number: PropertyNumber) throws(Refusal) {
    if !isWidened(number) { return }
    guard let property = old.property(number) else {
      preconditionFailure("a widened property is one of the older version: \(number)")
    }
    let owner = old.entity(property.owner)
    assert(owner != nil, "a property's owner is an entity of its model")
    let name = owner.map { "\($0.name).\(property.name)" } ?? property.name
    throw Refusal(
      .notAllowed,
      "\(name) is of another type in version \(new.version) of the model: "
        + "a client of that version can insert rows with it, and this client can set it in a transaction")
  }
}
