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
  var isAwaitingSaves: Bool { unsent.count > 0 && quitting != .quits(discards: true) }

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

  /// In the middle of a change of all notes, a thousand at a time, leaving would leave the rest as it is.
  /// - Returns: whether that is so.
  private func tellWhatIsLeft() -> Bool {
    guard let (done, total) = eachSoFar, done < total else { return false }
    say("q again leaves \(total - done) of \(total) notes unchanged", isTrouble: true)
    return true
  }

  /// An answer came: perhaps it was the last one.
  func quitWhenSent() {
    guard unsent.count == 0 else { return }
    perform(quitting.everythingIsSent(leavesTexts: !openTexts.isEmpty))
  }

  /// Does what comes of a step of the conversation about leaving.
  func perform(_ action: Quitting.Action?) {
    switch action {
    case .showSending:
      showSaving()
      patienceTimer = application.schedule(at: now + patienceMilliseconds) { [weak self] in
        guard let self else { return }
        patienceTimer = nil
        perform(quitting.takesTooLong(unsent: unsent.count))
      }
    case .ask(let question):
      hideSaving()
      ask(text(of: question))
    case .goOn:
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
      // Nobody waits for the reply any more when the server was waited for.
      application.terminate(asks: false)
    case nil: break
    }
  }

  /// Said for as long as it holds: whoever only looks around meanwhile is not surprised.
  static let leavesLater = "leaves when the server has everything"

  private func text(of question: UnsentQuestion) -> QuestionText {
    QuestionText(
      title: "Leave?",
      lines: [question.sentence + ".", "What it does not have when the program ends is lost."],
      choices: [
        .init(key: "w", title: "Wait for the server, then leave") { [weak self] in self?.answer(.wait) },
        .init(key: "d", title: "Leave and lose them") { [weak self] in self?.answer(.discard) },
      ],
      cancel: { [weak self] in self?.answer(.cancel) })
  }

  private func answer(_ answer: UnsentAnswer) { perform(quitting.answer(answer)) }
}
