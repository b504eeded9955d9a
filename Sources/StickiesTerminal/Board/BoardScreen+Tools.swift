import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// The button that begins and ends edit mode, and its tool bar: what can be done to the notes that are selected, how many they
/// are, and nothing at none.
extension BoardScreen {
  /// Actions on what is selected, in the order of the bar.
  static let actions: [SelectionAction<Command>] = [
    .init(.color, named: "Color"), .init(.tag, named: "Tag"), .init(.moveToBoard, named: "Move"),
    .init(.deleteNote, named: "Delete"),
  ]

  /// What else stands in the bar: Cancel only where there is no room for the button.
  private var others: [(title: String, command: Command)] {
    let cancel: [(title: String, command: Command)] =
      editFrame.isEmpty ? [(EditMode<ObjectID>.Button.cancel.title, .editMode)] : []
    return cancel + [("All", .selectAll)]
  }

  /// Columns of the button with what parts it from the dots, whatever it says.
  static let editColumns = 9
  /// On a narrower bar the dots have all the room beside the menus.
  private static let leastBarColumns = 64

  /// Where the button lies: at the right end of the menu bar.
  var editFrame: Rect {
    let width = application.screenSize.width
    guard width >= Self.leastBarColumns else { return Rect(x: width, y: 0, width: 0, height: 1) }
    let columns = mode.button.title.count + 2
    return Rect(x: width - columns, y: 0, width: columns, height: 1)
  }

  func drawEditButton(into grid: inout Grid) {
    let frame = editFrame
    guard !frame.isEmpty else { return }
    let style = mode.button == .cancel ? theme.button : theme.otherButton
    grid.draw(" \(mode.button.title) ", x: frame.minX, y: frame.minY, style, clip: frame)
  }

  /// The button was clicked.
  func editMouse(_ mouse: MouseEvent) -> Bool {
    guard case .press(.left) = mouse.kind, editFrame.contains(mouse.position) else { return false }
    endEditing()
    application.send(.editMode)
    return true
  }

  var toolFrame: Rect { Rect(x: canvas.minX, y: canvas.maxY - 1, width: canvas.size.width, height: 1) }

  private var toolBar: ToolBarView {
    func key(_ command: Command) -> String {
      application.menuBar.commands.first { $0.command == command }?.key?.description ?? ""
    }
    let items =
      others.map { ToolBarView.Item($0.title, key: key($0.command)) }
      + Self.actions.map { ToolBarView.Item($0.name, key: key($0.command), actsOnSelection: true) }
    return ToolBarView(items, count: mode.selection.count, slide: mode.slideFraction(at: now))
  }

  /// What a menu says of an action while notes are selected: its name with their count.
  func title(of command: Command) -> String? {
    guard mode.isEditing else { return nil }
    return Self.actions.first { $0.command == command }?.title(mode.selection)
  }

  func drawTools(into grid: inout Grid) {
    guard mode.isEditing || mode.isSliding(at: now) else { return }
    toolBar.draw(into: &grid, frame: toolFrame, clip: toolFrame, theme: theme)
  }

  /// The tool bar was clicked.
  func toolMouse(_ mouse: MouseEvent) -> Bool {
    guard mode.isEditing, case .press(.left) = mouse.kind, toolFrame.contains(mouse.position) else { return false }
    guard let place = toolBar.part(at: mouse.position, frame: toolFrame) else { return true }
    if others.indices.contains(place) {
      application.send(others[place].command)
    } else {
      let action = Self.actions[place - others.count]
      if action.isEnabled(mode.selection) { application.send(action.command) }
    }
    return true
  }

  /// Circles and tool bar come or go: drawn again until they are where they belong.
  func slide() {
    application.setNeedsDisplay()
    guard mode.isSliding(at: now) else { return }
    _ = application.schedule(at: now + 20) { [weak self] in self?.slide() }
  }
}
