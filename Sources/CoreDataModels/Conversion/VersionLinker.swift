import GraphModel

/// Connects consecutive versions so that a store can be migrated through all of them.
///
/// The inference of migrations decides whether a part can be migrated. If it refuses a part, a mapping converts the
/// values, provided that a function exists for the types. Otherwise the part of the later version counts as new: the
/// part of the earlier versions gets another name, so that the current version keeps the names of the app. If their
/// model files exist, that of the later version does. A migration then removes the earlier values; this is reported.
struct VersionLinker {
  var drafts: [VersionDraft]
  var logs: [SourceLog]
  var names: NameTable
  /// The links of each version to the one before; those of the first are empty.
  private(set) var links: [VersionLinks]
  /// The same with the predecessors in the app, whose values a migration does not always keep.
  private(set) var appLinks: [VersionLinks]
  /// By version, the parts that have no predecessor although an earlier part has the same name.
  private var separated: [Set<String>]

  init(_ drafts: [VersionDraft], _ logs: [SourceLog], _ names: NameTable) {
    precondition(!drafts.isEmpty && drafts.count == logs.count, "each version has a log")
    (self.drafts, self.logs, self.names) = (drafts, logs, names)
    links = drafts.map { _ in VersionLinks() }
    appLinks = links
    separated = drafts.map { _ in [] }
  }

  /// Links all versions.
  /// - Returns: the texts of the model files, and their models.
  mutating func run() throws(CoreDataModelError) -> [(text: String, model: Model)] {
    reportIdentifiers(of: 0)
    for index in drafts.indices.dropFirst() { try link(index) }
    for index in drafts.indices.dropFirst() {
      appLinks[index] = VersionMatcher(old: drafts[index - 1], new: drafts[index], separated: []).links()
    }
    var files = [(text: String, model: Model)]()
    for index in drafts.indices {
      var file = try load(index)
      if index > 0 { file = try distinguish(index, file, from: files.map(\.model)) }
      files.append(file)
    }
    for index in drafts.indices.dropFirst() { try verify(index, files[index - 1].model, files[index].model) }
    return files
  }

  // MARK: - One pair of versions

  private mutating func link(_ index: Int) throws(CoreDataModelError) {
    precondition(index > 0, "the first version has no predecessor")
    // Each pass separates a part or adds a mapping.
    while true {
      links[index] = VersionMatcher(old: drafts[index - 1], new: drafts[index], separated: separated[index]).links()
      order(index)
      separateEqualNames(index)
      let (old, new) = (try load(index - 1).model, try load(index).model)
      do {
        _ = try MigrationPlan.infer(from: old, to: new)
        break
      } catch {
        var resolved = false
        for problem in error.all where resolve(problem, index) { resolved = true }
        guard resolved else {
          throw CoreDataModelError(
            error.all.map {
              .init(
                file: logs[index].file, place: drafts[index].place,
                reason: "version \(index) can't be migrated to version \(index + 1): \($0)")
            })
        }
      }
    }
    reportIdentifiers(of: index)
    reportMappings(index)
    reportComposites(index)
    for move in moves(index) {
      let verb = move.isKept ? "takes" : "does not keep"
      logs[index].add(
        move.isKept ? .changed : .leftOut, move.place, move.subject,
        "a migration \(verb) the values of \(move.source) in version \(index)")
    }
  }

  /// Keeps the order of the previous version, which decides the side of a many-to-many that stores the pairs.
  private mutating func order(_ index: Int) {
    let (old, links) = (drafts[index - 1], links[index])
    func sorted<Part>(_ parts: [Part], by place: (Part) -> Int?) -> [Part] {
      let numbered = parts.enumerated().map { (part: $1, place: place($1) ?? Int.max, number: $0) }
      return numbered.sorted { ($0.place, $0.number) < ($1.place, $1.number) }.map(\.part)
    }
    drafts[index].entities = sorted(drafts[index].entities) { entity in
      links.entities[entity.source].flatMap { before in old.entities.firstIndex { $0.source == before } }
    }
    for number in drafts[index].entities.indices {
      let entity = drafts[index].entities[number]
      guard let before = links.entities[entity.source].flatMap({ old.entity($0) }) else { continue }
      drafts[index].entities[number].relationships = sorted(entity.relationships) { relationship in
        links.properties["\(entity.source).\(relationship.source)"].flatMap { name in
          before.relationships.firstIndex { $0.source == name }
        }
      }
    }
  }

