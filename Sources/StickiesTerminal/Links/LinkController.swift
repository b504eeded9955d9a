import GraphModel
import GraphReplica
import StickiesKit
import StickiesModel
import TerminalApplication
import TerminalCells

/// Links between notes: from the focused note to another one that is chosen by keys or a click. The command deletes
/// an existing link between them, or edits its label.
final class LinkController: BoardPart {
  let services: BoardServices
  /// The first note of a link while its other end is chosen.
  private(set) var start: NoteController?
  private let connection: ConnectionMonitor
  private let pages: BoardPages
  private let questions: QuestionController
  private let busy: BusyController
  private let search: BoardSearch
  private let saving: SaveController
  private let navigation: NavigationController
  /// Whether the chosen link's text will be edited, instead of toggling the link.
  private var writesLabel = false

  init(
    _ services: BoardServices, _ connection: ConnectionMonitor, _ pages: BoardPages, _ questions: QuestionController,
    _ busy: BusyController, _ search: BoardSearch, _ saving: SaveController, _ navigation: NavigationController
  ) {
    (self.services, self.connection, self.pages, self.questions) = (services, connection, pages, questions)
    (self.busy, self.search, self.saving, self.navigation) = (busy, search, saving, navigation)
  }

  /// Ends a link that was begun at a note whose window closed.
  func windowDidClose(_ controller: NoteController) {
    guard start === controller else { return }
    start = nil
    report("the note where the line begins is gone", isTrouble: true)
  }

  /// Begins a link at the focused note, or ends one that was begun at another note.
  func linkOrEnd() {
    writesLabel = false
    if start != nil { return end(at: pages.focused) }
    guard connection.allowsChanges, let focused = pages.focused, focused.note != nil else { return }
    start = focused
    report("Tab or a click chooses the other note; Return (un)links, Esc ends")
  }

  /// Edits the label of the focused note's link. If there are several, the other note must be chosen.
  func writeOnLink() {
    writesLabel = true
    if start != nil { return end(at: pages.focused) }
    guard connection.allowsChanges, let focused = pages.focused, focused.note != nil else { return }
    findLines(at: focused.id) { [weak self, weak focused] lines in
      guard let self, let focused, focused === self.pages.focused else { return }
      guard let line = lines.first else { return report("no line leads to this note; L draws one") }
      if lines.count == 1 { return askForLabel(of: line) }
      start = focused
      report("Tab or a click chooses the other note; Return writes, Esc ends")
    }
  }

  func cancel() {
    start = nil
    services.status.clear()
    application.setNeedsDisplay()
  }

  /// Handles the choice of the other note.
  func end(at controller: NoteController?) {
    guard let start, let from = start.note, let to = controller?.note else { return }
    guard from.id != to.id else { return report("choose another note: Tab or a click, Esc cancels") }
    findLines(at: from.id, and: to.id) { [weak self] lines in
      guard let self, self.start === start else { return }
      end(from, to, lines.first)
    }
  }

  /// Creates, deletes or labels the link.
  /// - Parameter line: the existing link.
  private func end(_ from: Note, _ to: Note, _ line: Link?) {
    if writesLabel {
      guard let line else { return report("no line leads there: Tab or a click, Esc cancels") }
      start = nil
      return askForLabel(of: line)
    }
    start = nil
    if let line { return unlink(line) }
    guard connection.allowsChanges, !from.isDeleted, !to.isDeleted else { return }
    step(named: "Link") {
      let line = Link(in: context)
      (line.from, line.to) = (from, to)
      saving.touch(line.id)
    }
    report("linked; u undoes it")
  }

  private func unlink(_ line: Link) {
    guard connection.allowsChanges else { return }
    step(named: "Unlink") {
      let id = line.id
      context.delete(line)
      saving.touch(id)
    }
    report("unlinked; u undoes it")
  }

  /// Makes an undo step that is saved separately from earlier changes.
  private func step(named name: String, _ body: () -> Void) {
    saving.save()
    undoScope.beginGroup(named: name)
    body()
    saving.save()
    undoScope.endGroup()
  }

