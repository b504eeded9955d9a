/// The names of a version's parts in earlier versions, which `renamed` states.
///
/// The version that renames a part needs the name for the migration. The versions after it repeat the name, because an
/// import may read a store of any earlier version, and only has the newest model. A migration ignores a repeated name,
/// unless the version before has another part of that name; then the name is not repeated.
struct EarlierNames {
  /// A name that an import can't find, because `renamed` states only one.
  struct Lost {
    let place: SourcePlace
    let subject: String
    let reason: String
  }

  /// The names by the entity's name in the source.
  var entities = [String: String]()
  /// The names by `Entity.property` in the source.
  var properties = [String: String]()
  /// The names of the attributes of composites by ``CompositeDraft/part(_:)``.
  var members = [String: String]()
  var lost = [Lost]()
}

/// A part of a version and its predecessors, newest first.
private struct NameLine {
  struct Part {
    let version: Int
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
  ///   - taken: the names in the version before.
  ///   - isRepeated: whether a name from before that version may be stated.
  func earlierName(_ taken: Set<String>, isRepeated: Bool = true) -> String? {
    guard let part = parts.first(where: { $0.name != parts[0].name }) else { return nil }
    if part.name == parts[1].name { return part.name }
    return isRepeated && !taken.contains(part.name) ? part.name : nil
  }

  /// The names in the source that neither the part has now nor the model file states, each with its last version.
  func lost(_ stated: String?) -> [Part] {
    var found = Set<String>()
    return parts.filter { part in
      part.source != parts[0].source && part.name != parts[0].name && part.name != stated
        && found.insert(part.source).inserted
    }
  }
}

extension EarlierNames {
  /// Adds the names of a part that the model file does not state.
  /// - Parameter remedy: what an import of a store with the name needs.
  fileprivate mutating func addLost(
    _ line: NameLine, _ stated: String?, _ place: SourcePlace, _ subject: String, remedy: (String) -> String
  ) {
    for part in line.lost(stated) {
      let reason =
        "was called \(part.source) until version \(part.version), and the model file does not state this name: an import "
        + "of a store of that version \(remedy(part.source))"
      lost.append(Lost(place: place, subject: subject, reason: reason))
    }
  }
}

extension VersionLinker {
  /// The names for `renamed` in the model file of a version, and those that it can't state.
  func earlierNames(of index: Int) -> EarlierNames {
    var earlier = EarlierNames()
    guard index > 0 else { return earlier }
    let (old, new) = (drafts[index - 1], drafts[index])
    addMembers(of: index, to: &earlier)
    let taken = Set(old.entities.map { names.entity($0.source, in: old.number) })
    for entity in new.entities {
      let line = line(of: entity, index)
      let stated = line.earlierName(taken)
      let name = names.entity(entity.source, in: new.number)
      earlier.entities[entity.source] = stated
      earlier.addLost(line, stated, entity.place, entity.source) { "needs --rename \(name)=\($0)" }
      if let before = links[index].entities[entity.source].flatMap({ old.entity($0) }) {
        addProperties(of: entity, index, before, to: &earlier)
      }
    }
    return earlier
  }

  private func addProperties(
    of entity: EntityDraft, _ index: Int, _ before: EntityDraft, to earlier: inout EarlierNames
  ) {
    let (old, new) = (drafts[index - 1], drafts[index])
    let sources = before.attributes.map(\.source) + before.relationships.map(\.source)
    let taken = Set(sources.map { names.property($0, of: before.source, in: old.number) })
    let owner = names.entity(entity.source, in: new.number)
    let unstated = entity.attributes.filter { attribute in
      new.composite(of: attribute).map { !statesNames(of: $0, index) } == true
    }.map(\.source)
    let properties =
      entity.attributes.map {
        (source: $0.source, place: $0.place, isComposite: $0.composite != nil, isAdded: false)
      }
      + entity.relationships.map {
        (source: $0.source, place: $0.place, isComposite: false, isAdded: $0.isAdded)
      }
    for property in properties {
      let line = line(of: property.source, owner: entity.source, index)
      let part = "\(entity.source).\(property.source)"
      // A member's full name contains both names, of which a migration would need those of one version.
      let name = line.earlierName(taken, isRepeated: !property.isComposite)
      let stated = unstated.contains(property.source) ? nil : name
      earlier.properties[part] = stated
      // The app does not have an added inverse.
      if property.isAdded { continue }
      let present = names.property(property.source, of: entity.source, in: new.number)
      earlier.addLost(line, stated, property.place, part) {
        property.isComposite ? "does not take its values" : "needs --rename \(owner).\(present)=\($0)"
      }
    }
  }

  // MARK: - Composites

  private func addMembers(of index: Int, to earlier: inout EarlierNames) {
    let (old, new) = (drafts[index - 1], drafts[index])
    for composite in new.composites {
      guard let before = old.composites.first(where: { $0.owner == links[index].entities[composite.owner] }) else {
        continue
      }
      let taken = Set(before.attributes.map { names.member($0.source, of: before, in: old.number) })
      let isStated = statesNames(of: composite, index)
      for member in composite.attributes {
        let part = composite.part(member.source)
        let line = line(of: member.source, owner: composite.owner, index)
        let name = line.earlierName(taken, isRepeated: isStated && hasOneName(composite, index))
        let stated = isStated ? name : nil
        earlier.members[part] = stated
        earlier.addLost(line, stated, member.place, "\(composite.source).\(member.source)") { _ in
          "does not take its values"
        }
      }
    }
  }

  /// Whether `renamed` can state the names that the composite's attributes had in the version before. The attributes of
  /// entities and the members state them separately, so that each full name consists of two names of that version. A
  /// mapping takes the values otherwise: if one of several attributes with this composite is new, or if a renamed one
  /// has a new member.
  private func statesNames(of composite: CompositeDraft, _ index: Int) -> Bool {
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

  private func line(of entity: EntityDraft, _ index: Int) -> NameLine {
    NameLine(
      chain(ofEntity: entity.source, from: index).map { part in
        let version = drafts[part.index].number
        return NameLine.Part(version: version, source: part.source, name: names.entity(part.source, in: version))
      })
  }

  /// - Parameter owner: an entity, or ``CompositeDraft/owner``.
  private func line(of property: String, owner: String, _ index: Int) -> NameLine {
    NameLine(
      chain(ofProperty: property, of: owner, from: index).map { part in
        let version = drafts[part.index].number
        let name = names.property(part.source, of: part.entity, in: version)
        return NameLine.Part(version: version, source: part.source, name: name)
      })
  }
}
