import TerminalApplication
import TerminalCells

/// A question: a few lines, and the keys that answer it.
struct QuestionText {
  struct Choice {
    var key: Character
    var title: String
    var perform: () -> Void
    /// Whether Escape chooses it, too.
    var isEscape = false
    /// Whether it discards the only copy of something. The key must then be pressed twice, because a letter typed by
    /// chance would do it.
    var isForGood = false

    init(
      key: Character, title: String, isEscape: Bool = false, isForGood: Bool = false, perform: @escaping () -> Void
    ) {
      (self.key, self.title, self.perform) = (key, title, perform)
      (self.isEscape, self.isForGood) = (isEscape, isForGood)
    }
  }

  var title: String
  var lines: [String]
  var choices: [Choice]
  /// The action of Escape if it is none of the choices; nil for none.
  var cancel: (() -> Void)?
  /// Receives keys and pastes while the user is still typing. An unexpected question has no answers until they pause,
  /// because the next letter of a word would be one.
  var typing: ((TerminalEvent) -> Void)?
  /// A text that exists nowhere else and is lost without an answer.
  var text: (() -> String)?
  /// The note that the question is about; nil if it is about none.
  var subject: NoteController?

  /// The view of the question.
  /// - Parameter doubted: the key that must be pressed once more.
  func view(withAnswers: Bool, doubted: Character? = nil) -> QuestionView {
    let answers = choices.map {
      QuestionView.Button($0.title, key: $0.key == doubted ? "\($0.key) once more" : String($0.key))
    }
    let offer = if let text { text() } else { "" }
    return QuestionView(
      title, message: lines.joined(separator: " "), offer: offer,
      buttons: withAnswers ? answers + (cancel == nil ? [] : [.init("Cancel", key: "Esc")]) : [])
  }
}

/// A modal window with a question: other windows get no keys and no mouse until it is answered.
final class QuestionWindow: ModalWindow {
  let text: QuestionText
  private weak var controller: QuestionController?
  /// Set until the user has paused typing.
  private var pause: TimerID?
  /// The key of a permanent choice that has been pressed once.
  private var doubted: Character?
  /// Whether the user is still typing: keys go to the text and answer nothing.
  var isTypedOver: Bool { pause != nil }

  init(_ text: QuestionText, for controller: QuestionController) {
    self.text = text
    self.controller = controller
    super.init(frame: Rect(origin: Point(x: 0, y: 0), size: controller.application.screenSize), title: text.title)
    if text.typing != nil { awaitPause() }
  }

  private func awaitPause() {
    guard let controller else { return }
    let application = controller.application
    if let pause { application.cancel(pause) }
    pause = application.schedule(at: application.now + controller.pauseMilliseconds) { [weak self] in
      guard let self else { return }
      pause = nil
      setNeedsDisplay()
    }
  }

  override func screenDidResize(_ size: Size) { frame = Rect(origin: Point(x: 0, y: 0), size: size) }

  override func keyDown(_ key: KeyEvent) -> Bool {
    if pause != nil {
      text.typing?(.key(key))
      setNeedsDisplay()
      awaitPause()
      return true
    }
    let before = doubted
    if doubted != nil { setNeedsDisplay() }
    doubted = nil
    switch key.key {
    case .character(let character) where key.modifiers.isEmpty:
      guard let choice = text.choices.first(where: { $0.key == character }) else { break }
      if !choice.isForGood || before == character { return answer(choice.perform) }
      doubted = character
      setNeedsDisplay()
    case .enter: if let first = text.choices.first { close(first.perform) }
    // For a question about quitting, Ctrl-C stays in the program; it does not bypass the question.
    case .character("c") where key.modifiers == .control: if let cancel = text.cancel { close(cancel) }
    case .escape:
      if let answer = text.cancel ?? text.choices.first(where: \.isEscape)?.perform { close(answer) }
    default: break
    }
    return true
  }

  override func paste(_ paste: PasteEvent) -> Bool {
    guard pause != nil else { return true }
    text.typing?(.paste(paste))
    setNeedsDisplay()
    awaitPause()
    return true
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    guard case .press(.left) = mouse.kind, pause == nil else { return true }
    guard
      case .button(let place)? = text.view(withAnswers: true, doubted: doubted).part(at: mouse.position, frame: frame)
    else {
      return true
    }
    if text.choices.indices.contains(place) {
      close(text.choices[place].perform)
    } else if let cancel = text.cancel {
      close(cancel)
    }
    return true
  }

  private func answer(_ perform: () -> Void) -> Bool {
    close(perform)
    return true
  }

  private func close(_ perform: () -> Void) {
    controller?.questionDidEnd()
    application?.endModal(self)
    perform()
    controller?.askNext()
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    guard let controller else { return }
    text.view(withAnswers: pause == nil, doubted: doubted).draw(
      into: &grid, frame: frame, clip: clip, theme: controller.theme)
    grid.cursor = nil
  }
}
