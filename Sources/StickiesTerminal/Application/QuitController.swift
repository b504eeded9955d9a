import GraphControllers
import GraphModel
import TerminalApplication

/// Quitting: unsent changes are sent first if possible; otherwise the user is asked.
final class QuitController: BoardPart {
  let services: BoardServices
  /// The time for which quitting waits for answers before it asks, in milliseconds.
  var maximumDelayMilliseconds: Int64 = 2_000
  /// Called before the last changes are sent: drags end.
  var willFinishChanges: () -> Void = {}
  private let connection: ConnectionMonitor
  private let questions: QuestionController
  private let busy: BusyController
  private let saving: SaveController
  private let bulk: BulkChangeController
  private let editing: EditingController
  private var machine = QuitStateMachine.idle
  private var timer: TimerID?

  init(
    _ services: BoardServices, _ connection: ConnectionMonitor, _ questions: QuestionController,
    _ busy: BusyController, _ saving: SaveController, _ bulk: BulkChangeController, _ editing: EditingController
  ) {
    (self.services, self.connection, self.questions) = (services, connection, questions)
    (self.busy, self.saving, self.bulk, self.editing) = (busy, saving, bulk, editing)
  }

  /// Ends the open gesture and editor, and sends their changes.
  func finishChanges() {
    willFinishChanges()
    link.leaveEditor()
    editing.end()
    if saving.pacer.isWaiting { saving.save() }
  }

  /// The number of changes that are not on the server, including texts that can't be saved there.
  var changesNotOnServer: Int {
    saving.unsent.count
      + questions.all.count { question in
        question.text?().isEmpty == false && question.subject.map { saving.unsent.contains($0.id) } != true
      }
  }

  /// Whether sent changes are unanswered and the user has not chosen to discard them.
  var isAwaitingSaves: Bool { saving.unsent.count > 0 && machine != .quitting(discards: true) }

  /// Texts that would be lost with the program, except those that the user chose to discard. A text that is both in a
  /// question and on its way to the server counts once.
  var unsavedTexts: [String] {
    let asked = saving.offered.union(questions.all.compactMap { $0.subject?.id })
    let changed = isAwaitingSaves ? saving.changedTexts.filter { !asked.contains($0.key) } : [:]
    return changed.sorted { $0.key < $1.key }.map(\.value) + questions.texts
  }

  func shouldTerminate() -> TerminateReply {
    guard questions.texts.isEmpty else {
      questions.askNext()
      report("decide about the text first", isTrouble: true)
      return .cancel
    }
    guard bulk.isRestAbandoned || !reportUnchangedNotes() else {
      bulk.abandonRest()
      return .cancel
    }
    finishChanges()
    let action = machine.request(unsent: saving.unsent.count, canSend: connection.state.isConnected)
    if action == .quit { return .now }
    perform(action)
    return .later
  }

  /// Warns that quitting would leave notes unchanged, if a change of all notes is in progress.
  /// - Returns: whether such a change is in progress.
  private func reportUnchangedNotes() -> Bool {
    guard let (done, total) = bulk.progress, done < total else { return false }
    report("q again leaves \(total - done) of \(total) notes unchanged", isTrouble: true)
    return true
  }

  private func hideSaving() {
    busy.hideSaving()
    if let timer { application.cancel(timer) }
    timer = nil
  }

  /// Continues quitting after an answer, if that was the last one outstanding.
  func quitWhenSent() {
    guard saving.unsent.count == 0 else { return }
    perform(machine.changesSent(leavesTexts: !questions.texts.isEmpty))
  }

  /// Whether the program ends when the server has everything.
  var isWaiting: Bool { machine == .waiting }

  /// Continues the program if it was about to end, because there is something new.
  func objectWillChange() {
    guard let action = machine.objectChanged() else { return }
    perform(action)
    // A user who is still typing must see that the program does not quit.
    report("stays open: there are changes", isTrouble: true)
  }

  /// Asks the user, because changes were refused.
  func saveWasRefused() { perform(machine.refused(unsent: saving.unsent.count)) }

  /// Continues the program while it sends the last changes.
  func cancel() { perform(machine.cancelSending()) }

  /// Performs the action that a step of quitting returned.
  private func perform(_ action: QuitStateMachine.Action?) {
    switch action {
    case .showSending:
      busy.showSaving()
      timer = application.schedule(at: now + maximumDelayMilliseconds) { [weak self] in
        guard let self else { return }
        timer = nil
        perform(machine.sendTimedOut(unsent: saving.unsent.count))
      }
    case .ask(let question):
      hideSaving()
      questions.ask(text(of: question))
    case .continueWork:
      application.replyToTerminate(false)
      report(Self.leavesLater)
      if connection.state.isConnected { saving.save() }
      quitWhenSent()
    case .stay:
      hideSaving()
      application.replyToTerminate(false)
    case .quit:
      questions.close()
      application.replyToTerminate(true)
      // If the program waited for the server, the application no longer waits for the reply.
      application.terminate(asks: false)
    case nil: break
    }
  }

  /// Shown as long as quitting is pending, so that the user is not surprised when the program ends.
  static let leavesLater = "leaves when the server has everything"

  private func text(of question: UnsentChangesPrompt) -> QuestionText {
    QuestionText(
      title: "Leave?",
      lines: [question.sentence + ".", "Unsent changes are lost when the program ends."],
      choices: [
        .init(key: "w", title: "Wait for the server, then leave") { [weak self] in self?.choose(.wait) },
        .init(key: "d", title: "Leave and lose them") { [weak self] in self?.choose(.discard) },
      ],
      cancel: { [weak self] in self?.choose(.cancel) })
  }

  private func choose(_ choice: UnsentChangesChoice) { perform(machine.answer(choice)) }
}
