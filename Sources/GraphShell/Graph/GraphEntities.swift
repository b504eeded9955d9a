import ArgumentParser
import GraphModel

struct GraphEntities: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "entities", abstract: "List the entities of the model, or the properties and rules of one entity.")

  @OptionGroup var options: CommonOptions
  @Argument(help: "The entity to describe; default: a list of all.")
  var entity: String?

  @MainActor
  func run() async throws {
    try await options.withGraph { shell in
      let description = ModelDescription(model: shell.model)
      if let entity {
        let entity = try shell.known(entity)
        if shell.output.json { return shell.output.print(description.json(entity)) }
        return shell.output.print(description.text(entity))
      }
      shell.output.json ? shell.output.print(description.json) : shell.output.print(description.text)
    }
  }
}

/// Describes a model to users, and to programs that can't read model files. Members have the model file's names.
struct ModelDescription {
  let model: Model

  private func name(_ entity: EntityNumber) -> String { model.ownEntity(entity).name }

  private func names(_ constraint: [PropertyNumber]) -> [String] { constraint.map { model.ownProperty($0).name } }

  // MARK: - JSON

  var json: JSON {
    .object([
      .init("name", .string(model.name)), .init("version", .integer(Int64(model.version))),
      .init("hash", .string(model.hash.description)), .init("documentation", .string(model.documentation)),
      .init(
        "enumerations",
        .array(
          model.enumerations.map { enumeration in
            .object([
              .init("name", .string(enumeration.name)), .init("documentation", .string(enumeration.documentation)),
              .init("cases", .array(enumeration.cases.map(JSON.string))),
            ])
          })),
      .init("entities", .array(model.entities.map(json))),
      .init("fetchRequests", .array(model.fetchRequests.map(json))),
    ])
  }

  private func json(_ template: FetchTemplate) -> JSON {
    .object([
      .init("name", .string(template.name)), .init("entity", .string(name(template.entity))),
      .init("predicate", .string(template.predicate)), .init("sort", .string(template.sort)),
      .init("limit", template.limit.map { .integer(Int64($0)) } ?? .null),
      .init("variables", .array(template.variables.map(JSON.string))),
      .init("documentation", .string(template.documentation)),
    ])
  }

  private func json(_ rule: EntityRule) -> JSON {
    .object([
      .init("name", .string(rule.name)), .init("predicate", .string(rule.predicate)),
      .init("message", .string(rule.message)), .init("declaredBy", .string(name(rule.owner))),
      .init("documentation", .string(rule.documentation)),
    ])
  }

  func json(_ entity: Entity) -> JSON {
    .object([
      .init("name", .string(entity.name)), .init("parent", entity.parent.map { .string(name($0)) } ?? .null),
      .init("abstract", .bool(entity.isAbstract)), .init("documentation", .string(entity.documentation)),
      .init("attributes", .array(entity.attributes.map(json))),
      .init("relationships", .array(entity.relationships.map(json))),
      .init(
        "unique", .array(entity.uniquenessConstraints.map { .array(names($0).map(JSON.string)) })),
      .init("rules", .array(model.rules(of: entity.number).map(json))),
    ])
  }

  private func json(_ property: Property) -> JSON {
    var members = [JSON.Member("name", .string(property.name))]
    func add(_ name: String, _ value: JSON?) { if let value { members.append(.init(name, value)) } }
    func add(_ name: String, _ number: Int?) { add(name, number.map { JSON.integer(Int64($0)) }) }
    switch property.kind {
    case .attribute(let attribute):
      func value(_ value: Value) -> JSON? { value.isNull ? nil : value.json(kind: attribute.kind) }
      add("type", .string(attribute.kind.rawValue))
      add("optional", .bool(property.isOptional))
      add("default", value(attribute.defaultValue))
      add("minimum", value(attribute.minimum))
      add("maximum", value(attribute.maximum))
      add("minimumLength", attribute.minimumLength)
      add("maximumLength", attribute.maximumLength)
      add("pattern", attribute.pattern.map(JSON.string))
      add("enumeration", attribute.enumeration.map(JSON.string))
      if attribute.kind == .enumeration { add("cases", .array(attribute.cases.map(JSON.string))) }
      add("assigned", attribute.assignment.map { .string($0.rawValue) })
      add("derived", attribute.derivation.map { .string($0.text) })
      add("transient", .bool(attribute.isTransient))
      add("indexed", .bool(attribute.isIndexed))
      add("fullText", .bool(attribute.isFullText))
    case .relationship(let relationship):
      add("destination", .string(model.destination(of: relationship).name))
      add("inverse", .string(model.inverse(of: relationship).name))
      add("toMany", .bool(relationship.isToMany))
      add("ordered", .bool(relationship.isOrdered))
      add("optional", .bool(property.isOptional))
      add("deleteRule", .string(relationship.deleteRule.rawValue))
      add("minimumCount", relationship.minimumCount)
      add("maximumCount", relationship.maximumCount)
      add("stored", .bool(property.slot != nil))
    }
    add("declaredBy", .string(model.owner(of: property).name))
    add("documentation", .string(property.documentation))
    return .object(members)
  }

