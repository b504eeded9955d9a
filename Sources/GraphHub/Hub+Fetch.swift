import GraphModel
import GraphWire

/// Resolves the text of a fetch against the model. Syntax errors are refused with their position, and so are parts
/// that cannot be combined.
extension Hub {
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
    try request.check(in: model)
    return request
  }

  private func rows(of fetch: Fetch, _ entity: Entity) throws -> RowRequest {
    do {
      return try RowRequest(
        parsing: fetch.properties, distinct: fetch.distinct, groups: fetch.groupBy, order: fetch.sort, entity: entity,
        model: model)
    } catch {
      throw Refusal(.malformed, error.description)
    }
  }

  func order(_ text: String, _ entity: Entity) throws -> [SortKey] {
    if text.isEmpty { return [] }
    do {
      return try [SortKey](parsing: text, entity: entity, model: model)
    } catch {
      throw Refusal(.malformed, "the order can't be read at \(error)")
    }
  }
}
