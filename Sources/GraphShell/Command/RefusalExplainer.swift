import GraphModel

/// Describes the objects of a refusal, which it reads from the daemon.
@MainActor
package struct RefusalExplainer {
  private let shell: CommandContext
  private let deletions: DeletionFinder
  private var model: Model { shell.model }

  package init(_ shell: CommandContext) {
    self.shell = shell
    deletions = DeletionFinder(shell)
  }

  /// The refusal with descriptions of its objects, read with one request for each entity.
  package func explained(_ refusal: Refusal, of operation: RefusedOperation = .commit) async -> ModelRefusal {
    let refusal = await namingActualObjects(refusal)
    var explained = ModelRefusal(refusal: refusal, model: model)
    explained.operation = operation
    let subjects =
      refusal.violations.map(\.id) + refusal.conflicts.flatMap { [$0.id] + $0.mine.objectIDs + $0.theirs.objectIDs }
    let values = refusal.violations.flatMap { [$0.value] + $0.others.map(\.value) }
    let named = Set((subjects + values.flatMap(\.objectIDs)).filter { !$0.isTemporary })
    // Objects that can't be read, and objects of an unknown entity, are named by their ids.
    var groups = [EntityNumber: [ObjectID]]()
    for id in named {
      if let entity = model.entity(id.entity) { groups[entity.root, default: []].append(id) }
    }
    for (root, ids) in groups.sorted(by: { $0.key < $1.key }) {
      guard let images = try? await shell.images(ids.sorted(), of: model.ownEntity(root)) else { continue }
      for image in images { explained.titles[image.id] = shell.reference(image) }
    }
    guard operation != .restore else { return explained }
    // In the conflict of an undo over a property, the deleted object is its value.
    let deleted = refusal.conflicts.filter { $0.kind == .deleted && (operation == .commit || $0.property == 0) }
    for conflict in deleted.prefix(DeletionFinder.deletionsLookedUp) {
      guard let (deletion, image) = await deletions.deletion(of: conflict.id) else { continue }
      explained.deletions[conflict.id] = deletion
      if let image, explained.titles[conflict.id] == nil { explained.titles[conflict.id] = shell.reference(image) }
    }
    return explained
  }

  /// Corrects violations of references. An id is sent as one of the destination's entity; if it belongs to an object of
  /// another entity, the message states that.
  private func namingActualObjects(_ refusal: Refusal) async -> Refusal {
    var refusal = refusal
    for (place, violation) in refusal.violations.enumerated().prefix(Self.referencesLookedUp)
    where violation.commonRule == .destination {
      guard let property = model.property(violation.property), let id = violation.value.objectID,
        let wanted = property.relationship.map({ model.destination(of: $0) }),
        let object = try? await ObjectFinder(shell).object(id.key.description),
        let actual = model.entity(object.id.entity), !actual.isKind(of: wanted)
      else { continue }
      let message = "\(property.name) takes \(wanted.nameWithArticle), and \(shell.reference(object)) is not one"
      refusal.message = refusal.message.replacing(violation.message, with: message)
      refusal.violations[place].message = message
      refusal.violations[place].value = .object(object.id)
    }
    return refusal
  }

  private static let referencesLookedUp = 20
}
