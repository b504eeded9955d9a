import ArgumentParser
import GraphJSON
import GraphModel

/// The options for a fetch request of the model, with values for its variables.
struct TemplateOptions: ParsableArguments {
  @Option(
    name: .customLong("template"), parsing: .unconditional,
    help: ArgumentHelp("Run this fetch request of the model; graph entities lists them.", valueName: "name"))
  var name: String?
  @Option(
    name: .customLong("set"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The value of a variable of the fetch request; name:=JSON for a list or null.", valueName: "name=value"))
  var values: [String] = []

  func validate() throws {
    if name == nil, !values.isEmpty { throw ValidationError("--set requires --template") }
  }

  /// The fetch request; nil without `--template`.
  /// - Parameter entity: the entity that is named beside it.
  func request(in model: Model, of entity: Entity?) throws -> FetchRequest? {
    guard let name else { return nil }
    guard let template = model.fetchRequest(named: name) else {
      let names = model.fetchRequests.map(\.name)
      let more = Suggestion.sentence(
        for: name, among: names, otherwise: "; it has \(names.isEmpty ? "none" : names.joined(separator: ", "))")
      throw Refusal(.malformed, "the model \(model.name) has no fetch request \"\(name)\"\(more)")
    }
    if let entity, template.entity != entity.number {
      let own = model.ownEntity(template.entity).name
      throw Refusal(.malformed, "the template \(name) fetches \(own), not \(entity.name): leave out the entity")
    }
    var arguments = [String: JSON]()
    for value in values {
      guard let equals = value.firstIndex(of: "=") else {
        throw ValidationError("--set takes name=value, not \"\(value)\"")
      }
      let text = String(value[value.index(after: equals)...])
      var variable = String(value[..<equals])
      let isJSON = variable.hasSuffix(":")
      if isJSON { variable.removeLast() }
      guard arguments[variable] == nil else { throw ValidationError("--set gives \(variable) twice") }
      if isJSON {
        guard let json = try? JSON(parsing: text) else {
          throw ValidationError("--set \(variable):= takes JSON, not \"\(text)\"")
        }
        arguments[variable] = json
      } else {
        let type = template.variables.firstIndex(of: variable).map { template.types[$0] }
        arguments[variable] = Self.value(text, type)
      }
    }
    let missing = template.variables.filter { arguments[$0] == nil }
    // A misspelled variable is reported first.
    if !missing.isEmpty, arguments.keys.allSatisfy(template.variables.contains) {
      let options = missing.map { "--set \($0)=VALUE" }.joined(separator: " ")
      throw Refusal(.malformed, "the fetch request \(template.name) needs more values: add \(options)")
    }
    return try template.request(with: arguments, model: model)
  }

  private static func value(_ text: String, _ type: GraphValueType?) -> JSON {
    switch type {
    case .integer, .double, .bool, .duration: (try? JSON(parsing: text)) ?? .string(text)
    default: .string(text)
    }
  }
}
