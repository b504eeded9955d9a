import GraphModel

/// The naive reference implementation of roles and rules. It decides in a complete graph what one user sees and may
/// change, without hidden scopes, compiled rules and visibility classes.
struct NaiveAccess: Hashable {
  let user: String
  /// The roles, by the key of a folder; nil for the complete store.
  let grants: [UniqueID?: Role]

  // MARK: - Roles

  /// The folder that is the scope of an object; nil for none.
  private func folder(of image: ObjectImage, _ graph: RecordedGraph, _ model: AccessModel) -> UniqueID? {
    if model.isA(image.id, "Folder") { return image.id.key }
    if model.isA(image.id, "Item") { return model.value(image, "folder").objectID?.key }
    if model.isA(image.id, "Remark"), let item = model.value(image, "item").objectID, let found = graph.images[item] {
      return model.value(found, "folder").objectID?.key
    }
    return nil
  }

  func role(for image: ObjectImage, _ graph: RecordedGraph, _ model: AccessModel) -> Role? {
    let general = grants[nil]
    guard let folder = folder(of: image, graph, model), let own = grants[folder] else { return general }
    return general.map { max($0, own) } ?? own
  }

  // MARK: - Reading

  func sees(_ image: ObjectImage, in graph: RecordedGraph, _ model: AccessModel) -> Bool {
    guard let role = role(for: image, graph, model) else { return false }
    if model.isA(image.id, "Item"), case .integer(let x) = model.value(image, "x") {
      return x < AccessModel.hiddenFrom || model.readsUser && owns(image, model)
    }
    if model.isA(image.id, "Tag") { return model.value(image, "isOpen") == .bool(true) || role == .owner }
    return true
  }

  /// The graph of the visible objects, without references to other objects.
  func reduced(_ graph: RecordedGraph, _ model: AccessModel) -> RecordedGraph {
    let seen = graph.images.filter { sees($0.value, in: graph, model) }
    var images = seen
    for (id, image) in seen {
      var reduced = image
      for (index, value) in image.values.enumerated() {
        switch value {
        case .object(let other) where seen[other] == nil: reduced.values[index] = .null
        case .objects(let others): reduced.values[index] = .objects(others.filter { seen[$0] != nil })
        default: break
        }
      }
      images[id] = reduced
    }
    return RecordedGraph(images: images, model: model.model)
  }

  // MARK: - Writing

  private func owns(_ image: ObjectImage, _ model: AccessModel) -> Bool {
    model.isA(image.id, "Item") && model.value(image, "creator") == .string(user)
  }

  private enum Operation { case insert, update, delete }

  private func may(
    _ operation: Operation, _ image: ObjectImage, _ graph: RecordedGraph, _ model: AccessModel
  ) -> Bool {
    guard let role = role(for: image, graph, model), role != .reader else { return false }
    if role == .commenter {
      let isFree = operation == .insert && !model.isA(image.id, "Item")
      if !isFree, !owns(image, model) { return false }
    }
    return operation != .delete || !model.isA(image.id, "Item") || model.value(image, "x") != .integer(AccessModel.kept)
  }

  /// The reason why the user may not make a change; nil if it may.
  func refusal(
    of change: ObjectChange, from before: RecordedGraph, to after: RecordedGraph, _ model: AccessModel
  ) -> String? {
    switch (change.before, change.after) {
    case (nil, nil): return nil
    case (nil, let new?): return may(.insert, new, after, model) ? nil : "may not create it"
    case (let old?, nil):
      if !sees(old, in: before, model) { return "does not see what it deletes" }
      return may(.delete, old, before, model) ? nil : "may not delete it"
    case (let old?, let new?):
      let changed = changedNames(old, new, model)
      if changed.isEmpty { return nil }
      if !sees(old, in: before, model) { return "does not see what it changes (\(changed))" }
      if !may(.update, old, before, model) { return "may not change it where it was (\(changed))" }
      if !may(.update, new, after, model) { return "may not change it where it is (\(changed))" }
      if changed.contains("code"), !owns(old, model) || !owns(new, model) { return "may not change its code" }
      return nil
    }
  }

  /// The names of the properties that differ, without those that the server sets.
  private func changedNames(_ old: ObjectImage, _ new: ObjectImage, _ model: AccessModel) -> [String] {
    properties(of: new.id, model).filter { old[$0] != new[$0] }.map(\.name)
  }

  /// The stored properties, without those that the server sets.
  private func properties(of id: ObjectID, _ model: AccessModel) -> [Property] {
    guard let entity = model.model.entity(id.entity) else { return [] }
    var hidden: PropertyNumber?
    if case .stored(let number, _)? = entity.scope { hidden = number }
    return entity.storedProperties.filter { $0.number != hidden && $0.name != "creator" }
  }

  /// The reason why the user may not make a change by a restore: a value that it saw in none of the past states that
  /// are restored. Nil if there is none.
  /// - Parameter past: these states, as the user sees them.
  func refusal(ofRestored change: ObjectChange, from past: [RecordedGraph], _ model: AccessModel) -> String? {
    guard let new = change.after else { return nil }
    for property in properties(of: new.id, model) where change.before?[property] != new[property] {
      let held = if let old = change.before { old[property].objectIDs } else { [ObjectID]() }
      let isSeen =
        if let inverse = property.relationship.flatMap({ model.model.property($0.inverse) }) {
          Set(new[property].objectIDs).subtracting(held).allSatisfy { other in
            past.contains { graph in
              graph.images[new.id]?[property].objectIDs.contains(other) == true
                || graph.related(to: other, through: inverse).contains(new.id)
            }
          }
        } else {
          new[property].isNull || past.contains { $0.images[new.id]?[property] == new[property] }
        }
      if !isSeen { return "could not see the restored \(property.name)" }
    }
    return nil
  }
}
