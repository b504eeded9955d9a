import GraphModel
import TerminalApplication
import GraphReplica
import StickiesKit
import StickiesModel

/// Takes part in saving: the open editor and the end of the program depend on it.
protocol SaveControllerDelegate: AnyObject {
  /// The note that is edited here.
  var editedNote: NoteController? { get }
  /// Called before a change is recorded.
  func saveControllerWillChange(_ controller: SaveController)
  /// Called when changes were refused and nothing could be repaired.
  func saveControllerWasRefused(_ controller: SaveController)
  /// Called after each answer.
  func saveControllerDidFinish(_ controller: SaveController)
  /// Called to close the editor without saving, because no save could succeed with its text.
  func saveControllerDiscardsEdit(_ controller: SaveController)
  /// Called to ask the user about a text whose note was deleted.
  func saveController(_ controller: SaveController, offers text: String, because sentence: String)
}

/// Saves changes at a limited rate, all of them in one transaction, and reacts to each answer.
final class SaveController: BoardPart {
  let services: BoardServices
  /// Changes that the server does not have yet.
  private(set) var unsent = UnsentChanges()
  private(set) var pacer = SavePacer()
  /// The number of refused saves since the last successful one.
  private(set) var refusedInARow = 0
  /// Notes whose text was offered in a question.
  var offered = Set<ObjectID>()
  /// The keys that last moved or resized notes; nil after another command on notes, or an undo.
  var keyRepeat: KeyRepeatGroup?
  weak var delegate: (any SaveControllerDelegate)?
  private let pages: BoardPages
  private let questions: QuestionController
  private let tags: TagController
  /// Edited texts that the server does not have yet.
  private var written = [ObjectID: String]()
  private var timer: TimerID?
  /// The next retry after a transient failure.
  private var retryTimer: TimerID?
  /// Repeats the message that changes are not saved, as long as that is the case.
  private var notSaved: TimerID?

  init(_ services: BoardServices, _ pages: BoardPages, _ questions: QuestionController, _ tags: TagController) {
    (self.services, self.pages, self.questions, self.tags) = (services, pages, questions, tags)
  }

  /// Records a new text of a note. If the note was deleted meanwhile, the text will be offered.
  func textDidChange(_ text: String, of id: ObjectID) {
    written[id] = text
    offered.remove(id)
    touch(id)
  }

  private var editedNote: NoteController? { delegate?.editedNote }

  /// Records that a note was changed here, and schedules a save.
  func touch(_ id: ObjectID) {
    record(id)
    saveSoon()
  }

  /// Records that notes were changed here, and saves them now. No save becomes due between two of them, so they are one
  /// transaction however long their changes took.
  func save(changed ids: [ObjectID]) {
    for id in ids { record(id) }
    save()
  }

  private func record(_ id: ObjectID) {
    delegate?.saveControllerWillChange(self)
    unsent.touch(id)
    pacer.change()
    application.setNeedsDisplay()
  }

  /// Saves, or schedules the save, as `SavePacer` allows.
  func saveSoon() {
    guard let due = pacer.due else { return }
    if due <= now { return save() }
    guard timer == nil else { return }
    timer = application.schedule(at: due) { [weak self] in
      guard let self else { return }
      timer = nil
      saveSoon()
    }
  }

  /// Saves now, even while another save is unanswered. Called at the end of a gesture, so that it is one undo step.
  func save() {
    // The answer belongs to the board that was shown then.
    let page = pages.page
    let made = context.insertedObjects.map(\.id)
    page.windows.send(made)
    let texts = changedTexts
    let number = unsent.send()
    pacer.sent(at: now)
    let isSent = link.save { [weak self] result in self?.receive(result, of: number, made, texts, on: page) }
    guard !isSent else { return }
    pacer.answered()
    unsent.confirm(number, [])
  }

  /// Names objects by the ids that the server has assigned.
  func identify(_ ids: [ObjectID: ObjectID]) {
    unsent.rename { if let new = ids[$0] { new } else { $0 } }
    offered = Set(offered.map { ids[$0] ?? $0 })
    for (old, new) in ids {
      if let text = written.removeValue(forKey: old) { written[new] = text }
    }
  }

  /// The marks of a note, with one for unsent changes.
  func marks(of id: ObjectID, _ note: NoteValues) -> NoteBadges {
    unsent.contains(id) || isInUnsentEdit(id) ? note.marks.union(.unsent) : note.marks
  }

