extension Model {
  /// Parses a model file (docs/model-format.md) and reports all of its mistakes, not only the first.
  ///
  /// There are three passes: the syntax of each part, with its path; then names, inheritance and inverses across the
  /// file; and, only for a file without mistakes, numbers and slots, and the texts in the predicate language.
  public convenience init(parsing bytes: some Collection<UInt8>) throws(ModelError) {
    let bytes = Array(bytes)
    guard bytes.count <= Self.maximumFileSize else {
      throw ModelError(mistakes: [
        .init(path: "", reason: "the file has \(bytes.count) bytes; a model has at most \(Self.maximumFileSize)")
      ])
    }
    let document: JSON
    do {
      document = try JSON(parsing: bytes)
    } catch {
      throw ModelError(mistakes: [.init(path: "line \(error.line), column \(error.column)", reason: error.reason)])
    }
    var reader = ModelReader()
    let draft = reader.model(document)
    guard reader.mistakes.isEmpty else { throw ModelError(mistakes: reader.mistakes) }
    var linker = ModelLinker(draft: draft)
    linker.check()
    guard linker.mistakes.isEmpty else { throw ModelError(mistakes: linker.mistakes) }
    let enumerations = draft.enumerations.map {
      Enumeration(name: $0.name, documentation: $0.documentation, cases: $0.cases)
    }
    let source = String(decoding: bytes, as: UTF8.self)
    let linked = Model(
      name: draft.name, version: draft.version, documentation: draft.documentation, enumerations: enumerations,
      entities: linker.entities(), source: source, composites: linker.composites())
    var parser = ModelExpressionCompiler(draft: linker.draft, model: linked)
    parser.run()
    guard parser.mistakes.isEmpty else { throw ModelError(mistakes: parser.mistakes) }
    self.init(
      name: draft.name, version: draft.version, documentation: draft.documentation, enumerations: enumerations,
      entities: linked.entities, source: source,
      composites: linked.composites, parts: parser.parts, mappings: draft.mappings)
  }

  /// The maximum size of a model file, in bytes.
  public static let maximumFileSize = 4 << 20
}

// In this file, `Attribute` and `Relationship` are the types of a draft.
typealias AttributeKind = Attribute.Kind
typealias AttributeAssignment = Attribute.Assignment
typealias RelationshipDeleteRule = Relationship.DeleteRule

/// The contents of a model file, before names are resolved.
struct ModelDraft {
  struct Enumeration { var name, documentation, path: String; var cases: [String] }
  struct Entity {
    var name, documentation, path: String
    var isAbstract: Bool
    var parent: String?
    var attributes: [Attribute]
    var relationships: [Relationship]
    var unique: [[String]]
    var rules: [Rule]
    var composites = [CompositeAttribute]()
    var renamed: String?
    var scope: String?
    var access: Access?
  }
  struct Attribute {
    var name, documentation, path: String
    var isOptional: Bool
    /// Meaningless for a composite attribute.
    var kind: AttributeKind
    var isComposite: Bool
    var composite: String?
    /// Whether it is a member of a composite, in place of the entity's composite attribute.
    var isMember = false
    var enumeration: String?
    var json: JSON
    var minimumLength: Int?
    var maximumLength: Int?
    var pattern: String?
    var assignment: AttributeAssignment?
    var isIndexed: Bool
    var isFullText: Bool
    var isTransient: Bool
    var derived: String?
    var renamed: String?
  }
  struct Relationship {
    var name, documentation, path: String
    var isOptional: Bool
    var destination, inverse: String
    var isToMany: Bool
    var deleteRule: RelationshipDeleteRule
    var minimumCount: Int?
    var maximumCount: Int?
    var isOrdered = false
    var renamed: String?
  }

  var name = ""
  var version = 0
  var documentation = ""
  var enumerations = [Enumeration]()
  var composites = [Composite]()
  var entities = [Entity]()
  var fetchRequests = [FetchRequest]()
  var mappings = [Mapping]()
}

/// The first pass: the structure of the file.
struct ModelReader {
  var mistakes = [ModelError.Problem]()