  /// Gives parts of the earlier versions another name if a part of this version that is not their successor has it.
  private mutating func separateEqualNames(_ index: Int) {
    let (old, new) = (drafts[index - 1], drafts[index])
    for composite in new.composites {
      guard let before = old.composites.first(where: { $0.owner == links[index].entities[composite.owner] }) else {
        continue
      }
      separateEqualNames(
        index, of: (composite.owner, composite.source), composite.attributes.map { ($0.source, $0.place) },
        from: before.owner, before.attributes.map(\.source))
    }
    for entity in new.entities {
      let name = names.entity(entity.source, in: new.number)
      if let same = old.entities.first(where: { names.entity($0.source, in: old.number) == name }),
        links[index].entities[entity.source] != same.source
      {
        if names.isGiven(old.number), !names.isGiven(new.number) {
          // The versions that follow have the new name, too.
          let other = names.separate(entity: (new.number...drafts.count).map { ($0, entity.source) })
          logs[index].add(
            .renamed, entity.place, entity.source,
            "is called \(other), because the model file of version \(old.number) exists, in which \(name) is another "
              + "entity")
        } else {
          let parts = chain(ofEntity: same.source, from: index - 1)
          let earlier = names.separate(entity: parts.map { (drafts[$0.index].number, $0.source) })
          logs[index].add(
            .renamed, entity.place, entity.source,
            "is another entity than \(same.source) of version \(old.number), which is called \(earlier) there")
        }
      }
      guard let before = links[index].entities[entity.source].flatMap({ old.entity($0) }) else { continue }
      let earlier =
        before.attributes.filter { !$0.has("transient") }.map(\.source) + before.relationships.map(\.source)
      let later =
        entity.attributes.filter { !$0.has("transient") }.map { ($0.source, $0.place) }
        + entity.relationships.map { ($0.source, $0.place) }
      separateEqualNames(index, of: (entity.source, entity.source), later, from: before.source, earlier)
    }
  }

  /// - Parameters:
  ///   - owner: an entity, or ``CompositeDraft/owner``, and its name in messages.
  ///   - later: the owner's properties.
  ///   - before: the owner's predecessor.
  ///   - earlier: the predecessor's properties.
  private mutating func separateEqualNames(
    _ index: Int, of owner: (key: String, subject: String), _ later: [(String, SourcePlace)], from before: String,
    _ earlier: [String]
  ) {
    let (old, new) = (drafts[index - 1].number, drafts[index].number)
    for (property, place) in later {
      let name = names.property(property, of: owner.key, in: new)
      guard let same = earlier.first(where: { names.property($0, of: before, in: old) == name }),
        links[index].properties["\(owner.key).\(property)"] != same
      else { continue }
      if names.isGiven(old), !names.isGiven(new) {
        // The versions that follow have the new name, too.
        let other = names.separate(property: (new...drafts.count).map { ($0, owner.key, property) })
        logs[index].add(
          .renamed, place, "\(owner.subject).\(property)",
          "is called \(other), because the model file of version \(old) exists, in which \(name) is another property")
        continue
      }
      let parts = chain(ofProperty: same, of: before, from: index - 1)
      let other = names.separate(property: parts.map { (drafts[$0.index].number, $0.entity, $0.source) })
      logs[index].add(
        .renamed, place, "\(owner.subject).\(property)",
        "is another property than that of version \(old), which is called \(other) there")
    }
  }

  /// An entity and its predecessors, newest first.
  /// - Parameter predecessors: those that are meant; nil for the ones whose objects a migration keeps.
  func chain(
    ofEntity source: String, from index: Int, through predecessors: [VersionLinks]? = nil
  ) -> [(index: Int, source: String)] {
    let links = predecessors ?? self.links
    var chain = [(index: index, source: source)]
    while let last = chain.last, let before = links[last.index].entities[last.source] {
      chain.append((last.index - 1, before))
    }
    return chain
  }

