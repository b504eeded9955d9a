import CoreDataNames

/// The names of a version's parts in earlier versions and in the app.
///
/// `renamed` states the last earlier name in the model files. The version that renames a part needs it for the
/// migration. The versions after it repeat it, because the mapping of an import may have the names of any earlier
/// version. A migration ignores a repeated name, unless the version before has another part of that name; then the name
/// is not repeated.
struct EarlierNames {
  /// The names for `renamed` by the entity's name in the source.
  var entities = [String: String]()
  /// The names for `renamed` by `Entity.property` in the source.
  var properties = [String: String]()
  /// The names for `renamed` of the attributes of composites by ``CompositeDraft/part(_:)``.
  var members = [String: String]()
  /// The names in the app by the same keys, of the parts that need a sentence about them.
  var app = [String: AppNames]()
}

/// A part of a version and its predecessors, newest first.
private struct NameLine {
  struct Part {
    /// The name in the app.
    let source: String
    /// The name in the model file.
    let name: String
  }

  let parts: [Part]

  init(_ parts: [Part]) {
    precondition(!parts.isEmpty, "a line begins with the part itself")
    self.parts = parts
  }

  /// The last different name; nil if there is none, or if it can't be repeated.
  /// - Parameters:
  ///   - taken: the names in the version before, and the present ones.
  ///   - isRepeated: whether a name from before that version may be stated.
  func earlierName(_ taken: Set<String>, isRepeated: Bool = true) -> String? {
    guard let part = parts.first(where: { $0.name != parts[0].name }) else { return nil }
    if part.name == parts[1].name { return part.name }
    return isRepeated && !taken.contains(part.name) ? part.name : nil
  }

  /// The names in the app; nil if the part has the same name there in all versions.
  /// - Parameter all: the names, the present one first.
  func appNames(_ all: [String]) -> AppNames? {
    let names = AppNames(all)
    return names.names == [parts[0].name] ? nil : names
  }
}

extension VersionLinker {
  /// The names that the model file of a version states.
  func earlierNames(of index: Int) -> EarlierNames {
    var earlier = EarlierNames()
    addMembers(of: index, to: &earlier)
    var taken = Set<String>()
    if index > 0 { taken.formUnion(drafts[index - 1].entities.map { names.entity($0.source, in: index) }) }
    taken.formUnion(drafts[index].entities.map { names.entity($0.source, in: index + 1) })
    for entity in drafts[index].entities {
      let line = line(of: entity, index)
      earlier.entities[entity.source] = line.earlierName(taken)
      earlier.app[entity.source] = line.appNames(
        chain(ofEntity: entity.source, from: index, through: appLinks).map(\.source))
      addProperties(of: entity, index, to: &earlier)
    }
    return earlier
  }

  private func addProperties(of entity: EntityDraft, _ index: Int, to earlier: inout EarlierNames) {
    let new = drafts[index]
    var taken = Set<String>()
    if let before = links[index].entities[entity.source].flatMap({ drafts[index - 1].entity($0) }) {
      let sources = before.attributes.map(\.source) + before.relationships.map(\.source)
      taken.formUnion(sources.map { names.property($0, of: before.source, in: index) })
    }
    let present = entity.attributes.map(\.source) + entity.relationships.map(\.source)
    taken.formUnion(present.map { names.property($0, of: entity.source, in: new.number) })
    let properties: [(source: String, composite: CompositeDraft?, isAdded: Bool)] =
      entity.attributes.map { (source: $0.source, composite: new.composite(of: $0), isAdded: false) }
      + entity.relationships.map { (source: $0.source, composite: nil, isAdded: $0.isAdded) }
    for property in properties {
      let line = line(of: property.source, owner: entity.source, index)
      let part = "\(entity.source).\(property.source)"
      // A member's full name contains both names, of which a migration would need those of one version.
      let name = line.earlierName(taken, isRepeated: property.composite == nil)
      let isStated = property.composite.map { statesNames(of: $0, index) } != false
      earlier.properties[part] = isStated ? name : nil
      // The app does not have an added inverse.
      if !property.isAdded {
        earlier.app[part] = line.appNames(appNames(ofProperty: property.source, of: entity.source, index))
      }
    }
  }

  // MARK: - Composites

