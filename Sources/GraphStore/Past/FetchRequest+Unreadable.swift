// Tests: PastDamageTests.swift
import GraphModel

import struct GraphModel.FetchRequest

extension GraphPredicate {
  /// Whether an object can match whose values are unknown.
  func mayMatch(_ id: ObjectID) -> Bool {
    switch self {
    case .always: return true
    case .never: return false
    case .and(let parts): return parts.allSatisfy { $0.mayMatch(id) }
    case .or(let parts): return parts.contains { $0.mayMatch(id) }
    case .not: return true
    case .comparison(let comparison):
      guard comparison.quantifier == .one, comparison.path == Path(end: .identifier) else { return true }
      switch (comparison.comparator, comparison.right) {
      case (.equal, .value(let value)): return value.objectID == id
      case (.notEqual, .value(let value)): return value.objectID != id
      case (.in, .list(let values)): return values.contains { $0.objectID == id }
      default: return true
      }
    }
  }
}

extension FetchRequest {
  /// The root entities of further objects whose values the result depends on.
  func relatedRoots(in model: Model) -> Set<EntityNumber> {
    var properties = predicate.reads(in: model)
    for key in sort { properties.formUnion(key.expression.reads(in: model)) }
    if case .rows(let rows) = result {
      for expression in rows.groups + rows.columns.compactMap(\.value.expression) {
        properties.formUnion(expression.reads(in: model))
      }
    }
    let own = model.entity(entity)?.root
    let roots = properties.compactMap { model.property($0) }.compactMap { model.entity($0.owner)?.root }
    return Set(roots.filter { $0 != own })
  }
}
