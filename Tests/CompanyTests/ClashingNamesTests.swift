import Testing

/// The types of a program and the entities of a converted app may have any names. They don't hide the types that
/// generated classes use.
@Suite struct ClashingNamesTests {
  @Test func programMayHaveTypesWithNamesOfLibrary() throws {
    let program = """
      import GraphModel
      import GraphReplica

      struct Value { var number = 1 }
      struct Model { var value = Value() }
      struct Change { var model = Model() }
      enum Color { case red }
      struct Link { var color = Color.red }
      struct Frame { var link = Link() }
      _ = (Change().model.value.number, Frame().link.color, CompanyModel.model.hash)
      """
    let compiler = try Compiler()
    try check(program, compiler.classes(ofSchema: "Company"), compiler)
  }

  @Test func entitiesMayHaveNamesOfLibraryTypes() throws {
    let plain = [
      "Bool", "Change", "Color", "Date", "Frame", "Int", "Link", "ManagedObject", "NamedFetch", "ServedModel", "String",
      "ToMany", "TypedExpression", "UUID",
    ]
    let model = """
      {"format": 1, "name": "Clash", "version": 1,
        "enumerations": [{"name": "Sendable", "cases": ["a", "b"]}, {"name": "DateTime", "cases": ["x"]}],
        "composites": [{"name": "URL", "attributes": [
          {"name": "host", "type": "string"}, {"name": "link", "type": "uri"}]}],
        "entities": [
          {"name": "Model", "abstract": true, "attributes": [
            {"name": "name", "type": "string"}, {"name": "when", "type": "date"}, {"name": "flag", "type": "bool"},
            {"name": "kind", "type": "enumeration", "enumeration": "Sendable", "default": "a"},
            {"name": "place", "type": "composite", "composite": "URL"},
            {"name": "bytes", "type": "data", "default": "AQI="}, {"name": "key", "type": "uuid", "optional": true},
            {"name": "price", "type": "decimal", "default": "1.5"}, {"name": "count", "type": "integer"}]},
          {"name": "Data", "parent": "Model", "relationships": [
            {"name": "values", "destination": "Value", "inverse": "data", "toMany": true, "ordered": true}]},
          {"name": "Value", "attributes": [{"name": "size", "type": "double"}], "relationships": [
            {"name": "data", "destination": "Data", "inverse": "values"},
            {"name": "paths", "destination": "ObjectPath", "inverse": "values", "toMany": true}]},
          {"name": "ObjectPath", "relationships": [
            {"name": "values", "destination": "Value", "inverse": "paths", "toMany": true}]},
          \(plain.map { "{\"name\": \"\($0)\"}" }.joined(separator: ", "))],
        "fetchRequests": [
          {"name": "recent", "entity": "Model", "predicate": "when > $since AND name == $name AND flag == $flag"}]}
      """
    let program = """
      import FoundationEssentials
      import GraphModel
      import GraphReplica

      func edit(in context: ObjectContext) {
        let value = Value(in: context)
        let data = Data(in: context)
        value.size = 2
        data.values.append(value)
        (data.name, data.when, data.kind) = ("a", .now, .b)
        data.place = URL(host: "a.example", link: nil)
        _ = Model.recent(since: .now, name: "a", flag: true)
      }
      _ = GraphPredicate(Value.self) { $0.data.name == "a" && $0.size > 1 && $0.data.flag }
      """
    let compiler = try Compiler()
    try check(program, compiler.classes(of: model), compiler)
  }

  @Test func entitiesMayHaveNamesOfGenericParametersOfPaths() throws {
    let model = """
      {"format": 1, "name": "Clash", "version": 1,
        "enumerations": [{"name": "Cardinality", "cases": ["one", "many"]}],
        "composites": [{"name": "Composite", "attributes": [
          {"name": "kind", "type": "enumeration", "enumeration": "Cardinality"}]}],
        "entities": [
          {"name": "Object", "attributes": [
            {"name": "title", "type": "string"}, {"name": "part", "type": "composite", "composite": "Composite"},
            {"name": "kind", "type": "enumeration", "enumeration": "Cardinality", "default": "one"}],
           "relationships": [
            {"name": "owner", "destination": "Object", "inverse": "owned"},
            {"name": "owned", "destination": "Object", "inverse": "owner", "toMany": true}]}]}
      """
    let program = """
      import GraphModel
      import GraphReplica

      func edit(in context: ObjectContext) {
        let object = Object(in: context)
        (object.title, object.kind, object.part.kind, object.owner) = ("a", .many, .one, object)
      }
      _ = GraphPredicate(Object.self) {
        $0.kind == .many && $0.part.kind == .one && $0.owner.title == "a" && $0.owned.any.kind == .one
      }
      """
    let compiler = try Compiler()
    try check(program, compiler.classes(of: model), compiler)
  }

  /// Names of members that every object has, or that an object of Core Data has.
  @Test func propertiesMayHaveNamesOfMembersOfObjects() throws {
    let names = ["description", "hash", "hashValue", "isEqual", "objectID", "modelContext", "context", "identity"]
    let model = """
      {"format": 1, "name": "Clash", "version": 1, "entities": [
        {"name": "Thing", "attributes": [
          \(names.map { "{\"name\": \"\($0)\", \"type\": \"string\"}" }.joined(separator: ", "))]},
        {"name": "Part", "parent": "Thing", "relationships": [
          {"name": "managedObjectContext", "destination": "Part", "inverse": "persistentModelID"},
          {"name": "persistentModelID", "destination": "Part", "inverse": "managedObjectContext", "toMany": true}]}]}
      """
    let program = """
      import GraphModel
      import GraphReplica

      func edit(in context: ObjectContext) {
        let (thing, part) = (Thing(in: context), Part(in: context))
        (thing.description, thing.hash, thing.hashValue_, thing.isEqual) = ("a", "b", "c", "d")
        (part.objectID, part.modelContext, part.context_, part.identity) = ("e", "f", "g", "h")
        part.managedObjectContext = part
        part.persistentModelID.insert(part)
        let things: Set = [thing, part]
        let (hash, text): (Int, String) = (thing.hashValue, thing.hash + part.objectID)
        _ = (things.contains(part), [thing].firstIndex(of: part), thing == part, hash, text)
      }
      _ = GraphPredicate(Thing.self) { $0.hash == "a" && $0.hashValue_ == "b" && $0.objectID == "c" }
      """
    let compiler = try Compiler()
    try check(program, compiler.classes(of: model), compiler)
  }

  private func check(_ program: String, _ classes: String, _ compiler: Compiler) throws {
    let result = try compiler.check(["main.swift": program, "Generated.swift": classes])
    #expect(result.status == 0, "\(result.text)")
    try compiler.clean()
  }
}
