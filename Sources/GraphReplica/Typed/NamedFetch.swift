import GraphModel

/// A fetch request of the model with the values of its variables: `Project.overdue(now: .now, client: "Acme")`, which is
/// generated for each of them, so that the compiler checks names and types.
public struct NamedFetch<Object: ManagedObject>: Sendable {
  /// Its name in the model.
  public let name: String
  /// By the names of the variables.
  public let values: [String: Value]

  /// Generated code calls it.
  public init(_ name: String, _ values: [String: Value] = [:]) {
    self.name = name
    self.values = values
  }

  /// What is asked.
  /// - Throws: `Refusal` where the model has no such fetch request of such objects; `PredicateSyntaxError` for a value that is
  ///   missing, or none of its place.
  public func request(in model: Model) throws -> FetchRequest {
    guard let template = model.fetchRequest(named: name), let entity = model.entity(named: Object.entityName),
      entity.family.contains(template.entity)
    else {
      let known = model.fetchRequests.map(\.name).joined(separator: ", ")
      throw Refusal(
        .malformed, "the model has no fetch request \(name) of \(Object.entityName); it has: \(known)")
    }
    return try template.request(with: values.mapValues { $0.json(kind: nil) }, model: model)
  }
}
