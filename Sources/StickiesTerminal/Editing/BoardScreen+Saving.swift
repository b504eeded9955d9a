import GraphModel
import GraphReplica
import StickiesKit

/// How changes get to the server: at a bounded rate, all that was changed in one transaction, and every answer is heard.
extension BoardScreen {
  /// A note was changed here.
  func touch(_ id: ObjectID) {
    if isLeaving, application.phase == .running {
      quitting = .stays
      say("stays: there is something new")
    }
    unsent.touch(id)
    pacer.change()
    application.setNeedsDisplay()
    saveSoon()
  }

  /// Saves when it is time to.
  func saveSoon() {
    guard let due = pacer.due else { return }
    if due <= now { return save() }
    guard saveTimer == nil else { return }
    saveTimer = application.schedule(at: due) { [weak self] in
      self?.saveTimer = nil
      self?.saveSoon()
    }
  }

  /// Saves now, behind what is on its way: at the end of a gesture, so that all of it is one step of undo.
  func save() {
    // The answer is for the board that was shown then.
    let page = page
    let made = context.insertedObjects.map(\.id)
    page.windows.send(made)
    let number = unsent.send()
    pacer.sent(at: now)
    let isSent = link.save { [weak self] result in self?.take(result, of: number, made, on: page) }
    guard !isSent else { return }
    pacer.answered()
    unsent.confirm(number, [])
  }

  private func take(_ result: Result<Saved, Refusal>, of number: Int, _ made: [ObjectID], on page: BoardPage) {
    pacer.answered()
    switch result {
    case .success(let saved):
      refusedInARow = 0
      keepDraft(saved.committed.conflicts)
      unsent.confirm(number, saved.committed.identities)
      quitting.identify(saved.committed.identities)
      if !made.isEmpty { page.identify(saved.committed.identities, at: saved.committed.revision) }
      tell(saved.committed.conflicts)
    case .failure(let refusal):
      page.withdraw(made)
      _ = unsent.refuse(number)
      say("not saved: \(refusal.message)", isTrouble: true)
      let isSettled = settle(refusal)
      if isLeaving, !isSettled {
        quitting.failed()
        askAboutUnsent()
      }
    }
    editing?.followOthers()
    application.setNeedsDisplay()
    saveSoon()
    quitWhenSent()
  }

  /// A note that somebody deleted takes no more text; an editor that is open on it keeps what was typed.
  private func keepDraft(_ conflicts: [Conflict]) {
    guard let editing else { return }
    if conflicts.contains(where: { $0.kind == .deleted && $0.id == editing.id }) {
      editing.keepDraft()
    } else {
      editing.draft = nil
    }
  }

  /// How long a save that a passing trouble refused waits for the next one, in milliseconds.
  private static let retryMilliseconds: Int64 = 2_000
  /// So often what was refused is mended and sent again before somebody has to look at it.
  private static let maximumRefusals = 3

  /// What was refused goes with every save that follows, so it must not stay as it is: a passing trouble is waited for, a
  /// note whose board is gone comes to the one that is shown, and a line to a note that is gone goes.
  /// - Returns: whether something was mended: the rest is sent again then.
  private func settle(_ refusal: Refusal) -> Bool {
    if refusal.code == .unavailable {
      retryLater()
      return false
    }
    refusedInARow += 1
    guard refusedInARow <= Self.maximumRefusals else { return false }
    var isSettled = false
    for id in Set(refusal.violations.filter { $0.rule == "destination" }.map(\.id)).sorted() {
      switch context.fault(id) {
      case let line as Link where line.isInserted:
        context.delete(line)
        unsent.forget(id)
        isSettled = true
      case let note as Note where note.board?.id != page.board.id && directory.number(of: page.board.id) != nil:
        note.board = page.board
        if note.isInserted { page.add(id) }
        // Nobody has done anything new: who leaves goes on leaving.
        unsent.touch(id)
        say("its board is gone; it is on this one", isTrouble: true)
        isSettled = true
      default: break
      }
    }
    if isSettled, unsent.count > 0 { pacer.change() }
    return isSettled
  }

  private func retryLater() {
    guard retryTimer == nil else { return }
    retryTimer = application.schedule(at: now + Self.retryMilliseconds) { [weak self] in
      guard let self else { return }
      retryTimer = nil
      guard unsent.count > 0 else { return }
      pacer.change()
      saveSoon()
    }
  }

  /// What others had done to the same: said once, in the status line.
  private func tell(_ conflicts: [Conflict]) {
    // Of the note that is edited the question says it.
    guard let lost = conflicts.first(where: { !$0.mineWon && $0.id != editing?.id }) else { return }
    let who = lost.author.isEmpty ? "someone" : lost.author
    switch lost.kind {
    case .deleted: say("\(who) has deleted the note; what was changed in it here is gone", isTrouble: true)
    case .changed: say("\(who) changed the same; theirs counts, yours is in the history", isTrouble: true)
    case .unique: say("another note has that already", isTrouble: true)
    }
  }

  /// Takes the last step back, or does it again.
  func undo(isRedo: Bool) {
    // It is done on the server: what is asked for unseen would happen unseen, on its return.
    guard linkState.isConnected else {
      return say("\(isRedo ? "redo" : "undo") needs the server", isTrouble: true)
    }
    save()
    inquiries.step(isRedo: isRedo) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let saved):
        let stays = saved.committed.conflicts.isEmpty ? "" : "; what others changed since stays"
        say((isRedo ? "Done again" : "Undone") + stays)
      case .failure(BoardInquiries.givenUp): say("given up; the server may still do it")
      case .failure(let refusal): say(refusal.message, isTrouble: refusal.code != .notFound)
      }
    }
  }
}