  /// Whether a note was changed on this computer's copy since the server had it.
  private func isInUnsentEdit(_ id: ObjectID) -> Bool {
    guard let revision = link.sync.unsentAfter(), let image = context.storedObjects.image(of: id) else { return false }
    return image.revision > revision
  }

  /// Texts that differ from those on the server.
  var changedTexts: [ObjectID: String] {
    var texts = [ObjectID: String]()
    for id in unsent.all {
      guard let note = context.fault(id) as? Note, !note.isDeleted, !note.isFault else { continue }
      let isSaved =
        if let stored = storedText(of: id) { UTF8Comparison.equal(note.text, stored) } else { note.text.isEmpty }
      if !isSaved { texts[id] = note.text }
    }
    return texts
  }

  /// The text of a note on the server, as far as it is known here.
  func storedText(of id: ObjectID) -> String? {
    context.storedObjects.image(of: id)?[context.model.property(Note.self, \.text)].stringValue
  }

  private func receive(
    _ result: Result<SaveResult, Refusal>, of number: Int, _ made: [ObjectID], _ texts: [ObjectID: String],
    on page: BoardPage
  ) {
    pacer.answered()
    switch result {
    case .success(let saved):
      refusedInARow = 0
      // The changes are saved now; later messages stay.
      if let notSaved, notSaved == services.status.timer { services.status.clear() }
      notSaved = nil
      keepDraft(saved.committed.conflicts)
      unsent.confirm(number, saved.committed.identities)
      if !made.isEmpty { page.identify(saved.committed.identities, at: saved.committed.revision) }
      report(saved.committed.conflicts, texts)
      written = written.filter { unsent.contains($0.key) }
    case .failure(let refusal):
      page.withdraw(made)
      unsent.refuse(number)
      let isGone = forgetMissing(refusal, texts)
      if !isGone {
        report("not saved: \(refusal.message)", isTrouble: true)
        notSaved = services.status.timer
      }
      let isRepaired = repair(refusal) || isGone
      if !isRepaired { delegate?.saveControllerWasRefused(self) }
    }
    editedNote?.followOthers()
    application.setNeedsDisplay()
    saveSoon()
    delegate?.saveControllerDidFinish(self)
  }

