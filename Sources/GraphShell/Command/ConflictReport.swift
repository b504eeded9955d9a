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
    for conflict in met.prefix(Self.maximumLines) {
      let name = if let entity = model.entity(conflict.id.entity) { entity.nameWithArticle } else { "an object" }
      let verb = conflict.mineWon ? "overwritten" : "not changed"
      output.message(
        "\(verb): \(conflict.subject(in: model)) of \(conflict.shortID), \(name) that has this key already")
    }
    if met.count > Self.maximumLines {
      output.message(
        "and \(met.count - Self.maximumLines) more values of objects that existed already")
    }
  }

  /// The most values, and the most references, that are listed for a commit.
  private static let maximumLines = 10

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
    reportDeleted(gone, changes)
  }

  /// Reports edits of deleted objects, and references to them, which were left out. The server reports each deleted
  /// object once; `changes` has the edits that refer to it.
  private func reportDeleted(_ conflicts: [Conflict], _ changes: [Change], lines: [ObjectID: Int] = [:]) {
    let edited = Set(changes.map(\.id))
    let deletions = Dictionary(
      conflicts.filter { !edited.contains($0.id) }.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for conflict in conflicts where deletions[conflict.id] == nil {
      let who = TextTable.visible(conflict.otherAuthor)
      output.message("not changed: \(conflict.shortID), because \(who) deleted it\(conflict.atRevision)")
    }
    if deletions.isEmpty { return }
    let permanent = Dictionary(
      saved.committed.identities.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { first, _ in first })
    var dropped = [String]()
    for change in changes {
      let id = permanent[change.id] ?? change.id
      let place = if let line = lines[change.id] { "line \(line)" } else { "\(id.description.prefix(8))" }
      for edit in change.edits {
        for conflict in edit.targets.compactMap({ deletions[$0] }) {
          let (what, who) = (model.propertyName(edit.property), TextTable.visible(conflict.otherAuthor))
          dropped.append(
            "left out: \(what) of \(place), because \(who) deleted \(conflict.shortID)\(conflict.atRevision)")
        }
      }
    }
    for message in dropped.prefix(Self.maximumLines) { output.message(message) }
    if dropped.count > Self.maximumLines {
      output.message("and \(dropped.count - Self.maximumLines) more references to deleted objects")
    }
  }

  /// Reports edits that lost a conflict and edits that replaced edits of others; the commit succeeded.
  /// - Parameters:
  ///   - changes: the committed changes.
  ///   - lines: the lines of standard input of the objects that they insert.
  package func reportOverwritten(of changes: [Change], lines: [ObjectID: Int] = [:]) {
    reportDeleted(saved.committed.conflicts.filter { $0.kind == .deleted }, changes, lines: lines)
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

extension Edit {
  /// The objects that the edit refers to.
  fileprivate var targets: [ObjectID] {
    switch action {
    case .set(let value): value.objectIDs
    case .members(let added, _): added
    case .place(let members, _): members
    case .splice: []
    }
  }
}
