import GraphModel
import GraphReplica

/// Reports the conflicts of a commit that succeeded, on standard error.
@MainActor
package struct ConflictReport {
  private let saved: SaveResult
  private let model: Model
  private let output: Output

  package init(_ saved: SaveResult, _ shell: CommandContext) {
    (self.saved, model, output) = (saved, shell.model, shell.output)
  }

  /// The objects that were not deleted because another client had changed them.
  var kept: Set<ObjectID> {
    Set(saved.committed.conflicts.filter { $0.kind == .changed && !$0.mineWon }.map(\.id))
  }

  /// Reports conflicts between a commit's deletes and changes made since the objects were read. The commit succeeded.
  func reportKept() {
    for conflict in saved.committed.conflicts where conflict.kind == .changed {
      let who = TextTable.visible(conflict.otherAuthor)
      output.message(
        conflict.mineWon
          ? "deleted: \(conflict.shortID), although \(who) changed it\(conflict.atRevision)"
          : "not deleted: \(conflict.shortID), because \(who) changed it\(conflict.atRevision)")
    }
  }

  /// Reports inserts that were merged into existing objects with the same unique key but other values.
  package func reportExistingObjects() {
    let met = saved.committed.conflicts.filter { $0.kind == .unique }
    for conflict in met.prefix(Self.maximumMetLines) {
      let name = if let entity = model.entity(conflict.id.entity) { entity.nameWithArticle } else { "an object" }
      let verb = conflict.mineWon ? "overwritten" : "not changed"
      output.message(
        "\(verb): \(conflict.subject(in: model)) of \(conflict.shortID), \(name) that has this key already")
    }
    if met.count > Self.maximumMetLines {
      output.message(
        "and \(met.count - Self.maximumMetLines) more values of objects that existed already")
    }
  }

  private static let maximumMetLines = 10

  /// Reports references that were dropped because other clients deleted their destinations.
  /// - Throws: a refusal if the commit inserted nothing; otherwise the rest of the commit counts as success.
  package func reportDroppedReferences(of changes: [Change]) throws {
    let changed = Set(changes.map(\.id))
    let gone = saved.committed.conflicts.filter { $0.kind == .deleted && !changed.contains($0.id) }
    guard let first = gone.first else { return }
    if saved.committed.identities.isEmpty {
      throw Refusal(
        .conflict, "\(first.otherAuthor) has deleted this \(model.entityName(first.id.entity))", conflicts: gone)
    }
    reportDeleted(gone)
  }

  private func reportDeleted(_ conflicts: [Conflict]) {
    for conflict in conflicts {
      let who = TextTable.visible(conflict.otherAuthor)
      output.message("not changed: \(conflict.shortID), because \(who) deleted it\(conflict.atRevision)")
    }
  }

  /// Reports edits that lost a conflict and edits that replaced edits of others; the commit succeeded.
  package func reportOverwritten() {
    reportDeleted(saved.committed.conflicts.filter { $0.kind == .deleted })
    for conflict in saved.committed.conflicts where conflict.kind == .changed {
      let who = TextTable.visible(conflict.otherAuthor)
      let (what, id) = (conflict.subject(in: model), conflict.shortID)
      let text =
        switch (conflict.mineWon, conflict.isCollateral) {
        case (false, true): "not changed: \(what) of \(id), because \(who) changed another property of the object"
        case (false, false): "not changed: \(what) of \(id), because \(who) changed it\(conflict.atRevision)"
        case (true, _): "overwritten: \(what) of \(id), although \(who) changed it\(conflict.atRevision)"
        }
      output.message(text)
    }
  }
}
