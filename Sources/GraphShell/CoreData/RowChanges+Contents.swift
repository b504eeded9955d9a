import CoreDataStore
import GraphModel

extension SourceRow.Content {
  /// The rows at the other end of a relationship.
  var rows: [StoreLayout.RowKey] {
    switch self {
    case .value, .reference(nil): []
    case .reference(let key?): [key]
    case .members(let keys): keys
    }
  }

  /// The content without some of the rows.
  func without(_ rows: Set<StoreLayout.RowKey>) -> Self {
    switch self {
    case .value, .reference(nil): self
    case .reference(let key?): rows.contains(key) ? .reference(nil) : self
    case .members(let keys): .members(keys.filter { !rows.contains($0) })
    }
  }
}

extension Property {
  /// Whether a to-many has to have a member when its object is inserted.
  var requiresMember: Bool { relationship?.minimumCount.map { $0 > 0 } == true }

  /// Whether it is a relationship that is never empty.
  var requiresObject: Bool { requiresMember || relationship?.isToMany == false && !isOptional }
}