  mutating func model(_ json: JSON) -> ModelDraft {
    var draft = ModelDraft()
    var top = JSONObjectReader(json, path: "", in: &mistakes)
    if let format = top.integer("format", required: true), format != 1 {
      mistakes.append(.init(path: "format", reason: "is \(format); this program reads format 1"))
    }
    draft.name = top.name("name")
    draft.version = top.integer("version", from: 1, required: true) ?? 1
    // Editors use it to find the schema.
    top.use("$schema")
    draft.documentation = top.text("documentation")
    for (item, path) in top.array("enumerations") { draft.enumerations.append(enumeration(item, path)) }
    for (item, path) in top.array("composites") { draft.composites.append(composite(item, path)) }
    for (item, path) in top.array("entities", required: true) { draft.entities.append(entity(item, path)) }
    for (item, path) in top.array("fetchRequests") { draft.fetchRequests.append(fetchRequest(item, path)) }
    draft.mappings = mappings(&top)
    top.finish(&mistakes)
    return draft
  }

  private mutating func enumeration(_ json: JSON, _ path: String) -> ModelDraft.Enumeration {
    var fields = JSONObjectReader(json, path: path, in: &mistakes)
    var cases = [String]()
    for (item, path) in fields.array("cases", required: true) {
      guard let name = item.stringValue, JSONObjectReader.isName(name) else {
        fields.mistakes.append(.init(path: path, reason: "must be a name: a letter, then letters, digits or _"))
        continue
      }
      if cases.contains(name) { fields.mistakes.append(.init(path: path, reason: "\"\(name)\" appears here twice")) }
      cases.append(name)
    }
    let enumeration = ModelDraft.Enumeration(
      name: fields.name("name"), documentation: fields.text("documentation"), path: path, cases: cases)
    fields.finish(&mistakes)
    return enumeration
  }

  private mutating func entity(_ json: JSON, _ path: String) -> ModelDraft.Entity {
    var fields = JSONObjectReader(json, path: path, in: &mistakes)
    var entity = ModelDraft.Entity(
      name: fields.name("name"), documentation: fields.text("documentation"), path: path,
      isAbstract: fields.bool("abstract"), parent: fields.string("parent"), attributes: [], relationships: [],
      unique: [], rules: [])
    for (item, path) in fields.array("attributes") { entity.attributes.append(attribute(item, path)) }
    for (item, path) in fields.array("relationships") { entity.relationships.append(relationship(item, path)) }
    for (item, path) in fields.array("unique") {
      guard let names = item.arrayValue?.compactMap(\.stringValue), !names.isEmpty,
        names.count == item.arrayValue?.count
      else {
        fields.mistakes.append(.init(path: path, reason: "must be a list of property names"))
        continue
      }
      entity.unique.append(names)
    }
    for (item, path) in fields.array("rules") { entity.rules.append(rule(item, path)) }
    entity.renamed = fields.earlierName()
    entity.scope = fields.string("scope")
    entity.access = access(&fields, path)
    fields.finish(&mistakes)
    return entity
  }

  mutating func attribute(_ json: JSON, _ path: String) -> ModelDraft.Attribute {
    var fields = JSONObjectReader(json, path: path, in: &mistakes)
    let type = fields.attributeType()
    var attribute = ModelDraft.Attribute(
      name: fields.name("name"), documentation: fields.text("documentation"), path: path,
      isOptional: fields.bool("optional"),
      kind: type ?? .string, isComposite: type == nil, composite: fields.string("composite"),
      enumeration: fields.string("enumeration"), json: json,
      minimumLength: fields.integer("minimumLength"), maximumLength: fields.integer("maximumLength"),
      pattern: fields.string("pattern"), assignment: fields.choice("assigned"),
      isIndexed: fields.bool("indexed"),
      isFullText: fields.bool("fullText"), isTransient: fields.bool("transient"),
      derived: fields.string("derived"))
    attribute.renamed = fields.earlierName()
    for name in ["default", "minimum", "maximum"] { fields.use(name) }
    fields.finish(&mistakes)
    return attribute
  }