  private func addMembers(of index: Int, to earlier: inout EarlierNames) {
    for composite in drafts[index].composites {
      var taken = Set<String>()
      if let owner = links[index].entities[composite.owner],
        let before = drafts[index - 1].composites.first(where: { $0.owner == owner })
      {
        taken.formUnion(before.attributes.map { names.member($0.source, of: before, in: index) })
      }
      taken.formUnion(composite.attributes.map { names.member($0.source, of: composite, in: index + 1) })
      let isStated = statesNames(of: composite, index)
      for member in composite.attributes {
        let part = composite.part(member.source)
        let line = line(of: member.source, owner: composite.owner, index)
        let name = line.earlierName(taken, isRepeated: isStated && hasOneName(composite, index))
        earlier.members[part] = isStated ? name : nil
        let parts = chain(ofProperty: member.source, of: composite.owner, from: index, through: appLinks)
        earlier.app[part] = line.appNames(parts.map(\.source))
      }
    }
  }

  /// Whether `renamed` can state the names that the composite's attributes had in the version before. The attributes of
  /// entities and the members state them separately, so that each full name consists of two names of that version. A
  /// mapping takes the values otherwise: if one of several attributes with this composite is new, or if a renamed one
  /// has a new member.
  private func statesNames(of composite: CompositeDraft, _ index: Int) -> Bool {
    guard index > 0, links[index].entities[composite.owner] != nil else { return false }
    let (old, new) = (drafts[index - 1], drafts[index])
    var isRenamed = false
    for (entity, attribute) in uses(of: composite, index) {
      guard let before = links[index].composite(before: attribute, of: entity, from: old, to: new) else { return false }
      let name = names.property(before.attribute.source, of: before.entity.source, in: old.number)
      if name != names.property(attribute.source, of: entity.source, in: new.number) { isRenamed = true }
    }
    return !isRenamed || composite.attributes.allSatisfy { links[index].properties[composite.part($0.source)] != nil }
  }

  /// Whether the attributes of a composite have the same names in all versions.
  private func hasOneName(_ composite: CompositeDraft, _ index: Int) -> Bool {
    uses(of: composite, index).allSatisfy { entity, attribute in
      let line = line(of: attribute.source, owner: entity.source, index)
      return line.parts.allSatisfy { $0.name == line.parts[0].name }
    }
  }

  /// The attributes of a composite, in entities that the version before has.
  private func uses(of composite: CompositeDraft, _ index: Int) -> [(entity: EntityDraft, attribute: AttributeDraft)] {
    drafts[index].entities.filter { links[index].entities[$0.source] != nil }.flatMap { entity in
      entity.attributes.filter { $0.composite == composite.source }.map { (entity: entity, attribute: $0) }
    }
  }

  // MARK: - Predecessors

  /// The names of a property in the app, also those that it had as one of a parent or of subentities, newest first.
  private func appNames(ofProperty source: String, of entity: String, _ index: Int) -> [String] {
    let parts = chain(ofProperty: source, of: entity, from: index, through: appLinks)
    guard let first = parts.last else { preconditionFailure("a line begins with the part itself") }
    return parts.map(\.source) + movedNames(before: first)
  }

  /// The names in the app that a property had as one of a parent or of subentities.
  /// - Parameter first: the oldest part of its line.
  private func movedNames(before first: (index: Int, entity: String, source: String)) -> [String] {
    guard first.index > 0 else { return [] }
    let (old, new) = (drafts[first.index - 1], drafts[first.index])
    guard let owner = new.entity(first.entity) else { return [] }
    let links = appLinks[first.index]
    var moved = [(entity: String, source: String)]()
    if let attribute = owner.attributes.first(where: { $0.source == first.source }) {
      if let before = links.parentAttribute(before: attribute, of: owner, from: old, to: new) {
        moved.append((before.entity.source, before.attribute.source))
      } else {
        moved += links.childAttributes(before: attribute, of: owner, from: old, to: new).map {
          (entity: $0.entity.source, source: $0.attribute.source)
        }
      }
    } else if let relationship = owner.relationships.first(where: { $0.source == first.source }) {
      moved += links.movedRelationships(before: relationship, of: owner, from: old, to: new).map {
        (entity: $0.entity.source, source: $0.relationship.source)
      }
    }
    return moved.flatMap { appNames(ofProperty: $0.source, of: $0.entity, first.index - 1) }
  }

  private func line(of entity: EntityDraft, _ index: Int) -> NameLine {
    NameLine(
      chain(ofEntity: entity.source, from: index).map { part in
        NameLine.Part(source: part.source, name: names.entity(part.source, in: drafts[part.index].number))
      })
  }

  /// - Parameter owner: an entity, or ``CompositeDraft/owner``.
  private func line(of property: String, owner: String, _ index: Int) -> NameLine {
    NameLine(
      chain(ofProperty: property, of: owner, from: index).map { part in
        let name = names.property(part.source, of: part.entity, in: drafts[part.index].number)
        return NameLine.Part(source: part.source, name: name)
      })
  }
}
