import GraphModel
import GraphReplica
import StickiesKit

/// Saving: at a limited rate, with all changes in one transaction, and with a reaction to every answer.
extension BoardScreen {
  /// Records that a note was changed here, and schedules a save.
  func touch(_ id: ObjectID) {
    if let action = quitting.objectChanged() {
      perform(action)
      // A user who is still typing must see that the program does not quit.
      say("stays open: there are changes", isTrouble: true)
    }
    unsent.touch(id)
    pacer.change()
    application.setNeedsDisplay()
    saveSoon()
  }

  /// Saves, or schedules the save, as `SavePacer` allows.
  func saveSoon() {
    guard let due = pacer.due else { return }
    if due <= now { return save() }
    guard saveTimer == nil else { return }
    saveTimer = application.schedule(at: due) { [weak self] in
      self?.saveTimer = nil
      self?.saveSoon()
    }
  }

  /// Saves now, even while another save is unanswered. Called at the end of a gesture, so that it is one undo step.
  func save() {
    // The answer belongs to the board that was shown then.
    let page = page
    let made = context.insertedObjects.map(\.id)
    page.windows.send(made)
    let texts = changedTexts
    let number = unsent.send()
    pacer.sent(at: now)
    let isSent = link.save { [weak self] result in self?.take(result, of: number, made, texts, on: page) }
    guard !isSent else { return }
    pacer.answered()
    unsent.confirm(number, [])
  }

  /// Texts that differ from those on the server.
  var changedTexts: [ObjectID: String] {
    var texts = [ObjectID: String]()
    for id in unsent.all {
      guard let note = context.fault(id) as? Note, !note.isDeleted, !note.isFault else { continue }
      if !UTF8Comparison.equal(note.text, storedText(of: id) ?? "") { texts[id] = note.text }
    }
    return texts
  }

  /// The text of a note on the server, as far as it is known here.
  func storedText(of id: ObjectID) -> String? {
    context.storedObjects.image(of: id).flatMap { image in
      context.model.entity(id.entity)?.property(named: "text").flatMap { image[$0].stringValue }
    }
  }

  private func take(
    _ result: Result<SaveResult, Refusal>, of number: Int, _ made: [ObjectID], _ texts: [ObjectID: String],
    on page: BoardPage
  ) {
    pacer.answered()
    switch result {
    case .success(let saved):
      refusedInARow = 0
      // The changes are saved now; later messages stay.
      if let notSaved, notSaved == messageTimer { message = nil }
      notSaved = nil
      keepDraft(saved.committed.conflicts)
      unsent.confirm(number, saved.committed.identities)
      if !made.isEmpty { page.identify(saved.committed.identities, at: saved.committed.revision) }
      tell(saved.committed.conflicts, texts)
      written = written.filter { unsent.contains($0.key) }
    case .failure(let refusal):
      page.withdraw(made)
      _ = unsent.refuse(number)
      let isGone = letGo(refusal, texts)
      if !isGone {
        say("not saved: \(refusal.message)", isTrouble: true)
        notSaved = messageTimer
      }
      let isSettled = settle(refusal) || isGone
      if !isSettled { perform(quitting.refused(unsent: unsent.count)) }
    }
    editing?.followOthers()
    application.setNeedsDisplay()
    saveSoon()
    quitWhenSent()
  }

  /// Keeps the editor's text after another client deleted the note.
  private func keepDraft(_ conflicts: [Conflict]) {
    guard let editing else { return }
    if conflicts.contains(where: { $0.kind == .deleted && $0.id == editing.id }) {
      editing.keepDraft()
    } else {
      editing.draft = nil
    }
  }

  /// Time until the next attempt after a transient failure, in milliseconds.
  private static let retryMilliseconds: Int64 = 2_000
  /// Maximum number of consecutive refusals that are repaired automatically.
  private static let maximumRefusals = 3

  /// Repairs refused changes, which would make every later save fail. A transient failure is retried later, a note
  /// whose board was deleted moves to the one that is shown, and a link to a deleted note is removed.
  /// - Returns: whether something was repaired, so that the rest is sent again.
  private func settle(_ refusal: Refusal) -> Bool {
    if refusal.code == .unavailable {
      retryLater()
      return false
    }
    refusedInARow += 1
    // For a conflict, all violations concern required references whose destination another client deleted.
    let destinations = refusal.violations.filter { $0.commonRule == .destination || refusal.code == .conflict }
    var isSettled =
      refusal.code == .conflict ? false : setAside(refusal.violations.filter { $0.commonRule != .destination })
    guard refusedInARow <= Self.maximumRefusals || isSettled else { return false }
    let others = destinations.filter { !takeOff($0) }
    if others.count < destinations.count { isSettled = true }
    for id in Set(others.map(\.id)).sorted() {
      switch context.fault(id) {
      case let line as Link where line.isInserted:
        context.delete(line)
        unsent.forget(id)
        isSettled = true
      case let note as Note where note.board?.id != page.board.id && directory.number(of: page.board.id) != nil:
        note.board = page.board
        if note.isInserted { page.add(id) }
        // This is not a change by the user, so quitting continues.
        unsent.touch(id)
        say("its board is gone; the note is here", isTrouble: true)
        isSettled = true
      default: break
      }
    }
    if isSettled, unsent.count > 0 { pacer.change() }
    return isSettled
  }