  private mutating func relationship(_ json: JSON, _ path: String) -> ModelDraft.Relationship {
    var fields = JSONObjectReader(json, path: path, in: &mistakes)
    var relationship = ModelDraft.Relationship(
      name: fields.name("name"), documentation: fields.text("documentation"), path: path,
      isOptional: fields.bool("optional", default: true), destination: fields.text("destination", required: true),
      inverse: fields.text("inverse", required: true), isToMany: fields.bool("toMany"),
      deleteRule: fields.choice("deleteRule") ?? .nullify, minimumCount: fields.integer("minimumCount"),
      maximumCount: fields.integer("maximumCount"))
    relationship.isOrdered = fields.bool("ordered")
    relationship.renamed = fields.earlierName()
    fields.finish(&mistakes)
    return relationship
  }
}

/// Reads the members of one JSON object and collects mistakes; `finish` reports unknown members.
struct JSONObjectReader {
  private let json: JSON
  private let path: String
  private var used = Set<String>()
  var mistakes = [ModelError.Problem]()

  init(_ json: JSON, path: String, in mistakes: inout [ModelError.Problem]) {
    self.json = json
    self.path = path
    if json.members == nil { self.mistakes.append(.init(path: path, reason: "must be an object")) }
  }

  /// Whether the text is a letter, followed by letters, digits or underscores, with at most 64 bytes.
  static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= 64 else { return false }
    func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }
    return isLetter(first) && text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
  }

  mutating func use(_ name: String) { used.insert(name) }

  mutating func value<T>(_ name: String, required: Bool, _ kind: String, _ read: (JSON) -> T?) -> T? {
    used.insert(name)
    guard let member = json[name], member != .null else {
      if required, json.members != nil { report(name, "is missing") }
      return nil
    }
    guard let value = read(member) else {
      report(name, "must be \(kind)")
      return nil
    }
    return value
  }

  mutating func string(_ name: String, required: Bool = false) -> String? {
    value(name, required: required, "a string", \.stringValue)
  }

  /// The text of a member; empty if it is missing, which is reported for a required one.
  mutating func text(_ name: String, required: Bool = false) -> String {
    if let text = string(name, required: required) { text } else { "" }
  }

  /// A required name; empty if it is missing or invalid, which is reported.
  mutating func name(_ name: String) -> String {
    guard let text = string(name, required: true) else { return "" }
    guard Self.isName(text) else {
      report(name, "\"\(text.excerpt)\" is not a name: a letter, then letters, digits or _, at most 64")
      return ""
    }
    return text
  }

  mutating func bool(_ name: String, default absent: Bool = false) -> Bool {
    if let value = value(name, required: false, "true or false", \.boolValue) { value } else { absent }
  }

  mutating func integer(_ name: String, from least: Int64 = 0, required: Bool = false) -> Int? {
    value(name, required: required, "a whole number from \(least) to 1000000000") { json in
      json.integerValue.flatMap { (least...1_000_000_000).contains($0) ? Int($0) : nil }
    }
  }

  mutating func choice<Choice: RawRepresentable & CaseIterable>(_ name: String, required: Bool = false) -> Choice?
  where Choice.RawValue == String {
    let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    return value(name, required: required, "one of \(choices)") { json in
      Choice.allCases.first { $0.rawValue == json.stringValue }
    }
  }

  /// The attribute's type; nil for a composite, and for an unknown type, which is reported.
  mutating func attributeType() -> Attribute.Kind? {
    let choices = (Attribute.Kind.allCases.map(\.rawValue) + ["composite"]).joined(separator: ", ")
    return value("type", required: true, "one of \(choices)") { json -> Attribute.Kind?? in
      guard let name = json.stringValue else { return nil }
      return name == "composite" ? .some(nil) : Attribute.Kind(rawValue: name).map { .some($0) }
    } ?? nil
  }

  mutating func array(_ name: String, required: Bool = false) -> [(JSON, String)] {
    guard let items = value(name, required: required, "a list", \.arrayValue) else { return [] }
    return items.enumerated().map { ($1, "\(prefix)\(name)[\($0)]") }
  }

  private var prefix: String { path.isEmpty ? "" : path + "." }

  mutating func report(_ name: String, _ reason: String) {
    mistakes.append(.init(path: prefix + name, reason: reason))
  }

  mutating func finish(_ all: inout [ModelError.Problem]) {
    if let members = json.members {
      let valid = used.filter { !$0.hasPrefix("$") }.sorted().joined(separator: ", ")
      for member in members where !used.contains(member.name) {
        report(member.name, "is not a valid member here; there are \(valid)")
      }
    }
    all += mistakes
  }
}
