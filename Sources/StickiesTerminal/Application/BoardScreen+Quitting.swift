import GraphControllers
import GraphModel
import TerminalApplication

/// Leaving: what is not on the server is sent first when it can be, and asked about when it can't.
extension BoardScreen {
  /// Ends what one is in the middle of, and sends it.
  func finishChanges() {
    endGesture()
    link.leaveEditor()
    endEditing()
    if pacer.isWaiting { save() }
  }

  /// Whether something was sent that has no answer, though nobody chose to lose it.
  var isAwaitingSaves: Bool { unsent.count > 0 && !hasDiscarded }

  /// Texts that would be lost with the program, though nobody chose to lose them. What a question has of a note may be on its
  /// way to the server as well: it counts once.
  var unsavedTexts: [String] {
    let asked = offered.union(openQuestions.compactMap { $0.subject?.id })
    let changed = isAwaitingSaves ? changedTexts.filter { !asked.contains($0.key) } : [:]
    return changed.sorted { $0.key < $1.key }.map(\.value) + openTexts
  }

  func shouldTerminate() -> TerminateReply {
    guard openTexts.isEmpty else {
      askNext()
      say("say what becomes of the text", isTrouble: true)
      return .cancel
    }
    finishChanges()
    guard unsent.count > 0 else { return .now }
    if linkState.isConnected {
      quitting = .sending([])
      showSaving()
      if let patienceTimer { application.cancel(patienceTimer) }
      patienceTimer = application.schedule(at: now + patienceMilliseconds) { [weak self] in
        guard let self else { return }
        patienceTimer = nil
        if isLeaving { askAboutUnsent() }
      }
    } else {
      askAboutUnsent()
    }
    return .later
  }

  /// Whoever wanted to leave does not any more.
  func stay() {
    if let patienceTimer { application.cancel(patienceTimer) }
    patienceTimer = nil
    quitting.failed()
    hideSaving()
    application.replyToTerminate(false)
  }

  /// Whether the program ends as soon as everything is on the server.
  var isLeaving: Bool { quitting == .sending([]) }

  func askAboutUnsent() {
    let question = page.windows.unsentQuestion ?? UnsentQuestion(ids: [])
    quitting = .stays
    hideSaving()
    quitting.request(question)
    let count = unsent.count
    ask(
      QuestionText(
        title: "Leave?",
        lines: [
          "\(count) \(count == 1 ? "change is" : "changes are") not on the server yet.",
          "What it does not have when the program ends is lost.",
        ],
        choices: [
          .init(key: "w", title: "Wait for the server, then leave") { [weak self] in
            guard let self else { return }
            _ = quitting.answer(.send)
            quitting = .sending([])
            // Meanwhile it is used as ever; whoever changes something stays.
            application.replyToTerminate(false)
            say("leaves when the server has everything")
            if linkState.isConnected { save() }
            quitWhenSent()
          },
          .init(key: "d", title: "Leave and lose them") { [weak self] in
            _ = self?.quitting.answer(.discard)
            self?.hasDiscarded = true
            self?.leave()
          },
        ],
        cancel: { [weak self] in
          _ = self?.quitting.answer(.cancel)
          self?.application.replyToTerminate(false)
        }))
  }

  /// An answer came: perhaps it was the last one.
  func quitWhenSent() {
    // Asked about what has been sent meanwhile, nobody needs to answer.
    var isAsked = false
    if case .asking = quitting { isAsked = true }
    guard isLeaving || isAsked, unsent.count == 0 else { return }
    // The last answer was that a text has no place any more.
    guard openTexts.isEmpty else {
      if isLeaving { stay() }
      return
    }
    quitting = .quits
    if let question {
      self.question = nil
      application.endModal(question)
    }
    leave()
  }

  private func leave() {
    application.replyToTerminate(true)
    // Nobody waits for the reply any more when the server was waited for.
    application.terminate(asks: false)
  }
}
