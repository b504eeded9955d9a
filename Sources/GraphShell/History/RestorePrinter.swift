import GraphJSON
import GraphModel
import GraphReplica
import GraphWire

/// Prints the result of a restore.
@MainActor
struct RestorePrinter {
  private let shell: CommandContext
  private var output: Output { shell.output }
  private var model: Model { shell.model }

  init(_ shell: CommandContext) { self.shell = shell }

  /// Prints the result of a restore, and on standard error the values that could not be restored.
  func show(_ saved: SaveResult, _ revision: Revision?) async throws {
    let skipped = saved.committed.conflicts
    let commit: CommitEntry
    do {
      commit = try await shell.record(of: saved)
    } catch let refusal as Refusal where refusal.code == .limit {
      // The commit succeeded, but it is too large for the log.
      return output.print(
        output.json
          ? JSON.object([.init("revision", .integer(saved.committed.revision))]).text
          : "restored: revision \(saved.committed.revision)")
    }
    if output.json { return output.print(ObjectJSON.commit(commit, skipped: skipped, model)) }
    for conflict in skipped {
      output.message("not restored: \(TextTable.visible(reason(conflict)))")
    }
    // Objects in which only derived values changed were not restored themselves.
    let changes = commit.changes.filter { !isDerivedAlone($0) }
    let counts = [("came back", Delta.Change.Kind.inserted), ("set back", .updated), ("deleted", .removed)]
      .map { words, kind in (words, changes.count { $0.kind == kind }) }.filter { $0.1 > 0 }
    let what = counts.map { "\(Output.count($0.1, "object")) \($0.0)" }.joined(separator: ", ")
    output.print("restored\(revision.map { " revision \($0)" } ?? ""): \(what)")
    for change in changes.prefix(10) {
      output.print("    \(ObjectJSON.sign(change.kind)) \(output.line(change))")
    }
    if changes.count > 10 { output.print("    … and \(changes.count - 10) more") }
  }

  /// Whether the server computed all values that changed in the object.
  private func isDerivedAlone(_ change: Delta.Change) -> Bool {
    guard change.kind == .updated, !change.edits.isEmpty else { return false }
    return change.edits.allSatisfy { edit in
      guard let attribute = model.property(edit.property)?.attribute else { return false }
      return attribute.derivation != nil || [.created, .updated, .sequence].contains(attribute.assignment)
    }
  }

  private func reason(_ conflict: Conflict) -> String {
    let (name, id, who) = (conflict.subject(in: model), conflict.shortID, conflict.otherAuthor)
    let other = if let id = conflict.mine.objectID { " \(id.description.prefix(8))" } else { "" }
    if conflict.kind == .changed, model.property(conflict.property)?.attribute?.kind == .enumeration {
      func text(_ value: Value) -> String { if let text = value.stringValue { text } else { "null" } }
      return "\(name) of \(id): the model no longer has \(text(conflict.mine)), the value is \(text(conflict.theirs))"
    }
    if conflict.kind == .changed, conflict.mine.isNull, conflict.theirs.isNull {
      return "\(id): it had no \(name), which is now required"
    }
    switch conflict.kind {
    case .deleted: return "\(name) of \(id):\(other) was deleted by \(who)"
    case .changed, .unique: return "\(name) of \(id):\(other) belongs to another object now, set by \(who)"
    }
  }
}
