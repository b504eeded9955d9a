import GraphModel
import GraphReplica

/// How changes get to the server: at a bounded rate, all that was changed in one transaction, and every answer is heard.
extension BoardScreen {
  /// A note was changed here.
  func touch(_ id: ObjectID) {
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
      unsent.confirm(number, saved.committed.identities)
      quitting.identify(saved.committed.identities)
      if !made.isEmpty { page.identify(saved.committed.identities, at: saved.committed.revision) }
      tell(saved.committed.conflicts)
    case .failure(let refusal):
      page.withdraw(made)
      _ = unsent.refuse(number)
      quitting.failed()
      say("not saved: \(refusal.message)", isTrouble: true)
    }
    editing?.followOthers()
    application.setNeedsDisplay()
    saveSoon()
    quitWhenSent()
  }

  /// What others had done to the same: said once, in the status line.
  private func tell(_ conflicts: [Conflict]) {
    guard let lost = conflicts.first(where: { !$0.mineWon }) else { return }
    let who = lost.author.isEmpty ? "someone" : lost.author
    switch lost.kind {
    case .deleted: say("\(who) has deleted the note; what was changed in it here is gone", isTrouble: true)
    case .changed: say("\(who) changed the same; theirs counts, yours is in the history", isTrouble: true)
    case .unique: say("another note has that already", isTrouble: true)
    }
  }

  /// Takes the last step back, or does it again.
  func undo(isRedo: Bool) {
    save()
    link.undo(isRedo) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let saved):
        let stays = saved.committed.conflicts.isEmpty ? "" : "; what others changed since stays"
        say((isRedo ? "Done again" : "Undone") + stays)
      case .failure(let refusal): say(refusal.message, isTrouble: refusal.code != .notFound)
      }
    }
  }
}