  /// Handles objects that the server does not know because it was restored to an earlier state. The context has
  /// dropped them, and their texts are offered like those of notes that were deleted.
  /// - Returns: whether there were any, so that the rest is sent again.
  private func letGo(_ refusal: Refusal, _ texts: [ObjectID: String]) -> Bool {
    let gone = refusal.violations.filter { $0.commonRule == .missing }
      .map { Conflict(kind: .deleted, id: $0.id) }
    guard !gone.isEmpty else { return false }
    for conflict in gone { unsent.forget(conflict.id) }
    keepDraft(gone)
    tell(gone, texts, isUnknown: true)
    if unsent.count > 0 { pacer.change() }
    return true
  }

  /// Moves invalid texts from the unsent changes into a file, because no save could succeed with them.
  private func setAside(_ violations: [Violation]) -> Bool {
    var sentences = [String]()
    var texts = [String]()
    for (id, broken) in Dictionary(grouping: violations, by: \.id).sorted(by: { $0.key < $1.key }) {
      guard let note = context.fault(id) as? Note, let text = context.model.entity(id.entity)?.property(named: "text"),
        broken.allSatisfy({ $0.property == text.number }), let rule = broken.first
      else { continue }
      let title = note.text.split(whereSeparator: \.isNewline).first.map { String($0.prefix(40)) } ?? ""
      sentences.append("“\(title)”: \(rule.message).")
      texts.append(note.text)
      if editing?.id == id {
        editing?.endEditing()
        editing = nil
        undoScope.endGroup()
      }
      if note.isInserted {
        context.delete(note)
        page.drop(id)
        page.reconcile()
      } else {
        note.text = context.storedObjects.image(of: id)?[text].stringValue ?? ""
      }
      unsent.forget(id)
    }
    guard !texts.isEmpty else { return false }
    // The question replaces the message.
    message = nil
    let kept = link.keep(texts)
    ask(
      QuestionText(
        title: "Not saved",
        lines: sentences + [
          kept.map { "Your text is in \($0)." } ?? "Your text could not be kept in a file."
        ],
        choices: [.init(key: "o", title: "OK") {}]
          + texts.prefix(1).map { text in
            .init(key: "c", title: "Copy it") { [weak self] in self?.copy(text) }
          }))
    return true
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

  /// Reports the conflicts of a save, once, in the status line.
  /// - Parameters:
  ///   - texts: the texts that were sent; those of deleted notes are offered.
  ///   - isUnknown: whether the objects are missing because the server was restored, not because of a delete.
  private func tell(_ conflicts: [Conflict], _ texts: [ObjectID: String], isUnknown: Bool = false) {
    let gone = conflicts.filter { $0.kind == .deleted && !$0.mineWon && $0.id != editing?.id }
    // Includes text written since the save.
    let left = gone.filter { (written[$0.id] ?? texts[$0.id])?.isEmpty == false }
    let new = left.filter { offered.insert($0.id).inserted }
    let orphans = new.compactMap { written[$0.id] ?? texts[$0.id] }
    if !left.isEmpty, new.isEmpty { return }
    if let first = new.first {
      let cause = isUnknown ? "the server was restored to a state without" : "\(name(first)) has deleted"
      let what = orphans.count == 1 ? "the note" : "\(orphans.count) notes"
      return offer(orphans.joined(separator: "\n\n"), "\(cause) \(what) that you have written in")
    }
    // Saves use `objectTrump`, so that only a delete by another client wins over changes made here. For the edited
    // note, the question reports it.
    guard let lost = gone.first else {
      // Concurrent moves and raises of a note are visible anyway.
      let seen = ["x", "y", "z", "width", "height"]
      let won = conflicts.first { conflict in
        conflict.mineWon && conflict.kind == .changed
          && !seen.contains(context.model.property(conflict.property)?.name ?? "")
      }
      if let won { tellWhatGaveWay(won) }
      return
    }
    say(
      isUnknown
        ? "the server was restored to a state without this object; your change is lost"
        : context.model.entity(lost.id.entity)?.name == "Note"
          ? "\(name(lost)) has deleted the note; your change to it is lost"
          : "\(name(lost)) has deleted an object this refers to; the rest is saved", isTrouble: true)
  }

  /// Reports that a change made here replaced one of another client, which may not have been visible.
  private func tellWhatGaveWay(_ conflict: Conflict) {
    let isDelete = conflict.kind == .changed && conflict.property == 0
    say(
      isDelete
        ? "\(name(conflict)) had changed the deleted note; undo brings it back"
        : "\(name(conflict)) had changed the same; yours counts, theirs is in the history", isTrouble: true,
      gone: isDelete ? [conflict.id] : [])
  }

  private func name(_ conflict: Conflict) -> String { conflict.author.isEmpty ? "someone" : conflict.author }

  /// Undoes or redoes the last step.
  func undo(isRedo: Bool) {
    // Undo runs on the server; queued while disconnected, it would surprise the user after the reconnect.
    guard linkState.isConnected else {
      return say("\(isRedo ? "redo" : "undo") needs the server", isTrouble: true)
    }
    guard linkIsOpen else { return }
    guard !isChangingAll else { return say(Self.isStillChanging) }
    keyRow = nil
    save()
    inquiries.step(isRedo: isRedo) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let isWhole):
        let stays = isWhole ? "" : "; later changes by others stay"
        say((isRedo ? "Redone" : "Undone") + stays)
      case .failure(RequestChannel.givenUp): say("cancelled; the server may still do it")
      case .failure(let refusal): say(refusal.message, isTrouble: refusal.code != .notFound)
      }
    }
  }
}
