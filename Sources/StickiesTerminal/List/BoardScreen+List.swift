import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// The list beside the canvas: the visible notes in reading order, by their first lines.
extension BoardScreen {
  /// The notes on the canvas: all, or the search result.
  var shownIDs: [ObjectID] {
    // In a large board only search results are loaded anyway.
    guard let found, page.part == nil else { return page.windows.ids }
    let there = Set(found)
    return page.windows.ids.filter { there.contains($0) || page.windows[$0] === editing }
  }

  var isListOpen: Bool { listWindow.application != nil }

  func toggleList() {
    if isListOpen { application.orderOut(listWindow) } else { application.orderBack(listWindow) }
  }

  /// The frame of the list, left of the canvas; its width is 0 if the list is closed or does not fit.
  var listFrame: Rect {
    let size = application.screenSize
    let most = size.width - ListPaneState.leastCanvas
    let width =
      isListOpen && most >= ListPaneState.leastWidth ? min(max(list.width, ListPaneState.leastWidth), most) : 0
    return Rect(x: 0, y: 1, width: width, height: max(0, size.height - 2))
  }

  /// The notes of the list; in a large board those of its window, or the first ones of the search result.
  private var listedIDs: [ObjectID] {
    guard let part = page.part else { return shownIDs }
    return found ?? part.list.snapshot.filter(page.isShown)
  }

  var listIDs: [ObjectID] { listedIDs.filter { page.shape(of: $0) != nil }.sorted { place(of: $0) < place(of: $1) } }

  /// The loaded rows of the list, the offset of the first one, and the total count.
  private var listRows: (lines: [ListLine], offset: Int, count: Int) {
    if let part = page.part, found == nil, !filter.isOn, let total = part.total {
      return (part.list.snapshot.map { .note($0) }, part.list.offset, total)
    }
    // The search has a total count of its own.
    if page.part != nil, let found, let search {
      return (found.map { .note($0) }, search.offset, max(search.totalCount, found.count))
    }
    let lines = sections.map { self.lines(in: $0) } ?? listIDs.map { ListLine.note($0) }
    return (lines, 0, lines.count)
  }

