import GraphClient
import GraphModel
import GraphReplica
import GraphWire

/// Handles results that are reloaded during a watch. A batch was too large for changes, or the effect of the commits
/// was no longer recorded. Prints who made the commits and how the result differs.
extension WatchPrinter {
  /// Maximum number of the newest commits that are read from the log. The one that caused the reload is among them
  /// unless commits are faster than results.
  private static let commitsAskedFor = 20

  func showReload(_ query: QueryID, _ images: [ObjectImage], _ at: Token) async {
    let (entity, predicate) = watched(query)
    if !silent.contains(query) {
      let shown = revision
      let isBatch = await showBatches(through: at.revision)
      if !unknown.contains(query) {
        if !isBatch, shown < at.revision {
          output.print(output.dim("changes in revisions \(shown + 1) to \(at.revision):"))
        }
        showDifference(to: images, entity, mayMatch: predicate != .always)
      }
    }
    hold(images, of: query)
    revision = max(revision, at.revision)
    guard !silent.contains(query) else { return }
    let shown = queries.filter { !silent.contains($0.key) }.values.flatMap { words.known(of: $0.entity) }
    output.print(output.dim("\(stateName): \(summary(shown)); changes follow"))
  }

  /// Prints how a result differs after a move between the daemon and this computer's copy.
  func showMove(of query: QueryID, to images: [ObjectImage]) {
    assert(!output.json, "the reader of JSON compares the snapshots")
    if silent.contains(query) || unknown.contains(query) { return }
    let (entity, predicate) = watched(query)
    // An object that was sent is there under its new id.
    let assigned = client.assignedIDs
    let known = words.known(of: entity).filter { assigned[$0.id] == nil }
    let difference = ResultDifference(from: known, to: images, model: model)
    if !difference.changes.isEmpty { show(difference, entity, mayMatch: predicate != .always) }
  }

  /// Prints the batches since the last printed revision, the oldest first.
  /// - Returns: whether there were any.
  @discardableResult
  func showBatches(through newest: Revision) async -> Bool {
    guard newest > revision else { return false }
    // Batches that the log does not return are not printed; the result is valid anyway.
    let request = LogRequest(after: revision, limit: UInt64(Self.commitsAskedFor), through: newest, changes: 0)
    guard let log = try? await client.readableLog(request) else { return false }
    let batches = log.commits.filter { $0.unlisted > 0 }.sorted { $0.revision < $1.revision }
    for batch in batches {
      let count = Output.count(Int(clamping: batch.unlisted), "change")
      output.print("\(when(batch.time, batch.author)) * \(count) by a batch, revision \(batch.revision)")
    }
    return !batches.isEmpty
  }

  /// Replaces the known objects of the query's entity by its current result.
  func hold(_ images: [ObjectImage], of query: QueryID) {
    unknown.remove(query)
    let entity = watched(query).entity
    for image in words.known(of: entity) { words.forget(image.id) }
    words.record(images)
  }

  private func showDifference(to images: [ObjectImage], _ entity: Entity, mayMatch: Bool) {
    let difference = ResultDifference(from: words.known(of: entity), to: images, model: model)
    if difference.changes.isEmpty { return output.print("  \(entity.name): no watched objects changed") }
    show(difference, entity, mayMatch: mayMatch)
  }

  private func show(_ difference: ResultDifference, _ entity: Entity, mayMatch: Bool) {
    if difference.changes.count > ResultDifference.listedOneByOne {
      output.print("  \(entity.name): \(difference.counts)")
    } else {
      for change in difference.changes {
        var change = change
        change.deleted = change.kind == .removed && !mayMatch
        output.print("  \(text(of: change, gone: "deleted, or no longer matches"))")
      }
    }
  }
}
