import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// A tag for all notes of a large board, or taken off them. No batch adds to what a note has, so the notes are read, changed and
/// saved a thousand at a time: several commits, and one step of undo. Given up, it stays as far as it is.
extension BoardScreen {
  private static let taggedAtOnce = 1_000

  private struct Tagging {
    let name: String
    /// Taken off, since all of them have it.
    var isOff: Bool
    /// Those that are to change.
    var notes: GraphPredicate
    var total: Int
    let locked: Int
    let token: BusyToken
    /// The tag, once it is known.
    var tag: Tag?
    var done = 0
    /// The number of the last note that was changed: a note that could not be is not met again.
    var last: Int64 = 0
  }

  func tagAll(_ all: AllNotes, _ name: String) {
    guard linkIsOpen, !isChangingAll, !mode.selection.isEmpty else { return }
    guard linkState.isConnected else { return say(Self.needsServer, isTrouble: true) }
    save()
    isChangingAll = true
    let count = mode.selection.count
    let token = beginWait("Tagging \(count) notes…")
    overlay.setProgress(0, of: token)
    let free = GraphPredicate.all([
      all.selected(mode.selection.target), GraphPredicate(Note.self) { $0.locked == false },
    ])
    let without = GraphPredicate.all([free, .not(GraphPredicate(Note.self) { $0.tags.any.name == name })])
    reading.count(free) { [weak self] result in
      guard let self else { return }
      guard case .success(let freeCount) = result else { return endTagging(token, result) }
      var tagging = Tagging(
        name: name, isOff: true, notes: free, total: freeCount, locked: max(0, count - freeCount), token: token)
      reading.count(without) { [weak self] result in
        guard let self else { return }
        guard case .success(let withoutCount) = result else { return endTagging(token, result) }
        if withoutCount > 0 { (tagging.isOff, tagging.notes, tagging.total) = (false, without, withoutCount) }
        undoScope.beginGroup(named: tagging.isOff ? "Untag" : "Tag")
        goOn(tagging)
      }
    }
  }

  private func goOn(_ tagging: Tagging) {
    let last = tagging.last
    let rest = GraphPredicate.all([tagging.notes, GraphPredicate(Note.self) { $0.number > last }])
    let search = NoteSearch(
      predicate: rest, sort: [SortKey](Note.self, [\.number.ascending]), limit: Self.taggedAtOnce)
    // It is answered when the server has what was saved before.
    reading.find(search) { [weak self] result in
      guard let self else { return }
      guard case .success(let notes) = result, let last = notes.last, linkIsOpen, refusedInARow == 0 else {
        return end(tagging, result)
      }
      var tagging = tagging
      change(notes, &tagging)
      save()
      tagging.done += notes.count
      tagging.last = last.number
      overlay.setProgress(Double(tagging.done) / Double(max(tagging.total, tagging.done)), of: tagging.token)
      goOn(tagging)
    }
  }

  private func change(_ notes: [Note], _ tagging: inout Tagging) {
    if !tagging.isOff, tagging.tag == nil { tagging.tag = tag(named: tagging.name) }
    for note in notes where !note.isDeleted {
      if tagging.isOff { takeOff(tagging.name, of: note) } else if let tag = tagging.tag { wear(tag, on: note) }
      touch(note.id)
    }
  }

  private func end(_ tagging: Tagging, _ result: Result<[Note], Refusal>) {
    undoScope.endGroup()
    // Of a save that was refused it is said already.
    guard refusedInARow == 0 else { return endTagging(tagging.token) }
    let counted = NoteBatchResult(count: tagging.done, locked: tagging.locked, changed: tagging.done)
    let change = WholeChange(doing: "Tagging", done: tagging.isOff ? "untagged" : "tagged")
    endTagging(tagging.token)
    switch result {
    case .success where tagging.done == 0: say(Self.allAreLocked)
    case .success: say(words(of: counted, change))
    case .failure(let refusal):
      say(
        "\(refusal.message) after \(tagging.done) of \(tagging.total) notes; u takes it back",
        isTrouble: refusal != BoardInquiries.givenUp)
    }
  }

  /// - Parameter result: what was asked before the first note was changed.
  private func endTagging(_ token: BusyToken, _ result: Result<Int, Refusal>? = nil) {
    isChangingAll = false
    endWait(token)
    if case .failure(let refusal)? = result { say("nothing was changed: \(refusal.message)", isTrouble: true) }
  }
}
