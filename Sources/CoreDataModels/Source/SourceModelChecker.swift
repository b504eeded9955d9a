import GraphModel

/// Finds mistakes in a Core Data model that momc, Xcode's compiler of models, would refuse or that have no definite
/// meaning. Later steps rely on its checks: names refer to existing parts, and parents have no cycle.
struct SourceModelChecker {
  private let model: CoreDataModel
  private var log: SourceLog
  private var entities = [String: CoreDataModel.Entity]()

  static func check(_ model: CoreDataModel, _ log: inout SourceLog) {
    // Missing names would repeat themselves as missing parts.
    guard log.mistakes.isEmpty else { return }
    var checker = SourceModelChecker(model: model, log: log)
    checker.run()
    log = checker.log
  }

  private init(model: CoreDataModel, log: SourceLog) { (self.model, self.log) = (model, log) }

  /// The maximum number of entities, and of properties that an entity declares, as in a model file.
  private static let maximumCount = 1_000

  private mutating func run() {
    guard model.entities.count <= Self.maximumCount, model.composites.count <= Self.maximumCount else {
      return log.mistake(model.place, "the model has more than \(Self.maximumCount) entities or composites")
    }
    if model.entities.isEmpty { log.mistake(model.place, "the model has no entity; give a model with entities") }
    for entity in model.entities {
      if let other = entities.updateValue(entity, forKey: entity.name) {
        log.mistake(
          entity.place,
          "the entity \(entity.name) is declared twice, first in line \(other.place.line); remove one")
      }
    }
    for entity in model.entities { checkParents(of: entity) }
    var composites = [String: SourcePlace]()
    for composite in model.composites {
      if let other = composites.updateValue(composite.place, forKey: composite.name) {
        log.mistake(
          composite.place,
          "the composite \(composite.name) is declared twice, first in line \(other.line); remove one")
      }
    }
    guard log.mistakes.isEmpty else { return }
    for entity in model.entities {
      checkProperties(of: entity)
      for attribute in entity.attributes { checkType(of: attribute, in: entity.name) }
      for relationship in entity.relationships { checkEnds(of: relationship, in: entity) }
      checkConstraints(of: entity)
    }
    for composite in model.composites {
      for attribute in composite.attributes { checkType(of: attribute, in: composite.name) }
    }
    for request in model.fetchRequests where entities[request.entity] == nil {
      log.mistake(
        request.place, "the fetch request \(request.name) is for \(request.entity), but there is no such entity")
    }
  }

  private mutating func checkParents(of entity: CoreDataModel.Entity) {
    var seen: Set = [entity.name]
    var current = entity
    while let parent = current.parent {
      guard let next = entities[parent] else {
        if current.name == entity.name {
          log.mistake(entity.place, "the parent of \(entity.name) is \(parent), but there is no such entity")
        }
        return
      }
      guard seen.insert(parent).inserted else {
        return log.mistake(
          entity.place, "\(entity.name) inherits from itself through \(current.name); give one of them another parent")
      }
      current = next
    }
  }

