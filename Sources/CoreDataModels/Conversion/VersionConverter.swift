import GraphModel

/// Converts one version of a Core Data model into our format's terms, and reports every difference.
struct VersionConverter {
  let model: CoreDataModel
  var log: SourceLog
  var draft: VersionDraft

  static func convert(
    _ model: CoreDataModel, number: Int, name: String, _ log: inout SourceLog
  ) -> VersionDraft {
    var documentation = "Converted from the Core Data model \(name)"
    if !model.versionIdentifier.isEmpty { documentation += ", version identifier \(model.versionIdentifier)" }
    let draft = VersionDraft(
      number: number, sourceName: name, documentation: documentation + ".", place: model.place)
    var converter = VersionConverter(model: model, log: log, draft: draft)
    converter.run()
    log = converter.log
    return converter.draft
  }

  private mutating func run() {
    for composite in model.composites {
      let attributes = composite.attributes.flatMap { member(of: composite, $0, outer: [composite.name]) }
      if attributes.isEmpty {
        log.leaveOut(composite.place, composite.name, "a composite without attributes")
      } else {
        draft.composites.append(
          CompositeDraft(
            source: composite.name, identifier: composite.renamingIdentifier, attributes: attributes,
            place: composite.place))
      }
    }
    for entity in model.entities {
      var converted = EntityDraft(
        source: entity.name, parent: entity.parent, isAbstract: entity.isAbstract,
        identifier: entity.renamingIdentifier, place: entity.place)
      for attribute in entity.attributes {
        if let attribute = self.attribute(attribute, in: entity.name) { converted.attributes.append(attribute) }
      }
      for relationship in entity.relationships {
        converted.relationships.append(self.relationship(relationship, in: entity))
      }
      converted.unique = entity.unique
      draft.entities.append(converted)
    }
    addInverses()
    keepOneOrder()
    removeMissingParts()
    for entity in model.entities {
      for index in entity.indexes { convert(index, of: entity) }
    }
    for request in model.fetchRequests {
      draft.fetchRequests.append(
        FetchRequestDraft(
          source: request.name, entity: request.entity, predicate: request.predicate, limit: request.limit,
          place: request.place))
    }
  }

  // MARK: - Constraints and indexes

  /// Removes keys over properties that the conversion has left out.
  private mutating func removeMissingParts() {
    for index in draft.entities.indices {
      let entity = draft.entities[index]
      let properties = draft.lineage(of: entity.source).flatMap {
        $0.attributes.filter { !$0.has("transient") }.map(\.source) + $0.relationships.map(\.source)
      }
      draft.entities[index].unique.removeAll { names, place in
        let missing = names.first { name in !properties.contains(String(name.prefix { $0 != "." })) }
        guard let missing else { return false }
        log.leaveOut(
          place, entity.source,
          "the uniqueness constraint \(names.joined(separator: ", ")): \(missing) is not stored")
        return true
      }
    }
  }

  /// An index has one attribute here: the first one of the source's index.
  private mutating func convert(_ index: CoreDataModel.Index, of entity: CoreDataModel.Entity) {
    var first: String?
    var others = [String]()
    for element in index.elements {
      if let expression = element.expression {
        log.leaveOut(
          element.place, entity.name,
          "an index of the expression \(expression.excerpt(of: 200)); an indexed derived attribute does the same")
        continue
      }
      guard let name = element.property else { continue }
      if element.type == "RTree" {
        log.leaveOut(element.place, entity.name, "an RTree index of \(name)")
        continue
      }
      if first != nil {
        others.append(name)
      } else if setIndexed(name, of: entity, at: element.place) {
        first = name
      }
    }
    guard let first, !others.isEmpty else { return }
    log.add(
      .changed, index.place, entity.name,
      "an index has one attribute: \(first) is indexed, the index does not contain \(others.joined(separator: ", "))")
  }

  /// Marks an attribute as indexed.
  /// - Returns: whether the property has an index now.
  private mutating func setIndexed(
    _ name: String, of entity: CoreDataModel.Entity, at place: SourcePlace
  ) -> Bool {
    for owner in draft.lineage(of: entity.name) {
      if let relationship = owner.relationships.first(where: { $0.source == name }) {
        // A to-one always has an index.
        if relationship.isToMany {
          log.leaveOut(place, entity.name, "an index of the to-many \(name), which is not a column")
        }
        return !relationship.isToMany
      }
      guard let (index, number) = location(of: name, in: owner.source) else { continue }
      let attribute = draft.entities[index].attributes[number]
      if attribute.has("transient") || attribute.composite != nil {
        log.leaveOut(place, entity.name, "an index of \(name), which is not a stored value")
        return false
      }
      if !attribute.has("indexed") { draft.entities[index].attributes[number].set("indexed", .bool(true)) }
      if owner.source != entity.name {
        log.add(
          .changed, place, entity.name, "\(name) is indexed for all objects of \(owner.source), which declares it")
      }
      return true
    }
    log.leaveOut(place, entity.name, "an index of \(name), which is not a stored attribute")
    return false
  }

  private func location(of attribute: String, in entity: String) -> (entity: Int, attribute: Int)? {
    guard let index = draft.entities.firstIndex(where: { $0.source == entity }),
      let number = draft.entities[index].attributes.firstIndex(where: { $0.source == attribute })
    else { return nil }
    return (index, number)
  }
}
