import GraphModel
import GraphReplica

extension ResultsRequest {
  /// Creates a request that the compiler checks: `ResultsRequest(Project.self, in: model, where: { $0.weight >= 2 },
  /// sort: [\.title.ascending], section: \.department.code.ascending)`. Returns nil if the model does not have the
  /// class's entity.
  /// - Parameter section: the path whose value the objects of a section share, with the order of the sections.
  public init?<Object: ManagedObject>(
    _ type: Object.Type, in model: Model,
    where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate = { _ in .always },
    sort: [(ObjectPath<Object, ExactlyOne>) -> TypedSortKey] = [],
    section: ((ObjectPath<Object, ExactlyOne>) -> TypedSortKey)? = nil, prefetch: RelationshipTree = .none
  ) {
    guard let entity = model.entity(named: type.entityName) else { return nil }
    let sections = [SortKey](type, [section].compactMap(\.self))
    self.init(
      entity: entity.number, predicate: GraphPredicate(type, where: predicate),
      sort: sections + [SortKey](type, sort), section: sections.first?.path, prefetch: prefetch)
  }
}