  private mutating func checkProperties(of entity: CoreDataModel.Entity) {
    var seen = [String: String]()
    for ancestor in model.lineage(of: entity).dropFirst() {
      for name in ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name) { seen[name] = ancestor.name }
    }
    if entity.attributes.count + entity.relationships.count > Self.maximumCount {
      log.mistake(entity.place, "\(entity.name) has more than \(Self.maximumCount) properties")
    }
    let own = entity.attributes.map { ($0.name, $0.place) } + entity.relationships.map { ($0.name, $0.place) }
    for (name, place) in own {
      if let other = seen.updateValue(entity.name, forKey: name) {
        log.mistake(place, "\(entity.name) declares \(name), which \(other) has already; remove one")
      }
    }
  }

  private mutating func checkType(of attribute: CoreDataModel.Attribute, in owner: String) {
    guard let type = attribute.type else { return }
    let subject = "\(owner).\(attribute.name)"
    guard SourceType(rawValue: type) != nil else {
      let known = SourceType.allCases.map(\.rawValue).joined(separator: ", ")
      return log.mistake(
        attribute.place, "\(subject) has the type \"\(type.excerpt)\", which is not one of \(known)")
    }
    guard type == SourceType.composite.rawValue else { return }
    guard let name = attribute.composite else {
      return log.mistake(attribute.place, "\(subject) is a composite, but names none")
    }
    if !model.composites.contains(where: { $0.name == name }) {
      log.mistake(attribute.place, "\(subject) is a \(name), but there is no such composite")
    }
  }

  private mutating func checkEnds(of relationship: CoreDataModel.Relationship, in entity: CoreDataModel.Entity) {
    let subject = "\(entity.name).\(relationship.name)"
    guard let destination = entities[relationship.destination] else {
      return log.mistake(
        relationship.place, "\(subject) leads to \(relationship.destination), but there is no such entity")
    }
    if let rule = relationship.deleteRule, SourceModel.deleteRules[rule] == nil {
      log.mistake(
        relationship.place,
        "\(subject) has the delete rule \"\(rule.excerpt)\", which is not one of "
          + SourceModel.deleteRules.keys.sorted().joined(separator: ", "))
    }
    guard let name = relationship.inverse else { return }
    guard let (owner, inverse) = model.inverse(of: relationship) else {
      return log.mistake(
        relationship.place,
        "the inverse of \(subject) is \(destination.name).\(name), but there is no such relationship; choose one of "
          + "\(destination.name), or none")
    }
    let back = model.lineage(of: entity).map(\.name) + model.descendants(of: entity.name)
    if inverse.inverse != relationship.name || !back.contains(inverse.destination) {
      log.mistake(
        relationship.place,
        "the inverse of \(subject) is \(owner.name).\(name), whose own inverse is "
          + "\(inverse.inverse.map { "\(inverse.destination).\($0)" } ?? "missing"); make each the inverse of the other"
      )
    }
  }

  private mutating func checkConstraints(of entity: CoreDataModel.Entity) {
    let known = Set(
      model.lineage(of: entity).flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
    func first(_ name: String) -> String { String(name.prefix { $0 != "." }) }
    for (names, place) in entity.unique {
      if names.isEmpty { log.mistake(place, "a uniqueness constraint of \(entity.name) names no property; remove it") }
      for name in names where !known.contains(first(name)) {
        log.mistake(
          place, "a uniqueness constraint of \(entity.name) names \(name.excerpt), but there is no such property")
      }
    }
    for index in entity.indexes {
      for element in index.elements {
        guard let name = element.property, !known.contains(first(name)) else { continue }
        log.mistake(
          element.place, "an index of \(entity.name) names \(name.excerpt), but there is no such property")
      }
    }
  }
}

/// The types of attributes, as Xcode writes them.
enum SourceType: String, CaseIterable {
  case integer16 = "Integer 16"
  case integer32 = "Integer 32"
  case integer64 = "Integer 64"
  case decimal = "Decimal"
  case double = "Double"
  case float = "Float"
  case string = "String"
  case boolean = "Boolean"
  case date = "Date"
  case binary = "Binary"
  case uuid = "UUID"
  case uri = "URI"
  case transformable = "Transformable"
  case composite = "Composite"
  case objectID = "ObjectID"
  case undefined = "Undefined"
}

/// Tables of the source format.
enum SourceModel {
  /// The delete rules as Xcode writes them, and as a model file does.
  static let deleteRules = ["Nullify": "nullify", "Cascade": "cascade", "Deny": "deny", "No Action": "noAction"]
}

extension CoreDataModel {
  /// The entities that inherit from an entity, at any depth.
  func descendants(of name: String) -> [String] {
    entities.filter { entity in entity.name != name && lineage(of: entity).contains { $0.name == name } }.map(\.name)
  }

  /// The relationship that leads back, and the entity that declares it: the destination or an ancestor. Nil if the
  /// model has none.
  func inverse(of relationship: Relationship) -> (owner: Entity, relationship: Relationship)? {
    guard let name = relationship.inverse,
      let start = entity(named: relationship.inverseEntity ?? relationship.destination)
    else { return nil }
    for entity in lineage(of: start) {
      if let found = entity.relationships.first(where: { $0.name == name }) { return (entity, found) }
    }
    return nil
  }
}
