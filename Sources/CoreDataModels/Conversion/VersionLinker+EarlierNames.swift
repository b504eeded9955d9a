/// The names of a version's parts in earlier versions, which `renamed` states.
///
/// The version that renames a part needs the name for the migration. The versions after it repeat the name, because an
/// import may read a store of any earlier version, and only has the newest model. A migration ignores a repeated name,
/// unless the version before has another part of that name; then the name is not repeated.
struct EarlierNames {
  /// The names by the entity's name in the source.
  var entities = [String: String]()
  /// The names by `Entity.property` in the source.
  var properties = [String: String]()
}

extension VersionLinker {
  /// The names for `renamed` in the model file of a version.
  func earlierNames(of index: Int) -> EarlierNames {
    var earlier = EarlierNames()
    guard index > 0 else { return earlier }
    let old = drafts[index - 1]
    let taken = Set(old.entities.map { names.entity($0.source, in: old.number) })
    for entity in drafts[index].entities {
      earlier.entities[entity.source] = Self.earlierName(in: line(of: entity, index).map(\.name), taken)
      guard let before = links[index].entities[entity.source].flatMap({ old.entity($0) }) else { continue }
      let sources = before.attributes.map(\.source) + before.relationships.map(\.source)
      let others = Set(sources.map { names.property($0, of: before.source, in: old.number) })
      // A member's full name contains both names, of which a migration would need those of one version.
      let composites = entity.attributes.filter { $0.composite != nil }.map(\.source)
      for source in entity.attributes.map(\.source) + entity.relationships.map(\.source) {
        let line = line(of: source, in: entity, index).map(\.name)
        earlier.properties["\(entity.source).\(source)"] = Self.earlierName(
          in: composites.contains(source) ? Array(line.prefix(2)) : line, others)
      }
    }
    return earlier
  }

  /// The last different name of a part; nil if there is none, or if it can't be repeated.
  /// - Parameters:
  ///   - line: the names of the part and its predecessors, newest first.
  ///   - taken: the names in the version before.
  private static func earlierName(in line: [String], _ taken: Set<String>) -> String? {
    guard let name = line.first(where: { $0 != line[0] }) else { return nil }
    return name == line[1] || !taken.contains(name) ? name : nil
  }

  /// The parts of the newest version that an import can't find in a store of an earlier one, because `renamed` states
  /// only one name.
  func lostNames() -> [(place: SourcePlace, subject: String, reason: String)] {
    let last = drafts.count - 1
    let stated = earlierNames(of: last)
    var lost = [(place: SourcePlace, subject: String, reason: String)]()
    for entity in drafts[last].entities {
      let name = names.entity(entity.source, in: drafts[last].number)
      for past in Self.lost(line(of: entity, last), stated.entities[entity.source]) {
        lost.append((entity.place, entity.source, Self.reason(past, remedy: "needs --rename \(name)=\(past.source)")))
      }
      let properties =
        entity.attributes.map { (source: $0.source, place: $0.place, isComposite: $0.composite != nil) }
        + entity.relationships.filter { !$0.isAdded }.map { (source: $0.source, place: $0.place, isComposite: false) }
      for property in properties {
        let part = "\(entity.source).\(property.source)"
        let present = names.property(property.source, of: entity.source, in: drafts[last].number)
        for past in Self.lost(line(of: property.source, in: entity, last), stated.properties[part]) {
          let remedy =
            property.isComposite ? "does not take its values" : "needs --rename \(name).\(present)=\(past.source)"
          lost.append((property.place, part, Self.reason(past, remedy: remedy)))
        }
      }
    }
    return lost
  }

  private static func reason(_ past: PastName, remedy: String) -> String {
    "was called \(past.source) until version \(past.version), and the model file does not state this name: an import of "
      + "a store of that version \(remedy)"
  }

  /// The names in the source that neither the part has now nor the model file states, each with its last version.
  private static func lost(_ line: [PastName], _ stated: String?) -> [PastName] {
    var found = Set<String>()
    return line.filter { past in
      past.source != line[0].source && past.name != line[0].name && past.name != stated
        && found.insert(past.source).inserted
    }
  }

  // MARK: - Predecessors

  private struct PastName {
    let version: Int
    let source: String
    /// The name in the model file.
    let name: String
  }

  /// An entity and its predecessors, newest first.
  private func line(of entity: EntityDraft, _ index: Int) -> [PastName] {
    chain(ofEntity: entity.source, from: index).map { part in
      let version = drafts[part.index].number
      return PastName(version: version, source: part.source, name: names.entity(part.source, in: version))
    }
  }

  /// A property and its predecessors, newest first.
  private func line(of property: String, in entity: EntityDraft, _ index: Int) -> [PastName] {
    chain(ofProperty: property, of: entity.source, from: index).map { part in
      let version = drafts[part.index].number
      let name = names.property(part.source, of: part.entity, in: version)
      return PastName(version: version, source: part.source, name: name)
    }
  }
}
