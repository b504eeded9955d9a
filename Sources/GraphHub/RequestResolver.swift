// Tests: HubTests.swift, HubBatchTests.swift, WindowTests.swift
import GraphModel
import GraphWire

/// Resolves the numbers and texts of requests against the model.
///
/// Syntax errors are refused with their position, and so are parts that cannot be combined.
struct RequestResolver {
  let model: Model
  private let limits: HubLimits
  /// The value of `now()` in predicates and expressions.
  var time: Timestamp = 0

  init(model: Model, limits: HubLimits) { (self.model, self.limits) = (model, limits) }

  func entity(_ number: EntityNumber) throws(Refusal) -> Entity {
    guard let entity = model.entity(number) else {
      throw Refusal(.malformed, "there is no entity number \(number) in the model \(model.name)")
    }
    return entity
  }

  func predicate(_ text: String, _ entity: Entity) throws(Refusal) -> GraphPredicate {
    if text.isEmpty { return .always }
    do {
      return try GraphPredicate(parsing: text, entity: entity, model: model).bound(now: time)
    } catch {
      throw Refusal(.malformed, "the predicate can't be read at \(error)")
    }
  }

  private func order(_ text: String, _ entity: Entity) throws(Refusal) -> [SortKey] {
    if text.isEmpty { return [] }
    do {
      return try [SortKey](parsing: text, entity: entity, model: model)
    } catch {
      throw Refusal(.malformed, "the order can't be read at \(error)")
    }
  }

  // MARK: - Fetches

  func request(for fetch: Fetch) throws -> FetchRequest {
    let entity = try entity(fetch.entity)
    var request = FetchRequest(
      entity: fetch.entity, predicate: try predicate(fetch.predicate, entity),
      limit: fetch.limit == 0 ? nil : Int(clamping: fetch.limit), offset: Int(clamping: fetch.offset),
      explains: fetch.explain,
      at: fetch.at)
    if let at = fetch.at, at < 0 {
      throw Refusal(.malformed, "there is no revision \(at): revisions start at 0, the empty graph")
    }
    if fetch.result != .rows, !fetch.properties.isEmpty || !fetch.groupBy.isEmpty || fetch.distinct {
      throw Refusal(.malformed, "properties, groups and distinct require a result of rows")
    }
    switch fetch.result {
    case .objects: request.sort = try order(fetch.sort, entity)
    case .identifiers:
      request.result = .identifiers
      request.sort = try order(fetch.sort, entity)
    case .count:
      request.result = .count
      // A count does not depend on the sort, but an invalid sort is still an error.
      _ = try order(fetch.sort, entity)
    case .rows:
      let rows = try rows(of: fetch, entity)
      request.result = .rows(rows.bound(now: time))
      if rows.hasRowPerObject { request.sort = try order(fetch.sort, entity) }
    }
    if !fetch.after.isEmpty { request.after = try FetchCursor(bytes: fetch.after) }
    // A client that names an object must learn that it can't be read, not that it is missing.
    request.omitsDamage = !request.predicate.namesObjects
    try request.check(in: model)
    return request
  }

  private func rows(of fetch: Fetch, _ entity: Entity) throws(Refusal) -> RowRequest {
    do {
      return try RowRequest(
        parsing: fetch.properties, distinct: fetch.distinct, groups: fetch.groupBy, order: fetch.sort, entity: entity,
        model: model)
    } catch {
      throw Refusal(.malformed, error.description)
    }
  }

  // MARK: - Windows

  func window(_ window: Subscribe.Window, _ entity: Entity) throws(Refusal) -> (range: WindowRange, sort: [SortKey]) {
    (try range(window.offset, window.limit), try windowOrder(window.sort, entity))
  }

  func range(_ offset: UInt64, _ limit: UInt64) throws(Refusal) -> WindowRange {
    guard limit > 0 else {
      throw Refusal(.malformed, "a window needs a limit, from 1 to \(limits.windowRows) rows")
    }
    guard limit <= UInt64(limits.windowRows) else {
      throw Refusal(
        .limit, "a window has at most \(limits.windowRows) rows, not \(limit): ask for fewer rows, and move the window")
    }
    return WindowRange(offset: Int(clamping: offset), limit: Int(limit))
  }

  private func windowOrder(_ text: String, _ entity: Entity) throws(Refusal) -> [SortKey] {
    let keys = try order(text, entity)
    for key in keys where !GraphExpression.path(key.path).readsOnlyOwnImage(in: model) {
      throw Refusal(
        .malformed,
        "a window sorts by the object's own properties, and \([key].text(in: model)) reads other objects: sort by a "
          + "derived attribute, or follow the query without a window")
    }
    return keys
  }

  // MARK: - Batches

  func batch(_ request: BatchRequest) throws(Refusal) -> Batch {
    let entity = try entity(request.entity)
    let operation: Batch.Operation
    switch request.operation {
    case .update(let predicate, let assignments):
      let predicate = try self.predicate(predicate, entity)
      operation = .update(
        predicate, try assignments.map { assignment throws(Refusal) in try self.assignment(assignment, entity) })
    case .delete(let predicate): operation = .delete(try self.predicate(predicate, entity))
    case .insert(let properties, let rows): operation = .insert(properties, rows: Int(clamping: rows))
    }
    return Batch(id: request.id, policy: request.policy, entity: request.entity, operation: operation)
  }

  private func assignment(
    _ assignment: BatchRequest.Assignment, _ entity: Entity
  ) throws(Refusal) -> Batch.Assignment {
    switch assignment.source {
    case .value(let value): return Batch.Assignment(assignment.property, .value(value))
    case .expression(let text):
      let expression: GraphExpression
      do {
        expression = try GraphExpression(parsing: text, entity: entity, model: model)
      } catch {
        throw Refusal(.malformed, "the expression can't be read at \(error)")
      }
      return Batch.Assignment(assignment.property, expression.bound(now: time))
    }
  }
}
