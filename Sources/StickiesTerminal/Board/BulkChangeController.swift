import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// Changes of all notes of a large board. A predicate selects them, and the server changes them in one commit, which
/// is one undo step. `BulkChangeController+Slices` makes the changes that no such batch can make.
final class BulkChangeController: BoardPart {
  let services: BoardServices
  /// Whether all notes are being changed.
  var isChanging = false
  /// The progress of a change in slices.
  var progress: (done: Int, total: Int)?
  /// Whether the user quits although a change in slices is not complete.
  var isRestAbandoned = false
  /// The name of the change in slices, and the changes requested meanwhile under the same name.
  var slicedUpdate: (name: String, queued: [(Note) -> Void])?
  let connection: ConnectionMonitor
  let busy: BusyController
  let tags: TagController
  let selection: SelectionController
  let saving: SaveController

  init(
    _ services: BoardServices, _ connection: ConnectionMonitor, _ busy: BusyController, _ tags: TagController,
    _ selection: SelectionController, _ saving: SaveController
  ) {
    (self.services, self.connection, self.busy, self.tags) = (services, connection, busy, tags)
    (self.selection, self.saving) = (selection, saving)
  }

  /// Maximum number of changes that one undo reverts; see docs/guides/undo.md.
  private static let maximumUndone = 100_000

  /// Whether all selected notes can be changed now; shows the reason if not.
  var allowsChange: Bool {
    if isChanging {
      report(Self.isStillChanging)
    } else if !connection.state.isConnected {
      report("changing all notes of a large board needs the server", isTrouble: true)
    }
    return !isChanging && connection.state.isConnected
  }

  /// Lets the user quit before a change in slices is complete.
  func abandonRest() { isRestAbandoned = true }

  /// Requests a batch that changes all selected notes.
  /// - Parameter work: the change, derived from the first note that it applies to.
  func change(
    _ all: SelectAllState, _ change: BulkChangeDescription, _ work: @escaping (Note) -> NoteBatch.Operation
  ) {
    guard connection.allowsChanges, allowsChange, !selection.mode.selection.isEmpty else { return }
    // The server creates an undo step that the scope does not know.
    saving.keyRepeat = nil
    saving.save()
    isChanging = true
    let notes = all.selected(selection.mode.selection.target)
    let place = change.place.isEmpty ? "" : " \(change.place)"
    let token = busy.begin("\(change.doing) \(selection.mode.selection.count) notes\(place)…")
    busy.overlay.setProgress(0, of: token)
    link.followBatch { [weak self] step in
      guard let self, step.total > 0 else { return }
      busy.overlay.setProgress(Double(step.done) / Double(step.total), of: token)
      application.setNeedsDisplay()
    }
    let free = change.sparesLocked ? GraphPredicate(Note.self) { $0.locked == false } : .always
    let first = NoteSearch(predicate: .all([notes, free]), sort: [SortKey](Note.self, [\.number.ascending]))
    // The reply arrives after the server has committed the previous save.
    busy.reads.find(first) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let found):
        guard let first = found.first else { return endChange(change, token, .success(nil)) }
        let batch = NoteBatch(notes: notes, work: work(first), sparesLocked: change.sparesLocked)
        busy.reads.change(batch) { [weak self] in self?.endChange(change, token, $0.map { $0 }) }
      case .failure(let refusal): endChange(change, token, .failure(refusal))
      }
    }
  }

  /// Reports the outcome.
  /// - Parameter result: nil if every note is locked.
  private func endChange(
    _ change: BulkChangeDescription, _ token: BusyToken, _ result: Result<NoteBatchResult?, Refusal>
  ) {
    assert(isChanging, "the change that ends has begun")
    isChanging = false
    busy.end(token)
    switch result {
    case .success(let result?) where result.count > 0: report(words(of: result, change))
    case .success(let result?) where result.locked == 0:
      report("nothing was changed: the notes are gone, or already are like that")
    case .success: report(Self.allAreLocked)
    case .failure(RequestChannel.cancelled): report("cancelled; nothing is changed unless all of it was done")
    // Whether the batch was committed may be unknown.
    case .failure(let refusal) where refusal.code == .unavailable: report(refusal.message, isTrouble: true)
    case .failure(let refusal): report("nothing was changed: \(refusal.message)", isTrouble: true)
    }
  }

  static let isStillChanging = "all notes are being changed; Esc cancels"
  static let allAreLocked = "all of them are locked and stay unchanged"

  func words(of result: NoteBatchResult, _ change: BulkChangeDescription) -> String {
    let what = result.count == 1 ? "1 note" : "\(result.count) notes"
    let done = [change.done, what, change.place].filter { !$0.isEmpty }.joined(separator: " ")
    let undo = result.changed > Self.maximumUndone ? "too many for u to undo" : "u \(change.undone)"
    return done + "; " + undo + (result.locked > 0 ? "; \(result.locked) locked and unchanged" : "")
  }
}
