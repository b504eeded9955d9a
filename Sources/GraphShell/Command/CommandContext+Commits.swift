import GraphClient
import GraphModel
import GraphReplica
import GraphWire

/// Commits, and reads the result back.
extension CommandContext {
  /// Commits, and returns the object as stored.
  package func commit(_ changes: [Change], policy: MergePolicy = .objectTrump, returning id: ObjectID) async throws
    -> ObjectImage
  {
    let saved = try await client.commit(changes, policy: policy)
    try ConflictReport(saved, self).reportDroppedReferences(of: changes)
    return try await stored(saved, id)
  }

  package func stored(_ saved: SaveResult, _ id: ObjectID) async throws -> ObjectImage {
    let permanent = saved.committed.identities.first { $0.temporary == id }?.permanent ?? id
    if let lost = saved.committed.conflicts.first(where: { $0.kind == .deleted && $0.id == permanent }) {
      let who = lost.otherAuthor
      // For a restored object, the conflict names the author of the restore, as the last change.
      let isBack = await DeletionFinder(self).deletion(of: permanent)?.0.revival != nil
      throw Refusal(
        .conflict,
        isBack ? "it was deleted since you read it, and brought back by \(who)" : "\(who) has deleted it",
        conflicts: [lost])
    }
    if let image = saved.objects.first(where: { $0.id == permanent }) { return image }
    // Nothing changed, or the object did not fit into the reply.
    guard let entity = model.entity(permanent.entity),
      let image = try await images(of: entity, where: .identifiers([permanent])).first
    else {
      throw Refusal(.notFound, "the object has been deleted meanwhile")
    }
    return image
  }

  package func delete(_ ids: [ObjectID]) async throws -> CommitEntry {
    try await record(of: client.commit(ids.map { Change(.delete, $0) }, policy: .objectTrump))
  }

  /// The commit of a save, as the log has it.
  package func record(of saved: SaveResult) async throws -> CommitEntry {
    let revision = saved.committed.revision
    do {
      let entries = try await client.log(after: revision - 1, through: revision, limit: 1)
      guard let entry = entries.first else { throw Refusal(.unavailable, "the log does not contain it") }
      return entry
    } catch let refusal as Refusal {
      // The message must not suggest a retry, which would commit twice.
      throw Refusal(refusal.code, "revision \(revision) is committed, but cannot be shown: \(refusal.message)")
    }
  }
}
