import GraphModel

/// The models of the linked versions, as a daemon loads them.
extension VersionLinker {
  func load(_ index: Int) throws(CoreDataModelError) -> (text: String, model: Model) {
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
  mutating func distinguish(
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
  mutating func verify(_ index: Int, _ old: Model, _ new: Model) throws(CoreDataModelError) {
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
