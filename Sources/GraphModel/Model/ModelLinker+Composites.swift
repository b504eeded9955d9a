extension ModelDraft {
  struct Composite {
    var name, documentation, path: String
    var attributes: [Attribute]
  }

  /// An attribute of type `composite`, after it was replaced by its members.
  struct CompositeAttribute {
    var name, composite, documentation, path: String
    var isOptional: Bool
    /// The members' names in the entity: `home.street`.
    var members: [String]
  }
}

extension ModelReader {
  mutating func composite(_ json: JSON, _ path: String) -> ModelDraft.Composite {
    var fields = JSONObjectReader(json, path: path, in: &mistakes)
    var composite = ModelDraft.Composite(
      name: fields.name("name"), documentation: fields.text("documentation"), path: path, attributes: [])
    for (item, path) in fields.array("attributes", required: true) {
      composite.attributes.append(attribute(item, path))
    }
    fields.finish(&mistakes)
    return composite
  }
}

/// Composites are flattened before all other linking, so that members are ordinary attributes in all later steps.
extension ModelLinker {
  /// Checks the composites themselves, so that each mistake is reported only once.
  mutating func checkComposites() {
    guard draft.composites.count <= Self.maximumCount else {
      return report("composites", "a model has at most \(Self.maximumCount) composites")
    }
    // Entities, enumerations and composites all become generated types.
    var taken = Set((draft.entities.map(\.name) + draft.enumerations.map(\.name)).map { $0.lowercased() })
    for composite in draft.composites {
      if !taken.insert(composite.name.lowercased()).inserted {
        report(
          composite.path + ".name",
          "another composite, entity or enumeration is called \"\(composite.name)\" (case does not count)")
      }
      compositesByName[composite.name] = composite
      if composite.attributes.isEmpty {
        report(composite.path + ".attributes", "a composite needs at least one attribute")
      }
      checkMembers(of: composite)
    }
  }

  private mutating func checkMembers(of composite: ModelDraft.Composite) {
    var seen = [String: String]()
    for attribute in composite.attributes {
      if let other = seen.updateValue(attribute.path, forKey: attribute.name.lowercased()) {
        report(attribute.path + ".name", "\"\(attribute.name)\" is already used by \(other) (case does not count)")
      }
      checkWord(attribute.name, path: attribute.path)
      if attribute.isComposite {
        report(attribute.path + ".type", "a composite can't contain a composite")
        continue
      }
      checkAttribute(attribute)
      if attribute.assignment != nil {
        report(attribute.path + ".assigned", "the server can't assign a member of a composite")
      }
      if attribute.derived != nil { report(attribute.path + ".derived", "a member of a composite can't be derived") }
    }
  }

  /// Checks attributes of type `composite`, and that their names don't collide with the table's other names.
  mutating func checkCompositeAttributes(of entity: ModelDraft.Entity) {
    for attribute in entity.attributes where !attribute.isComposite && attribute.composite != nil {
      report(attribute.path + ".composite", "is only allowed for the type composite")
    }
    let composites = entity.attributes.filter(\.isComposite)
    guard !composites.isEmpty else { return }
    // A subentity's columns have its name as prefix, and unique keys have names of their own.
    let root = lineage(of: entity)[0].name
    let taken = draft.entities.filter { lineage(of: $0)[0].name == root }.map { $0.name.lowercased() } + ["unique"]
    for attribute in composites {
      if let name = attribute.composite {
        if composite(of: attribute) == nil {
          report(attribute.path + ".composite", "there is no composite \"\(name)\"")
        }
      } else {
        report(attribute.path + ".composite", "is missing")
      }
      guard let members = attribute.json.members else { continue }
      for member in members
      where member.value != .null && !Self.membersOfCompositeAttributes.contains(member.name) {
        report("\(attribute.path).\(member.name)", "is not allowed for the type composite; its attributes may have it")
      }
      if taken.contains(attribute.name.lowercased()) {
        report(
          attribute.path + ".name", "\"\(attribute.name)\" can't be the name of a composite here: the table uses it")
      }
    }
  }

  private static let membersOfCompositeAttributes: Set = [
    "name", "type", "documentation", "optional", "composite", "renamed",
  ]

  /// The number of properties that an entity declares, with each member of a composite counted.
  func propertyCount(of entity: ModelDraft.Entity) -> Int {
    entity.attributes.reduce(entity.relationships.count) { count, attribute in
      guard attribute.isComposite, let composite = composite(of: attribute) else { return count + 1 }
      return count + composite.attributes.count
    }
  }

  private func composite(of attribute: ModelDraft.Attribute) -> ModelDraft.Composite? {
    attribute.composite.flatMap { compositesByName[$0] }
  }

  /// Replaces composite attributes by their members. Must follow the checks of all composites and of the property
  /// count.
  mutating func flattenComposites() {
    for index in draft.entities.indices {
      var attributes = [ModelDraft.Attribute]()
      for attribute in draft.entities[index].attributes {
        guard attribute.isComposite, let composite = composite(of: attribute) else {
          attributes.append(attribute)
          continue
        }
        let members = composite.attributes.map { member in
          var flat = member
          flat.name = "\(attribute.name).\(member.name)"
          if attribute.renamed != nil || member.renamed != nil {
            flat.renamed = "\(attribute.renamed ?? attribute.name).\(member.renamed ?? member.name)"
          }
          flat.isMember = true
          flat.isOptional = member.isOptional || attribute.isOptional
          return flat
        }
        attributes += members
        draft.entities[index].composites.append(
          ModelDraft.CompositeAttribute(
            name: attribute.name, composite: composite.name, documentation: attribute.documentation,
            path: attribute.path, isOptional: attribute.isOptional, members: members.map(\.name)))
      }
      draft.entities[index].attributes = attributes
      byName[draft.entities[index].name] = draft.entities[index]
    }
  }

  // MARK: - Linked

  /// The composite attributes of a lineage, inherited ones first.
  func linkedComposites(
    of line: [ModelDraft.Entity], _ properties: [Property], owner: (String) -> EntityNumber
  ) -> [CompositeAttribute] {
    line.flatMap { entity in
      entity.composites.map { composite in
        CompositeAttribute(
          name: composite.name, composite: composite.composite, documentation: composite.documentation,
          owner: owner(entity.name), isOptional: composite.isOptional,
          members: composite.members.compactMap { name in properties.first { $0.name == name }?.number })
      }
    }
  }

  /// The composites, in the order of the file.
  func composites() -> [Composite] {
    draft.composites.map { composite in
      Composite(
        name: composite.name, documentation: composite.documentation,
        members: composite.attributes.map { member in
          Composite.Member(
            name: member.name, documentation: member.documentation, isOptional: member.isOptional,
            attribute: linkedAttribute(member))
        })
    }
  }
}
