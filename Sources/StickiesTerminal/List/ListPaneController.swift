import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// The list beside the canvas: the visible notes in reading order, by their first lines.
final class ListPaneController: BoardPart, SearchedList {
  let services: BoardServices
  var state = ListPaneState()
  private(set) lazy var window = ListWindow(for: self)
  /// The list as of a past revision; nil while the present is shown.
  var pastPane: () -> ListPane? = { nil }
  private let filtering: FilterController
  private let pages: BoardPages
  private let selection: SelectionController
  private let search: BoardSearch
  private let saving: SaveController
  private let editing: EditingController
  private let navigation: NavigationController
  let clicks: ClickCounter
  private var sections: ListSections?

  init(
    _ services: BoardServices, _ filtering: FilterController, _ pages: BoardPages, _ selection: SelectionController,
    _ search: BoardSearch, _ saving: SaveController, _ editing: EditingController, _ navigation: NavigationController,
    _ clicks: ClickCounter
  ) {
    (self.services, self.filtering, self.pages, self.selection) = (services, filtering, pages, selection)
    (self.search, self.saving, self.editing) = (search, saving, editing)
    (self.navigation, self.clicks) = (navigation, clicks)
  }

  /// The first visible row.
  var top: Int {
    get { state.top }
    set { state.top = newValue }
  }

  /// The note that the list last scrolled to.
  var focus: ObjectID? {
    get { state.focus }
    set { state.focus = newValue }
  }

  var isOpen: Bool { window.application != nil }

  func toggle() {
    if isOpen { application.orderOut(window) } else { application.orderBack(window) }
  }

  /// The frame of the list, left of the canvas; its width is 0 if the list is closed or does not fit.
  var frame: Rect {
    let size = application.screenSize
    let most = size.width - ListPaneState.leastCanvas
    let width =
      isOpen && most >= ListPaneState.leastWidth ? min(max(state.width, ListPaneState.leastWidth), most) : 0
    return Rect(x: 0, y: 1, width: width, height: max(0, size.height - 2))
  }

  /// The loaded rows of the list, the offset of the first one, and the total count.
  private var rows: (lines: [ListLine], offset: Int, count: Int) {
    if let part = pages.page.part, search.found == nil, !filtering.filter.isOn, let total = part.total {
      return (part.list.snapshot.map { .note($0) }, part.list.offset, total)
    }
    // The search has a total count of its own.
    if pages.page.part != nil, let found = search.found, let controller = search.controller {
      return (found.map { .note($0) }, controller.offset, max(controller.totalCount, found.count))
    }
    let lines = sections.map { self.lines(in: $0) } ?? navigation.listIDs.map { ListLine.note($0) }
    return (lines, 0, lines.count)
  }

  /// The notes on the canvas in sections. Notes that the server does not have yet are at the end of their color.
  private func lines(in sections: ListSections) -> [ListLine] {
    let shown = navigation.listIDs
    var rest = Set(shown)
    var grouped = sections.sections.map { section in
      (color: section.color, ids: section.ids.filter { rest.remove($0) != nil })
    }
    for id in shown where rest.contains(id) {
      guard let color = pages.page.note(id)?.color.rawValue else { continue }
      if let place = grouped.firstIndex(where: { $0.color == color }) {
        grouped[place].ids.append(id)
      } else {
        grouped.append((color, [id]))
      }
    }
    return grouped.filter { !$0.ids.isEmpty }
      .flatMap { section in
        [.heading(ListRow.headingText(section.color, count: section.ids.count))] + section.ids.map { .note($0) }
      }
  }

  /// Follows the sections of the board while the list shows them.
  func updateSections() {
    let wanted = isOpen && state.isGrouped && pages.page.part == nil ? pages.page.board.id : nil
    guard wanted != sections?.board else { return }
    sections?.stop()
    sections = wanted.map(makeSections)
  }

  private func makeSections(of board: ObjectID) -> ListSections {
    let sections = ListSections(of: board, in: context)
    sections.didChange = { [weak self] in self?.application.setNeedsDisplay() }
    sections.didFail = { [weak self] refusal in
      // A board that has grown too large is followed in parts, without sections.
      guard let self, pages.page.part == nil else { return }
      state.isGrouped = false
      report("the list has no sections: \(refusal.message)", isTrouble: true)
    }
    return sections
  }

  private var pane: ListPane {
    let (lines, offset, count) = rows
    return ListPane(
      heading: search.found == nil ? pages.page.board.name : "Found", count: count, top: state.top,
      focus: pages.page.windows.focus.flatMap { lines.firstIndex(of: .note($0)) }.map { $0 + offset },
      isFocused: editing.current == nil && search.window?.isKey != true,
      circles: selection.circleColumns,
      noteCount: sections == nil ? nil : lines.count { $0.id != nil }
    ) { [weak self] row in
      guard lines.indices.contains(row - offset) else { return ListRow(.loading, "") }
      switch lines[row - offset] {
      case .heading(let title): return ListRow(.section, title)
      case .note(let id): return self?.row(for: id) ?? ListRow(.loading, "")
      }
    }
  }

