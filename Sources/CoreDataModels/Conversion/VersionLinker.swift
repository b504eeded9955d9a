import GraphModel

/// Connects consecutive versions so that a store can be migrated through all of them.
///
/// The inference of migrations decides whether a part can be migrated. If it refuses a part, a mapping converts the
/// values, provided that a function exists for the types. Otherwise the part of the later version counts as new: the
/// part of the earlier versions gets another name, so that the current version keeps the names of the app. A migration
/// then removes the earlier values; this is reported.
struct VersionLinker {
  private(set) var drafts: [VersionDraft]
  private(set) var logs: [SourceLog]
  private(set) var names: NameTable
  /// The links of each version to the one before; those of the first are empty.
  private(set) var links: [VersionLinks]
  /// By version, the parts that have no predecessor although an earlier part has the same name.
  private var separated: [Set<String>]

  init(_ drafts: [VersionDraft], _ logs: [SourceLog], _ names: NameTable) {
    precondition(!drafts.isEmpty && drafts.count == logs.count, "each version has a log")
    (self.drafts, self.logs, self.names) = (drafts, logs, names)
    links = drafts.map { _ in VersionLinks() }
    separated = drafts.map { _ in [] }
  }

  /// Links all versions.
  /// - Returns: the texts of the model files, and their models.
  mutating func run() throws(CoreDataModelError) -> [(text: String, model: Model)] {
    reportIdentifiers(of: 0)
    for index in drafts.indices.dropFirst() { try link(index) }
    var files = [(text: String, model: Model)]()
    for index in drafts.indices {
      var file = try load(index)
      if index > 0 { file = try distinguish(index, file, from: files.map(\.model)) }
      files.append(file)
    }
    for index in drafts.indices.dropFirst() { try verify(index, files[index - 1].model, files[index].model) }
    let last = logs.count - 1
    for lost in earlierNames(of: last).lost { logs[last].add(.changed, lost.place, lost.subject, lost.reason) }
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
    for entity in new.entities {
      let name = names.entity(entity.source, in: new.number)
      if let same = old.entities.first(where: { names.entity($0.source, in: old.number) == name }),
        links[index].entities[entity.source] != same.source
      {
        let parts = chain(ofEntity: same.source, from: index - 1)
        let earlier = names.separate(entity: parts.map { (drafts[$0.index].number, $0.source) })
        logs[index].add(
          .renamed, entity.place, entity.source,
          "is another entity than \(same.source) of version \(old.number), which is called \(earlier) there")
      }
      guard let before = links[index].entities[entity.source].flatMap({ old.entity($0) }) else { continue }
      let earlier =
        before.attributes.filter { !$0.has("transient") }.map(\.source) + before.relationships.map(\.source)
      let later =
        entity.attributes.filter { !$0.has("transient") }.map { ($0.source, $0.place) }
        + entity.relationships.map { ($0.source, $0.place) }
      for (property, place) in later {
        let name = names.property(property, of: entity.source, in: new.number)
        guard
          let same = earlier.first(where: { names.property($0, of: before.source, in: old.number) == name }),
          links[index].properties["\(entity.source).\(property)"] != same
        else { continue }
        let parts = chain(ofProperty: same, of: before.source, from: index - 1)
        let other = names.separate(property: parts.map { (drafts[$0.index].number, $0.entity, $0.source) })
        logs[index].add(
          .renamed, place, "\(entity.source).\(property)",
          "is another property than that of version \(old.number), which is called \(other) there")
      }
    }
  }

  /// An entity and its predecessors, newest first.
  func chain(ofEntity source: String, from index: Int) -> [(index: Int, source: String)] {
    var chain = [(index: index, source: source)]
    while let last = chain.last, let before = links[last.index].entities[last.source] {
      chain.append((last.index - 1, before))
    }
    return chain
  }

  /// A property and its predecessors, newest first.
  func chain(
    ofProperty source: String, of entity: String, from index: Int
  ) -> [(index: Int, entity: String, source: String)] {
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
    let sources = Self.conversions[attribute.type, default: []]
    return sources.contains(before.type) ? attribute.type : nil
  }

