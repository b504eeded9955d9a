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
  package func explained(_ refusal: Refusal, isRestore: Bool = false) async -> ModelRefusal {
    let refusal = await namingWhatIsMeant(refusal)
    var explained = ModelRefusal(refusal: refusal, model: model)
    explained.isRestore = isRestore
    let subjects =
      refusal.violations.map(\.id) + refusal.conflicts.flatMap { [$0.id] + $0.mine.objectIDs + $0.theirs.objectIDs }
    let values = refusal.violations.flatMap { [$0.value] + $0.others.map(\.value) }
    let named = Set((subjects + values.flatMap(\.objectIDs)).filter { !$0.isTemporary })
    let groups = Dictionary(grouping: named) { model.entity($0.entity)?.root ?? 0 }
    for (root, ids) in groups.sorted(by: { $0.key < $1.key }) {
      guard let entity = model.entity(root) else { continue }
      // Objects that can't be read are named by their ids.
      for image in (try? await shell.images(ids.sorted(), of: entity)) ?? [] {
        explained.titles[image.id] = shell.reference(image)
      }
    }
    guard !isRestore else { return explained }
    for conflict in refusal.conflicts.filter({ $0.kind == .deleted }).prefix(DeletionFinder.deletionsLookedUp) {
      guard let (deletion, image) = await deletions.deletion(of: conflict.id) else { continue }
      explained.deletions[conflict.id] = deletion
      if let image, explained.titles[conflict.id] == nil { explained.titles[conflict.id] = shell.reference(image) }
    }
    return explained
  }

  /// Corrects violations of references. An id is sent as one of the destination's entity; if it belongs to an object
  /// of another entity, the message says so.
  private func namingWhatIsMeant(_ refusal: Refusal) async -> Refusal {
    var refusal = refusal
    for (place, violation) in refusal.violations.enumerated().prefix(Self.misnamedLookedUp)
    where violation.commonRule == .destination {
      guard let property = model.property(violation.property), let id = violation.value.objectID,
        let wanted = property.relationship.flatMap({ model.entity($0.destination) }),
        let meant = try? await ObjectFinder(shell).object(id.key.description),
        !(model.entity(meant.id.entity)?.isKind(of: wanted) ?? true)
      else { continue }
      let message = "\(property.name) takes \(wanted.nameWithArticle), and \(shell.reference(meant)) is not one"
      refusal.message = refusal.message.replacing(violation.message, with: message)
      refusal.violations[place].message = message
      refusal.violations[place].value = .object(meant.id)
    }
    return refusal
  }

  private static let misnamedLookedUp = 20
}