  /// A property and its predecessors, newest first.
  /// - Parameters:
  ///   - entity: the entity, or ``CompositeDraft/owner`` for a member.
  ///   - predecessors: those that are meant; nil for the ones whose values a migration keeps.
  func chain(
    ofProperty source: String, of entity: String, from index: Int, through predecessors: [VersionLinks]? = nil
  ) -> [(index: Int, entity: String, source: String)] {
    let links = predecessors ?? self.links
    var chain = [(index: index, entity: entity, source: source)]
    while let last = chain.last, let owner = links[last.index].entities[last.entity],
      let before = links[last.index].properties["\(last.entity).\(last.source)"]
    {
      chain.append((last.index - 1, owner, before))
    }
    return chain
  }

  // MARK: - Problems

  /// Resolves a problem of the inference by a mapping, or by ending the link.
  /// - Returns: whether anything changed.
  private mutating func resolve(_ problem: MigrationPlan.Problem, _ index: Int) -> Bool {
    var parts = problem.path.split(separator: ".").map(String.init)
    if parts.first == "mapping" { parts.removeFirst() }
    guard let name = parts.first,
      let number = drafts[index].entities.firstIndex(where: { names.entity($0.source, in: index + 1) == name })
    else { return false }
    let entity = drafts[index].entities[number]
    guard parts.count > 1 else {
      guard links[index].entities[entity.source] != nil, separated[index].insert(entity.source).inserted else {
        return false
      }
      logs[index].leaveOut(
        entity.place, entity.source, "a migration does not keep the objects of version \(index): \(problem.reason)")
      return true
    }
    func isNamed(_ source: String) -> Bool { names.property(source, of: entity.source, in: index + 1) == parts[1] }
    if let place = entity.attributes.firstIndex(where: { isNamed($0.source) }) {
      let attribute = entity.attributes[place]
      if parts.count > 2, separateMember(parts[2], of: attribute, in: entity, index, problem.reason) { return true }
      if attribute.mapping == nil, let function = mapping(for: attribute, of: entity, index) {
        drafts[index].entities[number].attributes[place].mapping = function
        return true
      }
      drafts[index].entities[number].attributes[place].mapping = nil
      return separate(attribute.source, attribute.place, of: entity, index, problem.reason)
    }
    guard let relationship = entity.relationships.first(where: { isNamed($0.source) }),
      separate(relationship.source, relationship.place, of: entity, index, problem.reason)
    else { return false }
    // Both ends are one relationship.
    if let far = drafts[index].entity(relationship.destination),
      let back = far.relationships.first(where: { $0.source == relationship.inverse })
    {
      let reason = "its inverse \(entity.source).\(relationship.source) is another relationship now"
      _ = separate(back.source, back.place, of: far, index, reason)
    }
    return true
  }

  /// Ends the link of a composite's attribute, for all attributes of that composite.
  /// - Returns: false if the problem is not about the member alone.
  private mutating func separateMember(
    _ name: String, of attribute: AttributeDraft, in entity: EntityDraft, _ index: Int, _ reason: String
  ) -> Bool {
    let (old, new) = (drafts[index - 1], drafts[index])
    guard let composite = new.composite(of: attribute),
      links[index].composite(before: attribute, of: entity, from: old, to: new) != nil,
      let member = composite.attributes.first(where: { names.member($0.source, of: composite, in: new.number) == name })
    else { return false }
    let part = composite.part(member.source)
    guard links[index].properties[part] != nil else { return false }
    // Several attributes of the composite have the same problem.
    if separated[index].insert(part).inserted {
      logs[index].leaveOut(
        member.place, "\(composite.source).\(member.source)",
        "a migration does not keep the values of version \(index): \(reason)")
    }
    return true
  }

  private mutating func separate(
    _ property: String, _ place: SourcePlace, of entity: EntityDraft, _ index: Int, _ reason: String
  ) -> Bool {
    let part = "\(entity.source).\(property)"
    guard links[index].properties[part] != nil, separated[index].insert(part).inserted else { return false }
    logs[index].leaveOut(place, part, "a migration does not keep the values of version \(index): \(reason)")
    return true
  }