  /// The notes on the canvas in sections. Notes that the server does not have yet are at the end of their color.
  private func lines(in sections: ListSections) -> [ListLine] {
    let shown = listIDs
    var rest = Set(shown)
    var grouped = sections.sections.map { section in
      (color: section.color, ids: section.ids.filter { rest.remove($0) != nil })
    }
    for id in shown where rest.contains(id) {
      guard let color = page.note(id)?.color.rawValue else { continue }
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
  func followSections() {
    let wanted = isListOpen && list.isGrouped && page.part == nil ? page.board.id : nil
    guard wanted != sections?.board else { return }
    sections?.stop()
    sections = wanted.map { ListSections(of: $0, in: context, perform: link.perform) }
    sections?.didChange = { [weak self] in self?.application.setNeedsDisplay() }
    sections?.didFail = { [weak self] refusal in
      // A board that has grown too large is followed in parts, without sections.
      guard let self, page.part == nil else { return }
      list.isGrouped = false
      say("the list has no sections: \(refusal.message)", isTrouble: true)
    }
  }

  private var listPane: ListPane {
    let (lines, offset, count) = listRows
    return ListPane(
      heading: found == nil ? page.board.name : "Found", count: count, top: list.top,
      focus: page.windows.focus.flatMap { lines.firstIndex(of: .note($0)) }.map { $0 + offset },
      isFocused: editing == nil && field?.isKey != true,
      circles: circleColumns,
      noteCount: sections == nil ? nil : lines.count { $0.id != nil }
    ) { [weak self] row in
      guard lines.indices.contains(row - offset) else { return ListRow(.loading, "") }
      switch lines[row - offset] {
      case .heading(let title): return ListRow(.section, title)
      case .note(let id): return self?.listRow(id) ?? ListRow(.loading, "")
      }
    }
  }

  private func listRow(_ id: ObjectID) -> ListRow {
    guard let note = page.values(of: id) else { return ListRow(.loading, "") }
    var row = ListRow(note)
    row.matches = search?.query?.offsets(in: row.title) ?? []
    (row.marks, row.isChecked) = (marks(of: id, note), isSelected(id))
    return row
  }

  /// The first visible note of the list, and its distance from the top in rows: a heading may precede it.
  var firstListed: (id: ObjectID, below: Int)? {
    let (lines, offset, _) = listRows
    for row in lines.indices where row + offset >= list.top {
      if let id = lines[row].id { return (id, row + offset - list.top) }
    }
    return nil
  }

  /// The row of a note in the list; nil if it is not in the list or not loaded.
  func row(of id: ObjectID) -> Int? {
    let (lines, offset, _) = listRows
    return lines.firstIndex(of: .note(id)).map { $0 + offset }
  }

  /// Scrolls the list to the focused note after the focus has changed.
  func followListFocus() {
    guard !listFrame.isEmpty, list.focus != page.windows.focus else { return }
    guard let focus = page.windows.focus else { return list.focus = nil }
    let (lines, offset, count) = listRows
    // In a large board the row may not be loaded yet.
    guard let row = lines.firstIndex(of: .note(focus)) else { return }
    list.focus = focus
    let rows = listPane.visibleRows(in: listFrame)
    list.top = ListPane.top(list.top, showing: row + offset, count: count, rows: rows)
  }

  func drawList(into grid: inout Grid, clip: Rect) {
    let frame = listFrame
    guard !frame.isEmpty, !TooSmallMessage.isTooSmall(grid.size) else { return }
    let pane = pastListPane ?? listPane
    pane.draw(into: &grid, frame: frame, clip: clip.intersection(frame), theme: theme)
  }

  /// Handles the mouse over the list or its edge.
  func listMouse(_ mouse: MouseEvent) -> Bool {
    if list.isResizing { return resizeList(mouse) }
    let frame = listFrame
    guard frame.contains(mouse.position) else { return false }
    application.setNeedsDisplay()
    if case .wheel(let direction) = mouse.kind {
      let rows = listPane.visibleRows(in: frame)
      let step = direction == .up ? -3 : direction == .down ? 3 : 0
      list.top = max(0, min(list.top + step, listRows.count - rows))
      let wanted = list.top..<list.top + rows
      if found == nil { page.part?.showInList(wanted) } else { showFound(wanted) }
      return true
    }
    guard case .press(.left) = mouse.kind else { return true }
    let isDouble = clickCount(mouse.position) == 2
    let (lines, offset, _) = listRows
    func id(_ row: Int) -> ObjectID? { lines.indices.contains(row - offset) ? lines[row - offset].id : nil }
    switch listPane.part(at: mouse.position, frame: frame) {
    case .edge: list.isResizing = true
    case .circle(let row): id(row).map { toggleSelected($0) }
    case .row(let row) where mode.isEditing: id(row).map { toggleSelected($0) }
    case .row(let row):
      guard let id = id(row) else { break }
      show(id)
      search?.saveState()
      if isDouble, let focused { edit(focused) }
    case .empty, nil: break
    }
    return true
  }

  /// Moves the search's window so that it contains these rows, in a large board.
  private func showFound(_ rows: Range<Int>) {
    guard page.part != nil, let search, let found else { return }
    let here = search.offset..<search.offset + found.count
    guard rows.lowerBound < here.lowerBound || rows.upperBound > here.upperBound && here.upperBound < search.totalCount
    else { return }
    search.move(
      to: ResultsWindow(offset: max(0, rows.lowerBound - BoardWindow.listRows / 2), limit: BoardWindow.listRows))
  }

  /// Changes the width of the list. It starts from the actual width, which may be smaller than the stored one.
  func widenList(by step: Int) {
    let most = application.screenSize.width - ListPaneState.leastCanvas
    list.width = max(ListPaneState.leastWidth, min(listFrame.size.width + step, most))
    application.setNeedsDisplay()
  }

  func resizeList(_ mouse: MouseEvent) -> Bool {
    if case .release = mouse.kind { list.isResizing = false }
    if case .drag = mouse.kind { list.width = mouse.position.x + 1 }
    application.setNeedsDisplay()
    return true
  }
}

extension ListRow {
  /// A row for a note, with its first line.
  init(_ note: NoteValues) {
    let title = note.text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    self.init(.note(note.color), title, detail: note.tags.first.map { "#\($0)" } ?? "", marks: note.marks)
  }

  /// The heading of a color's section.
  static func heading(_ color: String, count: Int) -> ListRow { ListRow(.section, headingText(color, count: count)) }

  /// The text of that heading.
  static func headingText(_ color: String, count: Int) -> String { "\(color.capitalizedWord) (\(count))" }
}
