// Tests: LiveStreamTests.swift
import GraphModel
import GraphWire

/// The queries of a stream, by the parameters of its request: each `entity` begins one, and a `where` belongs to the
/// entity before it. A single query may have them in any order.
enum LiveQueries {
  /// - Throws: `Problem` for an unknown entity, and for parameters that make no query.
  static func read(_ parameters: QueryParameters, _ model: Model) throws(Problem) -> [Subscribe] {
    var given = parameters.repeated
    let entities = given.count { $0.name == "entity" }
    guard entities > 0 else {
      throw .malformed("a stream follows the objects of an entity: entity=NAME is missing")
    }
    guard entities <= HTTPLimits.maximumStreamQueries else {
      throw Problem(
        .unprocessableContent, "limit", "a stream follows at most \(HTTPLimits.maximumStreamQueries) queries")
    }
    if entities == 1 { given.sort { $0.name < $1.name } }
    var queries = [Subscribe]()
    for (name, value) in given {
      if name == "entity" {
        guard let entity = model.entities.first(where: { UTF8Comparison.equal($0.name, value) }) else {
          throw .notFound("there is no entity \"\(value.excerpt)\"")
        }
        queries.append(Subscribe(entity: entity.number, predicate: "", wholeObjects: true))
      } else {
        guard var query = queries.popLast(), query.predicate.isEmpty else {
          throw .malformed("each where must follow the entity that it belongs to, and an entity has at most one")
        }
        query.predicate = value
        queries.append(query)
      }
    }
    return queries
  }
}
