import GraphModel

/// Generating a function for each named fetch request, in an extension of the class of its objects.
extension ClassGenerator {
  func declaration(of request: FetchTemplate) -> String {
    guard let entity = model.entity(request.entity)?.name else { return "" }
    var (parameters, arguments, labels) = ([String](), [String](), Set<String>())
    for (name, type) in zip(request.variables, request.types) {
      let (swift, kind) = swift(type)
      // A variable's name may begin with a digit, a parameter's may not.
      var label = name.first?.isNumber == true ? "_" + name : name
      while !labels.insert(label).inserted { label += "_" }
      let isList = request.lists.contains(name)
      let isOptional = request.nullables.contains(name)
      parameters.append("`\(label)`: \(isList ? "[\(swift.type)]" : swift.type + (isOptional ? "?" : ""))")
      let each = "`\(label)`.map { .\(swift.wrap)($0\(swift.unit)) }"
      let value = isList ? each : isOptional ? "\(each) ?? .null" : ".\(swift.wrap)(`\(label)`\(swift.unit))"
      arguments.append("\"\(name)\": .\(isList ? "list" : "value")(\(value), .\(kind))")
    }
    // Every class already has a member of this name.
    var name = request.name
    while name != request.name ? model.fetchRequest(named: name) != nil : name == "entityName" { name += "_" }
    let list = arguments.isEmpty ? ":" : arguments.joined(separator: ", ")
    return """
      extension \(entity) {
      \(comment(request.documentation, request.name, "  "))
        public static func `\(name)`(\(parameters.joined(separator: ", "))) -> NamedFetch<\(entity)> {
          NamedFetch("\(request.name)", [\(list)])
        }
      }
      """
  }

  /// The Swift type of a variable, how it is wrapped in a `Value`, and its type in predicates.
  private func swift(_ type: GraphValueType) -> (swift: (type: String, wrap: String, unit: String), kind: String) {
    switch type {
    case .bool: (("Bool", "bool", ""), "bool")
    case .integer: (("Int64", "integer", ""), "integer")
    case .duration: (("TimeSpan", "integer", ".microseconds"), "duration")
    case .double: (("Double", "double", ""), "double")
    case .decimal: (("DecimalValue", "decimal", ""), "decimal")
    case .string, .null: (("String", "string", ""), "string")
    case .date: (("Timestamp", "date", ""), "date")
    case .uuid: (("UniqueID", "uuid", ""), "uuid")
    case .data: (("[UInt8]", "data", ""), "data")
    case .object(let entity): (("ObjectID", "object", ""), "object(\(entity))")
    }
  }
}
