import TerminalApplication

/// Questions to the user, one at a time.
final class QuestionController: BoardPart {
  let services: BoardServices
  /// The minimum pause in typing before a question accepts answers, in milliseconds.
  var pauseMilliseconds: Int64 = 500
  /// The window of the open question.
  private var open: QuestionWindow?
  private var waiting = [QuestionText]()

  init(_ services: BoardServices) { self.services = services }

  /// The open and waiting questions, the visible one first.
  var all: [QuestionText] { [open?.text].compactMap(\.self) + waiting }

  /// Texts that exist only in questions.
  var texts: [String] { all.compactMap { $0.text?() }.filter { !$0.isEmpty } }

  /// Withdraws the questions about a note whose text is safe otherwise.
  func withdraw(about controller: NoteController) {
    waiting.removeAll { $0.subject === controller }
    guard let window = open, window.text.subject === controller else { return }
    open = nil
    application.endModal(window)
    askNext()
  }

  /// Shows the next waiting question.
  func askNext() {
    guard open == nil, !waiting.isEmpty else { return }
    ask(waiting.removeFirst())
  }

  /// Asks a question. An open question that can be cancelled gives way to it; any other is answered first.
  func ask(_ text: QuestionText) {
    if let old = open {
      guard old.text.cancel != nil else { return waiting.append(text) }
      // The old question can no longer be answered, so it is cancelled.
      open = nil
      application.endModal(old)
      old.text.cancel?()
    }
    // Keys typed before the question was visible do not answer it.
    if text.typing == nil { application.discardEvents(.input) }
    let window = QuestionWindow(text, for: self)
    open = window
    services.modals.begin(window)
  }

  /// Records that the open question is being answered; its window closes itself.
  func questionDidEnd() { open = nil }

  /// Closes the open question without an answer.
  func close() {
    guard let window = open else { return }
    open = nil
    application.endModal(window)
  }
}
