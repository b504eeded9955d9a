import ModelFiles

/// Generates a function for each named fetch request, in an extension of the class of its objects.
extension ClassGenerator {
  func declaration(of request: FetchTemplate) -> String {
    guard let entity = model.entity(request.entity)?.name else {
      preconditionFailure("a model has the entities of its fetch requests")
    }
    var (parameters, arguments, labels) = ([String](), [String](), Set<String>())
    for (name, type) in zip(request.variables, request.types) {
      let (swift, wrap, kind) = swift(type)
      // A variable's name may begin with a digit, a parameter's may not.
      var label = name.first?.isNumber == true ? "_" + name : name
      while !labels.insert(label).inserted { label += "_" }
      let isList = request.lists.contains(name)
      let isOptional = request.nullables.contains(name)
      parameters.append("`\(label)`: \(isList ? "[\(swift)]" : swift + (isOptional ? "?" : ""))")
      let each = "`\(label)`.map { \(wrap("$0")) }"
      let value = isList ? each : isOptional ? "\(each) ?? .null" : wrap("`\(label)`")
      arguments.append("\"\(name)\": .\(isList ? "list" : "value")(\(value), .\(kind))")
    }
    // Every class already has a member of this name.
    var name = request.name
    while name != request.name ? model.fetchRequest(named: name) != nil : name == "entityName" { name += "_" }
    let list = arguments.isEmpty ? ":" : arguments.joined(separator: ", ")
    return """
      extension \(entity) {
      \(comment(request.documentation, request.name, "  "))
        public static func `\(name)`(\(parameters.joined(separator: ", "))) -> \(library("NamedFetch"))<\(entity)> {
          \(library("NamedFetch"))("\(request.name)", [\(list)])
        }
      }
      """
  }

  /// The Swift type of a variable, the expression of the `Value` of a constant, and its type in predicates.
  private func swift(_ type: GraphValueType) -> (swift: String, wrap: (String) -> String, kind: String) {
    switch type {
    case .bool: (library("Bool"), { ".bool(\($0))" }, "bool")
    case .integer: (library("Int"), { ".integer(\(library("Int64"))(\($0)))" }, "integer")
    case .duration: (library("TimeSpan"), { ".integer(\($0).microseconds)" }, "duration")
    case .double: (library("Double"), { ".double(\($0))" }, "double")
    case .decimal: (library("Decimal"), { "\($0).attributeValue" }, "decimal")
    case .string, .null: (library("String"), { ".string(\($0))" }, "string")
    case .date: (library("Date"), { "\($0).attributeValue" }, "date")
    case .uuid: (library("UUID"), { "\($0).attributeValue" }, "uuid")
    case .data: (library("Data"), { "\($0).attributeValue" }, "data")
    case .object(let entity): (library("ObjectID"), { ".object(\($0))" }, "object(\(entity))")
    }
  }
}
