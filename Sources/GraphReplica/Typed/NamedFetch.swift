import GraphModel

/// A fetch request of the model with the values of its variables: `Project.overdue(now: now, client: "Acme")`, which is
/// generated for each of them, so that the compiler checks names and types. A variable that is only asked to be equal to
/// what may be null, or not, takes nil.
public struct NamedFetch<Object: ManagedObject>: Sendable {
  /// Its name in the model.
  public let name: String
  /// By the names of the variables.
  public let arguments: [String: TemplateArgument]

  /// Generated code calls it.
  public init(_ name: String, _ arguments: [String: TemplateArgument] = [:]) {
    self.name = name
    self.arguments = arguments
  }

  /// What is asked.
  /// - Throws: `Refusal` where the model has no such fetch request of such objects; `PredicateSyntaxError` for a value that is
  ///   missing, or none of its place.
  public func request(in model: Model) throws -> FetchRequest {
    guard let template = model.fetchRequest(named: name),
      template.entity == model.entity(named: Object.entityName)?.number
    else {
      let known = model.fetchRequests.map(\.name).joined(separator: ", ")
      throw Refusal(
        .malformed, "the model has no fetch request \(name) of \(Object.entityName); it has: \(known)")
    }
    return try template.request(withArguments: arguments, model: model)
  }
}