  /// Finds links of a note, up to two, or one link between two notes. In a large board the links that begin far away
  /// are not loaded, so the server is asked for missing ones. While disconnected, the loaded ones must suffice.
  private func findLines(at id: ObjectID, and other: ObjectID? = nil, _ body: @escaping ([Link]) -> Void) {
    // Keys are queued until the answer; clicks are not, and would send the request twice.
    guard !navigation.isFinding else { return }
    let here = other.map { [line(between: id, and: $0)].compactMap { $0 } } ?? lines(at: id)
    let limit = other == nil ? 2 : 1
    guard pages.page.part != nil, here.count < limit, connection.state.isConnected, !id.isTemporary,
      other?.isTemporary != true
    else { return body(here) }
    saving.save()
    navigation.keepKeys()
    // The reply arrives after the server has committed the previous save.
    busy.requests.links(BoardPage.links(at: id, and: other, in: context.model), limit: limit) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let found): body(found.filter { !$0.isDeleted })
      case .failure(let refusal): report(refusal.message, isTrouble: refusal != RequestChannel.cancelled)
      }
      navigation.releaseKeys()
    }
  }

  /// The loaded links of a note, including those that the server does not have yet.
  private func lines(at id: ObjectID) -> [Link] {
    let made = context.insertedObjects.compactMap { $0 as? Link }
    return (pages.page.links.snapshot.compactMap { context.fault($0) as? Link } + made).filter { line in
      !line.isDeleted && (line.from?.id == id || line.to?.id == id)
    }
  }

  /// The loaded link between two notes, in either direction.
  private func line(between one: ObjectID, and other: ObjectID) -> Link? {
    lines(at: one).first { $0.from?.id == other || $0.to?.id == other }
  }

  /// Asks about a link after a double click on it.
  /// - Returns: false if there is no link of that number.
  func askAbout(_ number: Int) -> Bool {
    guard (0..<pages.page.links.count).contains(number), let line = pages.page.links.object(at: number) as? Link
    else { return false }
    questions.ask(
      QuestionText(
        title: "Delete the link?", lines: ["The notes at its ends stay."],
        choices: [
          .init(key: "d", title: "Delete it") { [weak self] in
            // Retained by the closure: the context drops unreferenced links and creates other instances for them
            // later.
            if !line.isDeleted { self?.unlink(line) }
          },
          .init(key: "l", title: "Write on it instead") { [weak self] in self?.askForLabel(of: line) },
        ], cancel: {}))
    return true
  }

  /// Maximum length of a link's label, in bytes of UTF-8; the model's own limit.
  static let maximumLabel = 200

  private func askForLabel(of line: Link) {
    guard connection.allowsChanges else { return }
    guard !line.isDeleted else { return report("the link is gone", isTrouble: true) }
    let window = PromptWindow(
      "Label", maximum: Self.maximumLabel, with: services, text: line.label, takesNothing: true
    ) { [weak self] label in
      guard let self, connection.allowsChanges, !line.isDeleted, !UTF8Comparison.equal(line.label, label) else {
        return
      }
      step(named: "Label") {
        line.label = label
        saving.touch(line.id)
      }
    }
    services.modals.begin(window)
  }

  // MARK: - Drawing

  var states: [NoteLinkState] {
    // During a search, links to notes that it does not match are hidden.
    let shown = search.found == nil ? nil : Set(navigation.shownIDs)
    let lines = lines(on: pages.page, among: shown)
    // While a label is edited, the link itself is visible.
    guard !writesLabel, let start = start?.id, let end = pages.page.windows.focus, start != end,
      let provisional = linkState(-1, start, end, provisionalLabel(between: start, and: end), on: pages.page)
    else { return lines }
    return lines + [provisional]
  }

  /// The text of the provisional link: in a large board only the server knows whether a link exists.
  private func provisionalLabel(between start: ObjectID, and end: ObjectID) -> String {
    guard line(between: start, and: end) == nil else { return "unlink" }
    return pages.page.part == nil ? "link" : "(un)link"
  }

  /// The links of a board; with `shown`, only those between these notes.
  func lines(on page: BoardPage, among shown: Set<ObjectID>?) -> [NoteLinkState] {
    page.links.snapshot.enumerated().compactMap { index, id -> NoteLinkState? in
      guard let line = context.fault(id) as? Link, let from = line.from?.id, let to = line.to?.id else { return nil }
      if let shown, !shown.contains(from) || !shown.contains(to) { return nil }
      return linkState(index, from, to, line.label, on: page)
    }
  }

  private func linkState(_ number: Int, _ from: ObjectID, _ to: ObjectID, _ label: String, on page: BoardPage)
    -> NoteLinkState?
  {
    guard let start = outline(of: from, on: page), let end = outline(of: to, on: page) else { return nil }
    return NoteLinkState(id: number, from: start, to: end, label: label)
  }

  private func outline(of id: ObjectID, on page: BoardPage) -> Rect? {
    page.windows[id] == nil ? nil : page.values(of: id)?.outline
  }
}