  private func row(for id: ObjectID) -> ListRow {
    guard let note = pages.page.values(of: id) else { return ListRow(.loading, "") }
    var row = ListRow(note)
    if let query = search.controller?.query { row.matches = query.offsets(in: row.title) }
    (row.marks, row.isChecked) = (saving.marks(of: id, note), selection.isSelected(id))
    return row
  }

  /// The first visible note of the list, and its distance from the top in rows: a heading may precede it.
  var firstListed: (id: ObjectID, below: Int)? {
    let (lines, offset, _) = rows
    for row in lines.indices where row + offset >= state.top {
      if let id = lines[row].id { return (id, row + offset - state.top) }
    }
    return nil
  }

  /// The row of a note in the list; nil if it is not in the list or not loaded.
  func row(of id: ObjectID) -> Int? {
    let (lines, offset, _) = rows
    return lines.firstIndex(of: .note(id)).map { $0 + offset }
  }

  /// Scrolls the list to the focused note after the focus has changed.
  func followFocus() {
    guard !frame.isEmpty, state.focus != pages.page.windows.focus else { return }
    guard let focus = pages.page.windows.focus else { return state.focus = nil }
    let (lines, offset, count) = rows
    // In a large board the row may not be loaded yet.
    guard let row = lines.firstIndex(of: .note(focus)) else { return }
    state.focus = focus
    let rows = pane.visibleRows(in: frame)
    state.top = ListPane.top(state.top, showing: row + offset, count: count, rows: rows)
  }

  func draw(into grid: inout Grid, clip: Rect) {
    let frame = frame
    guard !frame.isEmpty, !TooSmallMessage.isTooSmall(grid.size) else { return }
    let pane = pastPane() ?? self.pane
    pane.draw(into: &grid, frame: frame, clip: clip.intersection(frame), theme: theme)
  }

  /// Handles the mouse over the list or its edge.
  func mouse(_ mouse: MouseEvent) -> Bool {
    if state.isResizing { return resize(mouse) }
    let frame = frame
    guard frame.contains(mouse.position) else { return false }
    application.setNeedsDisplay()
    if case .wheel(let direction) = mouse.kind {
      let rows = pane.visibleRows(in: frame)
      let step = direction == .up ? -3 : direction == .down ? 3 : 0
      state.top = max(0, min(state.top + step, self.rows.count - rows))
      let wanted = state.top..<state.top + rows
      if search.found == nil { pages.page.part?.showInList(wanted) } else { moveSearchWindow(wanted) }
      return true
    }
    guard case .press(.left) = mouse.kind else { return true }
    let isDouble = clicks.count(mouse.position) == 2
    let (lines, offset, _) = rows
    func id(_ row: Int) -> ObjectID? { lines.indices.contains(row - offset) ? lines[row - offset].id : nil }
    switch pane.part(at: mouse.position, frame: frame) {
    case .edge: state.isResizing = true
    case .circle(let row): id(row).map { selection.toggle($0) }
    case .row(let row) where selection.mode.isEditing: id(row).map { selection.toggle($0) }
    case .row(let row):
      guard let id = id(row) else { break }
      navigation.show(id)
      search.controller?.saveState()
      if isDouble, let focused = pages.focused { editing.edit(focused) }
    case .empty, nil: break
    }
    return true
  }

  /// Moves the search's window so that it contains these rows, in a large board.
  private func moveSearchWindow(_ rows: Range<Int>) {
    guard pages.page.part != nil, let controller = search.controller, let found = search.found else { return }
    let here = controller.offset..<controller.offset + found.count
    guard
      rows.lowerBound < here.lowerBound || rows.upperBound > here.upperBound && here.upperBound < controller.totalCount
    else { return }
    controller.move(
      to: ResultsWindow(offset: max(0, rows.lowerBound - BoardWindow.listRows / 2), limit: BoardWindow.listRows))
  }

  /// Changes the width of the list. It starts from the actual width, which may be smaller than the stored one.
  func widen(by step: Int) {
    let most = application.screenSize.width - ListPaneState.leastCanvas
    state.width = max(ListPaneState.leastWidth, min(frame.size.width + step, most))
    application.setNeedsDisplay()
  }

  func resize(_ mouse: MouseEvent) -> Bool {
    if case .release = mouse.kind { state.isResizing = false }
    if case .drag = mouse.kind { state.width = mouse.position.x + 1 }
    application.setNeedsDisplay()
    return true
  }
}
