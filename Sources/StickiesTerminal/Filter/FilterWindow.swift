import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// A modal list of colors and tags that selects the visible notes. Each choice is applied at once, so that its effect
/// shows.
final class FilterWindow: ModalWindow {
  private enum Choice: Hashable {
    case heading(String)
    case color(NoteColor)
    case tag(String)
  }

  private var focus = 1
  private var top = 0
  private let filtering: FilterController
  private let tags: TagController
  private let appearance: BoardAppearance

  init(_ filtering: FilterController, _ tags: TagController, _ services: BoardServices) {
    (self.filtering, self.tags, appearance) = (filtering, tags, services.appearance)
    super.init(frame: Rect(origin: Point(x: 0, y: 0), size: services.application.screenSize), title: "Show Only")
  }

  override func screenDidResize(_ size: Size) { frame = Rect(origin: Point(x: 0, y: 0), size: size) }

  private var choices: [Choice] {
    let colors = [.heading("Colors")] + NoteColor.allCases.map { Choice.color($0) }
    // A deleted tag can still be removed from the filter.
    let names = tags.names.all
    let gone = filtering.filter.tags.subtracting(names.map(ByteKey.init)).sorted().map(\.text)
    guard !names.isEmpty || !gone.isEmpty else { return colors }
    return colors + [.heading("Tags")] + (names + gone).map { Choice.tag($0) }
  }

  /// Keeps the focus on its tag after other clients have created, renamed or deleted tags.
  func tagsDidChange(by difference: ResultsDifference) {
    // Headings and colors precede the tags.
    let first = 2 + NoteColor.allCases.count
    guard focus >= first else { return }
    focus = min(first + difference.collectionDifference.offset(after: focus - first), choices.count - 1)
    top = ListPane.top(top, showing: focus, count: choices.count, rows: area.size.height)
  }

  // MARK: - Events

  private func move(by step: Int) {
    let choices = choices
    func isChoice(_ place: Int) -> Bool { if case .heading = choices[place] { false } else { true } }
    var place = max(0, min(focus + step, choices.count - 1))
    while choices.indices.contains(place), !isChoice(place) { place += step < 0 && place > 0 ? -1 : 1 }
    if choices.indices.contains(place) { focus = place }
    top = ListPane.top(top, showing: focus, count: choices.count, rows: area.size.height)
  }

  private func toggle(_ place: Int) {
    guard choices.indices.contains(place) else { return }
    switch choices[place] {
    case .heading: return
    case .color(let color): filtering.filter.toggle(color)
    case .tag(let name): filtering.filter.toggle(name)
    }
    focus = place
  }

  override func keyDown(_ key: KeyEvent) -> Bool {
    setNeedsDisplay()
    switch key.key {
    case .up: move(by: -1)
    case .down: move(by: 1)
    case .pageUp: move(by: -area.size.height)
    case .pageDown: move(by: area.size.height)
    case .home: move(by: -choices.count)
    case .end: move(by: choices.count)
    case .character(" "): toggle(focus)
    case .delete, .backspace: filtering.filter = BoardFilter()
    case .enter, .escape, .character("f"): application?.endModal(self)
    default: break
    }
    return true
  }

  override func mouse(_ mouse: MouseEvent) -> Bool {
    setNeedsDisplay()
    switch mouse.kind {
    case .wheel(let direction):
      let most = max(0, choices.count - area.size.height)
      top = max(0, min(top + (direction == .up ? -3 : direction == .down ? 3 : 0), most))
    case .press(.left):
      guard panel.contains(mouse.position) else {
        application?.endModal(self)
        return true
      }
      switch pane.part(at: mouse.position, frame: area) {
      case .row(let place), .circle(let place): toggle(place)
      case .edge, .empty, nil: break
      }
    default: break
    }
    return true
  }

  // MARK: - Drawing

  private var panel: Rect { frame.centered(Size(width: 42, height: choices.count + 3)) }

  /// The frame of the list in the panel: above the last line, its edge on the panel's edge.
  private var area: Rect {
    let inside = panel.inset(1)
    return Rect(
      x: inside.minX, y: inside.minY, width: inside.size.width + 1, height: max(0, inside.size.height - 1))
  }

  private var pane: ListPane {
    let (choices, filter) = (choices, filtering.filter)
    return ListPane(
      count: choices.count, top: top, focus: focus, isFocused: true, circles: ListPane.circleColumns
    ) { place in
      switch choices[place] {
      case .heading(let title): ListRow(.section, title)
      case .color(let color):
        ListRow(.note(PaperColor(name: color.rawValue)), color.rawValue, isChecked: filter.colors.contains(color))
      case .tag(let name): ListRow(.note(.gray), "#\(name)", isChecked: filter.tags.contains(name))
      }
    }
  }

  override func draw(into grid: inout Grid, frame: Rect, clip: Rect) {
    let theme = appearance.theme
    let panel = panel
    grid.panel(panel, theme: theme, clip: clip)
    pane.draw(into: &grid, frame: area, clip: clip, theme: theme)
    grid.draw(
      " \(title) ", x: panel.minX + 2, y: panel.minY, width: panel.size.width - 4, theme.panel.bold, clip: clip,
      cut: theme.symbols.cut)
    grid.draw(
      "Space chooses, Del clears, Esc closes", x: panel.minX + 2, y: panel.maxY - 2, width: panel.size.width - 4,
      theme.panelBorder, clip: clip, cut: theme.symbols.cut)
    grid.cursor = nil
  }
}

extension CollectionDifference {
  /// The new offset of an element after the difference; for a removed element, the offset of the next one.
  func offset(after old: Int) -> Int {
    var place = old
    for case .remove(let offset, _, let new) in removals {
      if offset == old, let new { return new }
      if offset < old { place -= 1 }
    }
    for case .insert(let offset, _, _) in insertions where offset <= place { place += 1 }
    return place
  }
}