  /// Keeps the editor's text after another client deleted the note.
  private func keepDraft(_ conflicts: [Conflict]) {
    guard let editing = editedNote else { return }
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
  private func repair(_ refusal: Refusal) -> Bool {
    if refusal.code == .unavailable {
      retryLater()
      return false
    }
    refusedInARow += 1
    // For a conflict, all violations concern required references whose destination another client deleted.
    let destinations = refusal.violations.filter { $0.commonRule == .destination || refusal.code == .conflict }
    var isRepaired =
      refusal.code == .conflict ? false : setAside(refusal.violations.filter { $0.commonRule != .destination })
    guard refusedInARow <= Self.maximumRefusals || isRepaired else { return false }
    let others = destinations.filter { !detachDeletedTag($0) }
    if others.count < destinations.count { isRepaired = true }
    for id in Set(others.map(\.id)).sorted() {
      switch context.fault(id) {
      case let line as Link where line.isInserted:
        context.delete(line)
        unsent.forget(id)
        isRepaired = true
      case let note as Note
      where note.board?.id != pages.page.board.id && pages.directory.number(of: pages.page.board.id) != nil:
        note.board = pages.page.board
        if note.isInserted { pages.page.add(id) }
        // This is not a change by the user, so quitting continues.
        unsent.touch(id)
        report("its board is gone; the note is here", isTrouble: true)
        isRepaired = true
      default: break
      }
    }
    if isRepaired, unsent.count > 0 { pacer.change() }
    return isRepaired
  }

  /// Removes a tag that no longer exists on the server from a note.
  /// - Returns: false if the violation has another cause.
  private func detachDeletedTag(_ violation: Violation) -> Bool {
    let property = tags.property
    guard violation.property == property, let note = context.fault(violation.id) as? Note,
      let tag = note.tags.first(where: { .object($0.id) == violation.value })
    else { return false }
    note.remove(tag, from: property)
    unsent.touch(note.id)
    report("the tag \(tag.name) is gone; the note is saved without it", isTrouble: true)
    return true
  }

  /// Handles objects that the server does not know because it was restored to an earlier state. The context has
  /// dropped them, and their texts are offered like those of notes that were deleted.
  /// - Returns: whether there were any, so that the rest is sent again.
  private func forgetMissing(_ refusal: Refusal, _ texts: [ObjectID: String]) -> Bool {
    let gone = refusal.violations.filter { $0.commonRule == .missing }
      .map { Conflict(kind: .deleted, id: $0.id) }
    guard !gone.isEmpty else { return false }
    for conflict in gone { unsent.forget(conflict.id) }
    keepDraft(gone)
    report(gone, texts, isUnknown: true)
    if unsent.count > 0 { pacer.change() }
    return true
  }

  /// Moves invalid texts from the unsent changes into a file, because no save could succeed with them.
  private func setAside(_ violations: [Violation]) -> Bool {
    var sentences = [String]()
    var texts = [String]()
    let text = context.model.property(Note.self, \.text).number
    for (id, broken) in Dictionary(grouping: violations, by: \.id).sorted(by: { $0.key < $1.key }) {
      guard let note = context.fault(id) as? Note, broken.allSatisfy({ $0.property == text }), let rule = broken.first
      else { continue }
      sentences.append("“\(note.text.firstLine.beginning(of: 40))”: \(rule.message).")
      texts.append(note.text)
      if editedNote?.id == id { delegate?.saveControllerDiscardsEdit(self) }
      if note.isInserted {
        context.delete(note)
        pages.page.drop(id)
        pages.page.reconcile()
      } else if let stored = storedText(of: id) {
        note.text = stored
      }
      unsent.forget(id)
    }
    guard !texts.isEmpty else { return false }
    // The question replaces the message.
    services.status.clear()
    let place =
      if let file = link.keep(texts) { "Your text is in \(file)." } else { "Your text could not be kept in a file." }
    questions.ask(
      QuestionText(
        title: "Not saved",
        lines: sentences + [place],
        choices: [.init(key: "o", title: "OK") {}]
          + texts.prefix(1).map { text in
            .init(key: "c", title: "Copy it") { [weak self] in self?.services.clipboard.copy(text) }
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
  private func report(_ conflicts: [Conflict], _ texts: [ObjectID: String], isUnknown: Bool = false) {
    let gone = conflicts.filter { $0.kind == .deleted && !$0.mineWon && $0.id != editedNote?.id }
    // Includes text written since the save.
    let left = gone.filter { (written[$0.id] ?? texts[$0.id])?.isEmpty == false }
    let new = left.filter { offered.insert($0.id).inserted }
    let orphans = new.compactMap { written[$0.id] ?? texts[$0.id] }
    if !left.isEmpty, new.isEmpty { return }
    if let first = new.first {
      let cause = isUnknown ? "the server was restored to a state without" : "\(name(first)) has deleted"
      let what = orphans.count == 1 ? "the note" : "\(orphans.count) notes"
      delegate?.saveController(
        self, offers: orphans.joined(separator: "\n\n"), because: "\(cause) \(what) that you have written in")
      return
    }
    // Saves use `objectTrump`, so that only a delete by another client wins over changes made here. For the edited
    // note, the question reports it.
    guard let lost = gone.first else {
      // Concurrent moves and raises of a note are visible anyway.
      let visible = context.model.framePropertyNumbers
      let won = conflicts.first { $0.mineWon && $0.kind == .changed && !visible.contains($0.property) }
      if let won { reportReplaced(won) }
      return
    }
    report(
      isUnknown
        ? "the server was restored to a state without this object; your change is lost"
        : lost.id.entity == context.model.builtIn(Note.self).number
          ? "\(name(lost)) has deleted the note; your change to it is lost"
          : "\(name(lost)) has deleted an object this refers to; the rest is saved", isTrouble: true)
  }

  /// Reports that a change made here replaced one of another client, which may not have been visible.
  private func reportReplaced(_ conflict: Conflict) {
    let isDelete = conflict.kind == .changed && conflict.property == 0
    report(
      isDelete
        ? "\(name(conflict)) had changed the deleted note; undo brings it back"
        : "\(name(conflict)) had changed the same; yours counts, theirs is in the history", isTrouble: true,
      gone: isDelete ? [conflict.id] : [])
  }

  private func name(_ conflict: Conflict) -> String { conflict.author.isEmpty ? "someone" : conflict.author }
}
