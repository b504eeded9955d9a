import TerminalApplication
import TerminalCells

/// Asks for one line and suggests names for it.
final class PromptWindow: FieldWindow, LineFieldTextObserver, LineFieldEndObserver {
  private let appearance: BoardAppearance
  private let offers: (String) -> [String]
  private let done: (String) -> Void
  private var names = [String]()
  private var chosen: Int?

  /// Creates a prompt.
  /// - Parameters:
  ///   - maximum: the maximum length of the answer, in bytes of UTF-8.
  ///   - text: the initial text.
  ///   - takesNothing: whether an empty answer is valid.
  ///   - offers: the names that match the typed text; called again after each change.
  ///   - done: receives the answer; not called when the user cancels.
  init(
    _ title: String, maximum: Int, with services: BoardServices, text: String = "", takesNothing: Bool = false,
    offers: @escaping (String) -> [String] = { _ in [] }, done: @escaping (String) -> Void
  ) {
    (appearance, self.offers, self.done) = (services.appearance, offers, done)
    super.init(frame: Rect(origin: Point(x: 0, y: 0), size: services.application.screenSize), title: title)
    field.attach(EndEditOnReturnBehavior())
    field.attach(CharacterCountBehavior(maximum: maximum))
    if !takesNothing { field.attach(RequiredTextBehavior()) }
    field.observers.add(self)
    field.didCopy = { [clipboard = services.clipboard] in clipboard.copy($0) }
    if !text.isEmpty { field.replace(with: text) }
    names = offers(text)
  }

  override func screenDidResize(_ size: Size) { frame = Rect(origin: Point(x: 0, y: 0), size: size) }

  // Suggestions can arrive while the prompt is open.
  override func update() {
    let offered = offers(field.text)
    guard offered != names else { return }
    (names, chosen) = (offered, nil)
    setNeedsDisplay()
  }

  func fieldDidChange(_ field: LineField) { (names, chosen) = (offers(field.text), nil) }

  func fieldDidEnd(_ field: LineField) {
    application?.endModal(self)
    done(field.text)
  }

  /// Answers with a suggested name, regardless of the typed text.
  private func choose(_ place: Int) {
    application?.endModal(self)
    done(names[place])
  }

  override func keyDown(_ key: KeyEvent) -> Bool {
    setNeedsDisplay()
    let shown = min(names.count, PromptView.maximumNames)
    switch key.key {
    case .escape: application?.endModal(self)
    case .enter:
      guard let chosen else { return field.handle(key) }
      choose(chosen)
    case .tab:
      if let name = chosen.map({ names[$0] }) ?? names.first { field.replace(with: name) }
    case .down where shown > 0: chosen = if let chosen { (chosen + 1) % shown } else { 0 }
    case .up where shown > 0: chosen = if let chosen { (chosen + shown - 1) % shown } else { shown - 1 }
    default: return field.handle(key)
    }
    return true
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    switch (mouse.kind, view.part(at: mouse.position, frame: frame)) {
    case (.press(.left), .name(let place)): choose(place)
    case (.press(.left), .text(let offset)): field.place(offset)
    case (.drag(.left), .text(let offset)): field.place(offset, isSelecting: true)
    case (.press(.left), nil): application?.endModal(self)
    default: return true
    }
    setNeedsDisplay()
    return true
  }

  private var view: PromptView {
    PromptView(
      title, text: field.text, cursor: field.editor.cursor, selection: field.editor.selection, remark: field.remark,
      isWrong: field.isWrong, names: names, chosen: chosen)
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    grid.cursor = nil
    view.draw(into: &grid, frame: frame, clip: clip, theme: appearance.theme)
  }
}
