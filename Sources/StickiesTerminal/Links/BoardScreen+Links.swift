import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Lines between notes: from the note in focus to another one that is chosen by keys or by a click. Between two that have
/// one already, it is taken away, or written on.
extension BoardScreen {
  /// The command: begins at the note in focus, or ends there when it was begun at another one.
  func linkOrEnd() {
    writesOnLink = false
    if linkStart != nil { return endLink(at: focused) }
    guard linkIsOpen, let focused, focused.note != nil else { return }
    linkStart = focused
    say("Tab or a click chooses the other note; Return (un)links, Esc ends")
  }

  /// The command: writes on the line of the note in focus. Of several it is the one to another note that is chosen.
  func writeOnLink() {
    writesOnLink = true
    if linkStart != nil { return endLink(at: focused) }
    guard linkIsOpen, let focused, focused.note != nil else { return }
    let lines = lines(at: focused.id)
    guard let line = lines.first else { return say("no line leads to this note; L draws one") }
    if lines.count == 1 { return askForLabel(of: line) }
    linkStart = focused
    say("Tab or a click chooses the other note; Return writes, Esc ends")
  }

  func cancelLink() {
    linkStart = nil
    message = nil
    application.setNeedsDisplay()
  }

  /// The other note is chosen.
  func endLink(at controller: NoteController?) {
    guard let start = linkStart, let from = start.note, let to = controller?.note else { return }
    guard from.id != to.id else { return say("choose another note: Tab or a click, Esc leaves it") }
    let line = line(between: from.id, and: to.id)
    if writesOnLink {
      guard let line else { return say("no line leads there: Tab or a click, Esc leaves it") }
      linkStart = nil
      return askForLabel(of: line)
    }
    linkStart = nil
    if let line { return unlink(line) }
    guard linkIsOpen else { return }
    step(named: "Link") {
      guard let line = context.insert(Link.self) else { return }
      (line.from, line.to) = (from, to)
      touch(line.id)
    }
    say("linked; u takes it back")
  }

  private func unlink(_ line: Link) {
    guard linkIsOpen else { return }
    step(named: "Unlink") {
      let id = line.id
      context.delete(line)
      touch(id)
    }
    say("unlinked; u takes it back")
  }

  /// One step of undo, saved apart from what was changed before.
  private func step(named name: String, _ body: () -> Void) {
    save()
    undoScope.beginGroup(named: name)
    body()
    save()
    undoScope.endGroup()
  }

  /// The links of a note, also those that the server does not have yet.
  private func lines(at id: ObjectID) -> [Link] {
    let made = context.insertedObjects.compactMap { $0 as? Link }
    return (page.links.snapshot.compactMap { context.fault($0) as? Link } + made).filter { line in
      !line.isDeleted && (line.from?.id == id || line.to?.id == id)
    }
  }

  /// The link of two notes, whichever way it points.
  private func line(between one: ObjectID, and other: ObjectID) -> Link? {
    lines(at: one).first { $0.from?.id == other || $0.to?.id == other }
  }

  /// A line was clicked twice; false where there is none.
  func askAboutLink(at point: Point) -> Bool {
    guard case .link(let number)? = canvasState.part(at: point, frame: canvas, theme: theme, cache: layouts),
      (0..<page.links.count).contains(number), let line = page.links.object(at: number) as? Link
    else { return false }
    ask(
      QuestionText(
        title: "Delete the link?", lines: ["The notes at its ends stay."],
        choices: [
          .init(key: "d", title: "Delete it") { [weak self] in
            // Held by the question: a link that nobody holds goes, and comes back as another object.
            if !line.isDeleted { self?.unlink(line) }
          },
          .init(key: "l", title: "Write on it instead") { [weak self] in self?.askForLabel(of: line) },
        ], cancel: {}))
    return true
  }

  /// How long what is written on a line may be, in bytes of UTF-8; the model's own limit.
  static let maximumLabel = 200

  private func askForLabel(of line: Link) {
    guard linkIsOpen else { return }
    guard !line.isDeleted else { return say("the link is gone", isTrouble: true) }
    let window = PromptWindow(
      "Label", maximum: Self.maximumLabel, on: self, text: line.label, takesNothing: true
    ) { [weak self] label in
      guard let self, linkIsOpen, !line.isDeleted, line.label != label else { return }
      step(named: "Label") {
        line.label = label
        touch(line.id)
      }
    }
    beginModal(window)
  }

  // MARK: - Drawing

  var linkStates: [LinkState] {
    // A line to a note that a search has not found would lead nowhere.
    let shown = found == nil ? nil : Set(shownIDs)
    let lines = lines(on: page, among: shown)
    // Who writes on a line sees the line.
    guard !writesOnLink, let start = linkStart?.id, let end = page.windows.focus, start != end,
      let wish = linkState(-1, start, end, line(between: start, and: end) == nil ? "link" : "unlink", on: page)
    else { return lines }
    return lines + [wish]
  }

  /// The lines of a board; nil for those between any two notes.
  func lines(on page: BoardPage, among shown: Set<ObjectID>?) -> [LinkState] {
    page.links.snapshot.enumerated().compactMap { index, id -> LinkState? in
      guard let line = context.fault(id) as? Link, let from = line.from?.id, let to = line.to?.id,
        shown.map({ $0.isSuperset(of: [from, to]) }) ?? true
      else { return nil }
      return linkState(index, from, to, line.label, on: page)
    }
  }

  private func linkState(_ number: Int, _ from: ObjectID, _ to: ObjectID, _ label: String, on page: BoardPage)
    -> LinkState?
  {
    guard let start = outline(of: from, on: page), let end = outline(of: to, on: page) else { return nil }
    return LinkState(id: number, from: start, to: end, label: label)
  }

  private func outline(of id: ObjectID, on page: BoardPage) -> Rect? {
    page.windows[id] == nil ? nil : page.values(of: id)?.outline
  }
}
