// Tests: TypedPredicateTests.swift
import GraphModel

/// A fetch request of the model with the values of its variables. Example: `Project.overdue(now: now, client:
/// "Acme")`.
///
/// Such a function is generated for each fetch request, so that the compiler checks names and types. A variable may be
/// nil if it is only tested for equality or inequality with properties that may be null.
public struct NamedFetch<Object: ManagedObject>: Sendable {
  /// Its name in the model.
  public let name: String
  /// The values, by the names of the variables.
  public let arguments: [String: TemplateArgument]

  /// For generated code.
  public init(_ name: String, _ arguments: [String: TemplateArgument] = [:]) {
    self.name = name
    self.arguments = arguments
  }

  /// The fetch request with its values filled in.
  /// - Throws: `Refusal` where the model has no such fetch request of such objects; `PredicateSyntaxError` for a
  ///   value that is missing, or of the wrong type.
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
