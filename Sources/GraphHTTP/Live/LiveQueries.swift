// Tests: LiveStreamTests.swift
import GraphModel
import GraphWire

/// The queries of a stream, by the parameters of its request: one as `entity` and `where`, or several, each as `query`
/// with the text `ENTITY` or `ENTITY where PREDICATE`.
///
/// A query is one parameter and not two, because some libraries sort parameters by name: only the order of equal names
/// is reliable.
enum LiveQueries {
  /// - Throws: `Problem` for an unknown entity, and for parameters that do not define a query.
  static func read(_ parameters: QueryParameters, _ model: Model) throws(Problem) -> [Subscribe] {
    let texts = parameters.repeated
    guard texts.count <= HTTPLimits.maximumStreamQueries else {
      throw Problem(
        .unprocessableContent, "limit", "a stream follows at most \(HTTPLimits.maximumStreamQueries) queries")
    }
    let predicate = parameters["where"]
    if let name = parameters["entity"] {
      guard texts.isEmpty else { throw .malformed("a stream has either entity and where, or query") }
      let text = if let predicate { predicate } else { "" }
      return [try query(name, text, model)]
    }
    guard !texts.isEmpty, predicate == nil else {
      throw .malformed("a stream follows the objects of an entity: entity=NAME or query=NAME is missing")
    }
    var queries = [Subscribe]()
    for text in texts {
      let name = text.prefix { $0 != " " }
      let rest = text.dropFirst(name.count)
      guard rest.isEmpty || rest.hasPrefix(Self.separator) else {
        throw .malformed("query is \(text.excerpt); it must be ENTITY or ENTITY where PREDICATE")
      }
      queries.append(try query(String(name), String(rest.dropFirst(Self.separator.count)), model))
    }
    return queries
  }

  private static let separator = " where "

  private static func query(_ name: String, _ predicate: String, _ model: Model) throws(Problem) -> Subscribe {
    guard let entity = model.entities.first(where: { UTF8Comparison.equal($0.name, name) }) else {
      throw .notFound("there is no entity \"\(name.excerpt)\"")
    }
    return Subscribe(entity: entity.number, predicate: predicate, wholeObjects: true)
  }
}
