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
    findLines(at: focused.id) { [weak self, weak focused] lines in
      guard let self, let focused, focused === self.focused else { return }
      guard let line = lines.first else { return say("no line leads to this note; L draws one") }
      if lines.count == 1 { return askForLabel(of: line) }
      linkStart = focused
      say("Tab or a click chooses the other note; Return writes, Esc ends")
    }
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
    findLines(at: from.id, and: to.id) { [weak self] lines in
      guard let self, linkStart === start else { return }
      endLink(from, to, lines.first)
    }
  }

  /// - Parameter line: the one that is there.
  private func endLink(_ from: Note, _ to: Note, _ line: Link?) {
    if writesOnLink {
      guard let line else { return say("no line leads there: Tab or a click, Esc leaves it") }
      linkStart = nil
      return askForLabel(of: line)
    }
    linkStart = nil
    if let line { return unlink(line) }
    guard linkIsOpen, !from.isDeleted, !to.isDeleted else { return }
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

  /// Hands over links of a note, or of two: one that is here, or two where only one note is named. Of a large board those
  /// that begin far away are not here: the server is asked for what is missing. Without it what is here has to do.
  private func findLines(at id: ObjectID, and other: ObjectID? = nil, _ body: @escaping ([Link]) -> Void) {
    // Keys wait for the answer; a click does not, and would ask for the same twice.
    guard !isFinding else { return }
    let here = other.map { [line(between: id, and: $0)].compactMap { $0 } } ?? lines(at: id)
    let limit = other == nil ? 2 : 1
    guard page.part != nil, here.count < limit, linkState.isConnected, !id.isTemporary, other?.isTemporary != true
    else { return body(here) }
    save()
    isFinding = true
    // It is answered when the server has what was saved before.
    inquiries.links(BoardPage.links(at: id, and: other, in: context.model), limit: limit) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let found): body(found.filter { !$0.isDeleted })
      case .failure(let refusal): say(refusal.message, isTrouble: refusal != BoardInquiries.givenUp)
      }
      releaseKeys()
    }
  }

  /// The links of a note that are here, also those that the server does not have yet.
  private func lines(at id: ObjectID) -> [Link] {
    let made = context.insertedObjects.compactMap { $0 as? Link }
    return (page.links.snapshot.compactMap { context.fault($0) as? Link } + made).filter { line in
      !line.isDeleted && (line.from?.id == id || line.to?.id == id)
    }
  }

  /// The link of two notes that is here, whichever way it points.
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
      guard let self, linkIsOpen, !line.isDeleted, !Bytes.equal(line.label, label) else { return }
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
      let wish = linkState(-1, start, end, wish(between: start, and: end), on: page)
    else { return lines }
    return lines + [wish]
  }

  /// What becomes of two notes: of a large board the server knows whether they have a link.
  private func wish(between start: ObjectID, and end: ObjectID) -> String {
    guard line(between: start, and: end) == nil else { return "unlink" }
    return page.part == nil ? "link" : "(un)link"
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
