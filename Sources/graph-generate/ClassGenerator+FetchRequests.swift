import GraphModel

/// A function for each of the model's fetch requests, at the class whose objects it brings.
extension ClassGenerator {
  func declaration(of request: FetchTemplate) -> String {
    guard let entity = model.entity(request.entity)?.name else { return "" }
    let variables = zip(request.variables, request.types).map { name, type in
      let (type, wrap) = swift(type)
      // A variable's name may begin with a digit.
      let label = name.first?.isNumber == true ? "_" + name : name
      return (parameter: "`\(label)`: \(type)", argument: "\"\(name)\": .\(wrap)(`\(label)`)")
    }
    // The class has this one itself.
    let name = request.name == "entityName" ? "entityName_" : request.name
    let arguments = variables.isEmpty ? ":" : variables.map(\.argument).joined(separator: ", ")
    return """
      extension \(entity) {
      \(comment(request.documentation, request.name, "  "))
        public static func `\(name)`(\(variables.map(\.parameter).joined(separator: ", "))) -> NamedFetch<\(entity)> {
          NamedFetch("\(request.name)", [\(arguments)])
        }
      }
      """
  }

  /// The Swift type of a variable, and the case of `Value` that holds it.
  private func swift(_ type: GraphValueType) -> (type: String, wrap: String) {
    switch type {
    case .bool: ("Bool", "bool")
    case .integer, .duration: ("Int64", "integer")
    case .double: ("Double", "double")
    case .decimal: ("DecimalValue", "decimal")
    case .string, .null: ("String", "string")
    case .date: ("Timestamp", "date")
    case .uuid: ("UniqueID", "uuid")
    case .data: ("[UInt8]", "data")
    case .object: ("ObjectID", "object")
    }
  }
}
