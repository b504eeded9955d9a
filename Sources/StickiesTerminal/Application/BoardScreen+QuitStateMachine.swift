import GraphControllers
import GraphModel
import TerminalApplication

/// Quitting: unsent changes are sent first if possible; otherwise the user is asked.
extension BoardScreen {
  /// Ends the open gesture and editor, and sends their changes.
  func finishChanges() {
    endGesture()
    link.leaveEditor()
    endEditing()
    if pacer.isWaiting { save() }
  }

  /// Whether sent changes are unanswered and the user has not chosen to discard them.
  var isAwaitingSaves: Bool { unsent.count > 0 && quitting != .quitting(discards: true) }

  /// Texts that would be lost with the program, except those that the user chose to discard. A text that is both in a
  /// question and on its way to the server counts once.
  var unsavedTexts: [String] {
    let asked = offered.union(openQuestions.compactMap { $0.subject?.id })
    let changed = isAwaitingSaves ? changedTexts.filter { !asked.contains($0.key) } : [:]
    return changed.sorted { $0.key < $1.key }.map(\.value) + openTexts
  }

  func shouldTerminate() -> TerminateReply {
    guard openTexts.isEmpty else {
      askNext()
      say("decide about the text first", isTrouble: true)
      return .cancel
    }
    guard leavesRest || !tellWhatIsLeft() else {
      leavesRest = true
      return .cancel
    }
    finishChanges()
    let action = quitting.request(unsent: unsent.count, canSend: linkState.isConnected)
    if action == .quit { return .now }
    perform(action)
    return .later
  }

  /// Warns that quitting would leave notes unchanged, if a change of all notes is in progress.
  /// - Returns: whether such a change is in progress.
  private func tellWhatIsLeft() -> Bool {
    guard let (done, total) = eachSoFar, done < total else { return false }
    say("q again leaves \(total - done) of \(total) notes unchanged", isTrouble: true)
    return true
  }

  /// Continues quitting after an answer, if that was the last one outstanding.
  func quitWhenSent() {
    guard unsent.count == 0 else { return }
    perform(quitting.changesSent(leavesTexts: !openTexts.isEmpty))
  }

  /// Performs the action that a step of quitting returned.
  func perform(_ action: QuitStateMachine.Action?) {
    switch action {
    case .showSending:
      showSaving()
      patienceTimer = application.schedule(at: now + maximumDelayMilliseconds) { [weak self] in
        guard let self else { return }
        patienceTimer = nil
        perform(quitting.sendTimedOut(unsent: unsent.count))
      }
    case .ask(let question):
      hideSaving()
      ask(text(of: question))
    case .continueWork:
      application.replyToTerminate(false)
      say(Self.leavesLater)
      if linkState.isConnected { save() }
      quitWhenSent()
    case .stay:
      hideSaving()
      application.replyToTerminate(false)
    case .quit:
      if let question {
        self.question = nil
        application.endModal(question)
      }
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
        .init(key: "w", title: "Wait for the server, then leave") { [weak self] in self?.answer(.wait) },
        .init(key: "d", title: "Leave and lose them") { [weak self] in self?.answer(.discard) },
      ],
      cancel: { [weak self] in self?.answer(.cancel) })
  }

  private func answer(_ answer: UnsentChangesChoice) { perform(quitting.answer(answer)) }
}
