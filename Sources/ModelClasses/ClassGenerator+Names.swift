import ModelFiles

/// Generates the names of library types. A model may have an entity, an enumeration or a composite of the same name
/// (such as `URL` in an app for bookmarks); the name of the library's type is then qualified with its module.
extension ClassGenerator {
  private static let modules: [String: [String]] = [
    "Swift": [
      "Bool", "CaseIterable", "Double", "Hashable", "Int", "Int64", "Sendable", "String", "UInt8",
    ],
    "GraphModel": ["DecimalValue", "Model", "ObjectID", "PropertyNumber", "UniqueID"],
    "GraphReplica": [
      "CompositePath", "DateTime", "EnumeratedValue", "FullText", "JSONText", "ManagedObject", "NamedFetch",
      "ObjectPath",
      "OrderedToMany", "ServedModel", "TimeSpan", "ToMany", "ToManyPath", "TypedExpression",
    ],
  ]
  private static let foundation = ["Data", "Date", "Decimal", "URL", "UUID"]

  /// The name of a type of a library, in the generated source.
  func library(_ name: String) -> String {
    if Self.foundation.contains(name) { return isTaken(name) ? "Foundation\(name)" : name }
    guard let module = Self.modules.first(where: { $0.value.contains(name) })?.key else {
      preconditionFailure("the generator knows the module of \(name)")
    }
    // `Model` is always qualified, because many programs have a type of that name. A model called Graph hides the
    // module.
    let isHidden = module == "\(model.name)Model"
    return !isHidden && (name == "Model" || isTaken(name)) ? "\(module).\(name)" : name
  }

  /// The generic parameters of the library's paths. They hide a type of the model that has the same name.
  private static let parameters = ["Cardinality", "Composite", "Object"]

  /// The name of a type of the model, in an extension of the library's paths.
  func visible(_ name: String) -> String { Self.parameters.contains(name) ? "\(model.name)Model_\(name)" : name }

  /// Second names for types that generic parameters hide.
  var aliases: [String] {
    Self.parameters.filter(isTaken).flatMap { ["", "public typealias \(visible($0)) = \($0)"] }
  }

  /// The imports. Foundation's types have another module on each system; a type whose name is taken gets a new one.
  var imports: [String] {
    let taken = Self.foundation.filter(isTaken)
    func branch(_ module: String) -> [String] {
      ["  import \(module)"] + taken.map { "  public typealias Foundation\($0) = \(module).\($0)" }
    }
    return ["import GraphModel", "import GraphReplica", "", "#if canImport(FoundationEssentials)"]
      + branch("FoundationEssentials") + ["#else"] + branch("Foundation") + ["#endif", ""]
  }

  private func isTaken(_ name: String) -> Bool {
    model.entities.contains { $0.name == name } || model.enumerations.contains { $0.name == name }
      || model.composites.contains { $0.name == name }
  }
}
