/// Finds the predecessors of a version's entities and properties in the version before: by their renaming identifiers
/// as Core Data does, otherwise by their names.
struct VersionMatcher {
  let old: VersionDraft
  let new: VersionDraft
  /// Parts that are to have no predecessor, as `Entity`, `Entity.property` and ``CompositeDraft/part(_:)``. No other
  /// part has theirs instead.
  let separated: Set<String>

  private struct Part {
    let source: String
    let identifier: String?
  }

  func links() -> VersionLinks {
    var links = VersionLinks()
    links.entities = match(
      new.entities.map { Part(source: $0.source, identifier: $0.identifier) },
      old.entities.map { Part(source: $0.source, identifier: $0.identifier) }
    ).filter { !separated.contains($0.key) }
    for entity in new.entities {
      guard let before = links.entities[entity.source].flatMap({ old.entity($0) }) else { continue }
      for (property, earlier) in match(parts(of: entity), parts(of: before)) {
        let part = "\(entity.source).\(property)"
        if !separated.contains(part) { links.properties[part] = earlier }
      }
    }
    matchAddedInverses(&links)
    matchComposites(&links)
    return links
  }

  private func matchComposites(_ links: inout VersionLinks) {
    let matches = match(
      new.composites.map { Part(source: $0.source, identifier: $0.identifier) },
      old.composites.map { Part(source: $0.source, identifier: $0.identifier) })
    for composite in new.composites {
      guard let name = matches[composite.source], let before = old.composites.first(where: { $0.source == name })
      else { continue }
      links.entities[composite.owner] = before.owner
      for (member, earlier) in match(composite.attributes.map(Self.part), before.attributes.map(Self.part)) {
        let part = composite.part(member)
        if !separated.contains(part) { links.properties[part] = earlier }
      }
    }
  }

  private static func part(_ attribute: AttributeDraft) -> Part {
    Part(source: attribute.source, identifier: attribute.identifier)
  }

  /// The attributes and relationships that the entity declares, without those that are never stored.
  private func parts(of entity: EntityDraft) -> [Part] {
    entity.attributes.filter { !$0.has("transient") }.map(Self.part)
      + entity.relationships.filter { !$0.isAdded }.map { Part(source: $0.source, identifier: $0.identifier) }
  }

  /// Each part of the old version has one successor. Parts with a renaming identifier come first.
  private func match(_ new: [Part], _ old: [Part]) -> [String: String] {
    var found = [String: String]()
    var taken = Set<String>()
    func take(_ part: Part, _ isMatch: (Part) -> Bool) {
      guard found[part.source] == nil, let match = old.first(where: { !taken.contains($0.source) && isMatch($0) })
      else { return }
      taken.insert(match.source)
      found[part.source] = match.source
    }
    for part in new {
      guard let identifier = part.identifier else { continue }
      take(part) { $0.source == part.source && $0.identifier == identifier }
      take(part) { $0.identifier == identifier }
      take(part) { $0.source == identifier }
    }
    for part in new { take(part) { $0.source == part.source } }
    for part in new { take(part) { $0.identifier == part.source } }
    return found
  }

  /// An added inverse comes from the one of its relationship's predecessor.
  private func matchAddedInverses(_ links: inout VersionLinks) {
    for entity in new.entities {
      for relationship in entity.relationships where relationship.isAdded {
        guard !separated.contains("\(entity.source).\(relationship.source)"),
          let before = links.entities[entity.source],
          let far = links.entities[relationship.destination].flatMap({ old.entity($0) }),
          let name = links.properties["\(relationship.destination).\(relationship.inverse)"],
          let earlier = far.relationships.first(where: { $0.source == name }), earlier.destination == before,
          let added = old.entity(before)?.relationships.first(where: { $0.source == earlier.inverse && $0.isAdded })
        else { continue }
        links.properties["\(entity.source).\(relationship.source)"] = added.source
      }
    }
  }
}
