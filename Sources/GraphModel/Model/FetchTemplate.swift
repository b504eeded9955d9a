/// A named fetch request of the model: an entity, a predicate with variables, and an order.
public struct FetchTemplate: Hashable, Sendable {
  /// The name; unique in the model, ignoring case.
  public let name: String
  /// Documentation for people; empty if the file has none.
  public let documentation: String
  /// The entity; its subentities are included.
  public let entity: EntityNumber
  /// The text of the predicate, with `$name` for variables; empty for all objects.
  public let predicate: String
  /// The sort keys, as text; empty for the order of the ids.
  public let sort: String
  /// The maximum number of objects; nil for all.
  public let limit: Int?
  /// The names of the predicate's variables, each once, in the order of their first use.
  public let variables: [String]
  /// The types of the variables, in the same order.
  public let types: [GraphValueType]
  /// The variables that are lists of elements of their type.
  public let lists: Set<String>
  /// The variables that may be null: each of their uses compares for equality with an optional value.
  public let nullables: Set<String>

  /// The request with the given JSON values for its variables.
  /// - Throws: `PredicateSyntaxError` if a value is missing or has the wrong type, or a variable is unknown.
  public func request(with arguments: [String: JSON], model: Model) throws(PredicateSyntaxError) -> FetchRequest {
    try request(withArguments: arguments.mapValues { .json($0) }, model: model)
  }

  /// The request with the given values for its variables.
  /// - Throws: `PredicateSyntaxError` if a value is missing or has the wrong type, or a variable is unknown.
  public func request(
    withArguments arguments: [String: TemplateArgument], model: Model
  ) throws(PredicateSyntaxError) -> FetchRequest {
    guard let entity = model.entity(entity) else {
      throw PredicateSyntaxError(scalar: 1, reason: "the model has no such entity", text: predicate)
    }
    if let unknown = arguments.keys.sorted().first(where: { !variables.contains($0) }) {
      let names = variables.isEmpty ? "none" : variables.map { "$" + $0 }.joined(separator: ", ")
      throw PredicateSyntaxError(
        scalar: 1, reason: "\(name) has no variable $\(unknown); it has \(names)", text: predicate)
    }
    let condition: GraphPredicate =
      predicate.isEmpty
      ? .always : try GraphPredicate(parsing: predicate, entity: entity, model: model, arguments: arguments)
    let order = sort.isEmpty ? [] : try [SortKey](parsing: sort, entity: entity, model: model)
    return FetchRequest(entity: entity.number, predicate: condition, sort: order, limit: limit)
  }
}

extension Model {
  /// The named fetch requests, in the order of the file.
  public var fetchRequests: [FetchTemplate] { parts.fetchRequests }

  /// The fetch request of that name, with case respected; nil if there is none.
  public func fetchRequest(named name: String) -> FetchTemplate? { fetchRequests.first { $0.name == name } }
}

// MARK: - Reading the model

extension ModelDraft {
  struct FetchRequest {
    var name, documentation, path, entity, predicate, sort: String
    var limit: Int?
  }
}

extension ModelReader {
  mutating func fetchRequest(_ json: JSON, _ path: String) -> ModelDraft.FetchRequest {
    var fields = JSONObjectReader(json, path: path, in: &mistakes)
    let request = ModelDraft.FetchRequest(
      name: fields.name("name"), documentation: fields.text("documentation"), path: path,
      entity: fields.text("entity", required: true), predicate: fields.text("predicate"),
      sort: fields.text("sort"), limit: fields.integer("limit"))
    fields.finish(&mistakes)
    return request
  }
}

extension ModelLinker {
  mutating func checkFetchRequests() {
    guard draft.fetchRequests.count <= Self.maximumCount else {
      return report("fetchRequests", "a model has at most \(Self.maximumCount) fetch requests")
    }
    var seen = Set<String>()
    for request in draft.fetchRequests {
      if !seen.insert(request.name.lowercased()).inserted {
        report(request.path + ".name", "another fetch request is called \"\(request.name)\" (case does not count)")
      }
      if byName[request.entity] == nil {
        report(request.path + ".entity", "there is no entity \"\(request.entity)\"")
      }
    }
  }
}

extension ModelExpressionCompiler {
  mutating func parseFetchRequests() {
    for request in draft.fetchRequests {
      guard let entity = model.entity(named: request.entity) else { continue }
      var variables = [(name: String, type: GraphValueType)]()
      var (lists, nullables) = (Set<String>(), Set<String>())
      do {
        if !request.predicate.isEmpty {
          let found = try GraphPredicate.variables(ofTemplate: request.predicate, entity: entity, model: model)
          (lists, nullables) = (found.lists, found.nullables)
          for variable in found.variables where !variables.contains(where: { $0.name == variable.name }) {
            variables.append(variable)
          }
        }
      } catch {
        report(request.path + ".predicate", error.description)
      }
      do {
        if !request.sort.isEmpty { _ = try [SortKey](parsing: request.sort, entity: entity, model: model) }
      } catch {
        report(request.path + ".sort", error.description)
      }
      parts.fetchRequests.append(
        FetchTemplate(
          name: request.name, documentation: request.documentation, entity: entity.number,
          predicate: request.predicate, sort: request.sort, limit: request.limit, variables: variables.map(\.name),
          types: variables.map(\.type), lists: lists, nullables: nullables))
    }
  }
}