  /// The types whose values a function converts, by the type that it returns.
  private static let conversions: [String: Set<String>] = [
    "integer": ["double", "decimal", "string"], "double": ["decimal", "string"], "decimal": ["double", "string"],
    "uuid": ["string"],
  ]

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
          !separated[index].contains(part)
        else { continue }
        logs[index].leaveOut(place, part, "the renaming identifier \(identifier): \(reason)")
      }
    }
    for composite in drafts[index].composites {
      let earlier = index == 0 ? nil : drafts[index - 1].composites.first { $0.source == composite.source }
      for attribute in composite.attributes {
        guard let identifier = attribute.identifier, identifier != attribute.source else { continue }
        let isUsed = earlier?.attributes.contains { [attribute.source, identifier].contains($0.source) } == true
        guard !isUsed else { continue }
        logs[index].leaveOut(
          attribute.place, "\(composite.source).\(attribute.source)",
          "the renaming identifier \(identifier): \(reason)")
      }
    }
  }
}

// MARK: - Models

extension VersionLinker {
  private func load(_ index: Int) throws(CoreDataModelError) -> (text: String, model: Model) {
    let previous = index > 0 ? (draft: drafts[index - 1], links: links[index]) : nil
    let builder = ModelFileBuilder(
      draft: drafts[index], names: names, previous: previous, earlierNames: earlierNames(of: index))
    let text = ModelFileText.text(builder.json)
    do {
      return (text, try Model(parsing: text.utf8))
    } catch {
      throw CoreDataModelError(
        error.mistakes.map {
          .init(
            file: logs[index].file, place: drafts[index].place,
            reason: "the model file of this version would have a mistake: \($0)")
        })
    }
  }

  /// Gives a version a different hash if it would have the hash of a version before the previous one, because a store
  /// never returns to an earlier version, or if it differs from the previous version only by exchanged names.
  private mutating func distinguish(
    _ index: Int, _ file: (text: String, model: Model), from earlier: [Model]
  ) throws(CoreDataModelError) -> (text: String, model: Model) {
    precondition(earlier.count == index, "the earlier versions have models")
    let previous = earlier[index - 1]
    let change = MigrationPlan.undetectedChange(from: previous, to: file.model)
    let same = previous.hash == file.model.hash ? nil : earlier.firstIndex { $0.hash == file.model.hash }
    guard change != nil || same != nil else {
      if previous.hash == file.model.hash {
        logs[index].add(
          .changed, drafts[index].place, "",
          "version \(index + 1) stores the same as version \(index): a store needs no migration, and new indexes are built "
            + "by the next one")
      }
      return file
    }
    let name = names.type("Version\(index + 1)")
    drafts[index].distinction = name
    let reason =
      if let same {
        "it stores the same as version \(same + 1), and a store never returns to an earlier version"
      } else {
        "it only \(change.map { $0 } ?? "differs") from version \(index), which a store would not notice"
      }
    logs[index].add(
      .added, drafts[index].place, "", "the enumeration \(name), which no attribute uses: \(reason)")
    return try load(index)
  }

  /// Verifies a pair of versions as `stickiesd migrate` will see it.
  private mutating func verify(_ index: Int, _ old: Model, _ new: Model) throws(CoreDataModelError) {
    assert(old.version == new.version - 1, "the versions are consecutive")
    let plan: MigrationPlan
    do {
      plan = try MigrationPlan.infer(from: old, to: new)
    } catch {
      throw CoreDataModelError(
        logs[index].file, drafts[index].place, "version \(index) can't be migrated to version \(index + 1): \(error)")
    }
    for property in plan.unfilled {
      let owner = new.owner(of: property)
      let place = place(of: property.name, in: owner.name, index)
      logs[index].add(
        .changed, place, "\(owner.name).\(property.name)",
        "is new in version \(index + 1), required and without a default: a store with \(owner.nameWithArticle) can't be "
          + "migrated; give it a default or a mapping")
    }
  }

  /// The place of a property, by its names in the model file.
  private func place(of property: String, in entity: String, _ index: Int) -> SourcePlace {
    let draft = drafts[index]
    guard let owner = draft.entities.first(where: { names.entity($0.source, in: draft.number) == entity }) else {
      return draft.place
    }
    let name = String(property.prefix { $0 != "." })
    let places =
      owner.attributes.map { ($0.source, $0.place) } + owner.relationships.map { ($0.source, $0.place) }
    let found = places.first { names.property($0.0, of: owner.source, in: draft.number) == name }
    return found.map { $0.1 } ?? owner.place
  }
}