  // MARK: - Text

  var text: String {
    var table = TextTable(["ENTITY", "PARENT", "ABSTRACT", "DOCUMENTATION"])
    for entity in model.entities {
      let parent = if let number = entity.parent { name(number) } else { "" }
      table.append([
        entity.name, parent, entity.isAbstract ? "yes" : "",
        TextTable.firstLine(entity.documentation),
      ])
    }
    var requests = TextTable(["FETCH REQUEST", "ENTITY", "PREDICATE", "SORT", "DOCUMENTATION"])
    for template in model.fetchRequests {
      requests.append([
        template.name, name(template.entity), TextTable.visible(template.predicate), template.sort,
        TextTable.firstLine(template.documentation),
      ])
    }
    return [table.text(), requests.text(width: .max)].filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  func text(_ entity: Entity) -> String {
    var head = entity.name
    if let parent = entity.parent { head += ": \(name(parent))" }
    if entity.isAbstract { head += " (abstract)" }
    if !entity.documentation.isEmpty { head += "\n" + lines(entity.documentation) }
    var parts = [head]
    var attributes = TextTable(["ATTRIBUTE", "TYPE", "RULES", "DOCUMENTATION"])
    for property in entity.attributes {
      guard let attribute = property.attribute else {
        preconditionFailure("an attribute has its details: \(property.name)")
      }
      let type = attribute.enumeration.map { "\(attribute.kind.rawValue) \($0)" } ?? attribute.kind.rawValue
      attributes.append([
        property.name, type, rules(property, attribute).joined(separator: ", "),
        TextTable.firstLine(property.documentation),
      ])
    }
    var relationships = TextTable(["RELATIONSHIP", "TO", "INVERSE", "RULES", "DOCUMENTATION"])
    for property in entity.relationships {
      guard let relationship = property.relationship else {
        preconditionFailure("a relationship has its details: \(property.name)")
      }
      relationships.append([
        property.name, (relationship.isToMany ? "many " : "one ") + model.destination(of: relationship).name,
        model.inverse(of: relationship).name, rules(property, relationship).joined(separator: ", "),
        TextTable.firstLine(property.documentation),
      ])
    }
    parts += [attributes.text(width: .max), relationships.text(width: .max)].filter { !$0.isEmpty }
    let unique = entity.uniquenessConstraints.map { names($0).joined(separator: " and ") }
    if !unique.isEmpty { parts.append("unique: " + unique.joined(separator: "; ")) }
    var entityRules = TextTable(["RULE", "PREDICATE", "MESSAGE"])
    for rule in model.rules(of: entity.number) {
      entityRules.append([rule.name, TextTable.visible(rule.predicate), TextTable.firstLine(rule.message)])
    }
    if !entityRules.text().isEmpty { parts.append(entityRules.text(width: .max)) }
    return parts.joined(separator: "\n\n")
  }

  private func lines(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { TextTable.visible(String($0)) }.joined(separator: "\n")
  }

  private func rules(_ property: Property, _ attribute: Attribute) -> [String] {
    func text(_ value: Value) -> String { TextTable.visible(value.json(kind: attribute.kind).text) }
    func range(_ low: String?, _ high: String?, _ unit: String) -> [String] {
      switch (low, high) {
      case (let low?, let high?): ["\(low) to \(high)\(unit)"]
      case (let low?, nil): ["at least \(low)\(unit)"]
      case (nil, let high?): ["at most \(high)\(unit)"]
      case (nil, nil): []
      }
    }
    var rules = [String]()
    if let assignment = attribute.assignment {
      rules.append("set by the daemon (\(assignment.rawValue))")
    } else if let derivation = attribute.derivation {
      rules.append("derived: \(TextTable.visible(derivation.text))")
    } else {
      rules.append(property.isOptional ? "optional" : "required")
    }
    if !attribute.defaultValue.isNull { rules.append("default \(text(attribute.defaultValue))") }
    rules += range(
      attribute.minimum.isNull ? nil : text(attribute.minimum),
      attribute.maximum.isNull ? nil : text(attribute.maximum), "")
    rules += range(attribute.minimumLength.map(String.init), attribute.maximumLength.map(String.init), " bytes")
    if let pattern = attribute.pattern { rules.append("matches \(TextTable.visible(pattern))") }
    if attribute.kind == .enumeration { rules.append(attribute.cases.joined(separator: " | ")) }
    if attribute.isIndexed { rules.append("indexed") }
    if attribute.isFullText { rules.append("full text") }
    if attribute.isTransient { rules.append("transient") }
    return rules
  }

  private func rules(_ property: Property, _ relationship: Relationship) -> [String] {
    var rules = [String]()
    if !relationship.isToMany { rules.append(property.isOptional ? "optional" : "required") }
    rules.append("delete rule \(relationship.deleteRule.rawValue)")
    if let minimum = relationship.minimumCount { rules.append("at least \(minimum)") }
    if let maximum = relationship.maximumCount { rules.append("at most \(maximum)") }
    if relationship.isOrdered { rules.append("ordered") }
    if property.slot == nil { rules.append("stored at the other end") }
    return rules
  }
}