  /// The function that converts the values of an attribute's predecessor; nil if there is none.
  private func mapping(for attribute: AttributeDraft, of entity: EntityDraft, _ index: Int) -> String? {
    guard let owner = links[index].entities[entity.source].flatMap({ drafts[index - 1].entity($0) }),
      let name = links[index].properties["\(entity.source).\(attribute.source)"],
      let before = owner.attributes.first(where: { $0.source == name }), before.type != attribute.type
    else { return nil }
    return attribute.converts(before) ? attribute.type : nil
  }

  private mutating func reportMappings(_ index: Int) {
    for entity in drafts[index].entities {
      for attribute in entity.attributes {
        guard let function = attribute.mapping,
          let before = links[index].properties["\(entity.source).\(attribute.source)"]
        else { continue }
        logs[index].add(
          .changed, attribute.place, "\(entity.source).\(attribute.source)",
          "a migration converts the values of version \(index) by \(function)(\(before)); a value that can't be "
            + "converted becomes null")
      }
    }
  }

  /// Reports renaming identifiers without a part in the previous version.
  private mutating func reportIdentifiers(of index: Int) {
    let reason =
      index == 0
      ? "the bundle has no earlier version" : "version \(index) has no such part, or another part comes from it"
    let moved = Set(moves(index).map(\.subject))
    for entity in drafts[index].entities {
      if let identifier = entity.identifier, identifier != entity.source,
        links[index].entities[entity.source] == nil, !separated[index].contains(entity.source)
      {
        logs[index].leaveOut(entity.place, entity.source, "the renaming identifier \(identifier): \(reason)")
      }
      let parts =
        entity.attributes.map { ($0.source, $0.identifier, $0.place) }
        + entity.relationships.map { ($0.source, $0.identifier, $0.place) }
      for (source, identifier, place) in parts {
        let part = "\(entity.source).\(source)"
        guard let identifier, identifier != source, links[index].properties[part] == nil,
          !separated[index].contains(part), !moved.contains(part)
        else { continue }
        logs[index].leaveOut(place, part, "the renaming identifier \(identifier): \(reason)")
      }
    }
    for composite in drafts[index].composites {
      if let identifier = composite.identifier, identifier != composite.source,
        links[index].entities[composite.owner] == nil
      {
        logs[index].leaveOut(composite.place, composite.source, "the renaming identifier \(identifier): \(reason)")
      }
      for member in composite.attributes {
        let part = composite.part(member.source)
        guard let identifier = member.identifier, identifier != member.source, links[index].properties[part] == nil,
          !separated[index].contains(part)
        else { continue }
        logs[index].leaveOut(
          member.place, "\(composite.source).\(member.source)", "the renaming identifier \(identifier): \(reason)")
      }
    }
  }

  /// Reports attributes whose composite is not the successor of their earlier one, or that have or had none.
  private mutating func reportComposites(_ index: Int) {
    let (old, new) = (drafts[index - 1], drafts[index])
    for entity in new.entities {
      guard let owner = links[index].entities[entity.source].flatMap({ old.entity($0) }) else { continue }
      for attribute in entity.attributes {
        guard let name = links[index].properties["\(entity.source).\(attribute.source)"],
          let before = owner.attributes.first(where: { $0.source == name })
        else { continue }
        let subject = "\(entity.source).\(attribute.source)"
        switch (old.composite(of: before), new.composite(of: attribute)) {
        case (nil, nil): break
        case (let earlier?, let composite?):
          if links[index].entities[composite.owner] == earlier.owner { continue }
          logs[index].add(
            .changed, attribute.place, subject,
            "the composite was \(earlier.source) in version \(index), and is \(composite.source) now: a migration keeps the "
              + "values of attributes that have the same name in both")
        default:
          logs[index].leaveOut(
            attribute.place, subject,
            "a migration does not keep the values of version \(index): its type changes from \(before.type) to "
              + attribute.type)
        }
      }
    }
  }
}
