import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// The tool bar of edit mode: what can be done to the notes that are selected, how many they are, and nothing at none.
extension BoardScreen {
  /// Actions on what is selected, in the order of the bar.
  static let actions: [SelectionAction<Command>] = [
    .init(.color, named: "Color"), .init(.tag, named: "Tag"), .init(.moveToBoard, named: "Move"),
    .init(.deleteNote, named: "Delete"),
  ]

  private static let others: [(title: String, command: Command)] = [("Cancel", .editMode), ("All", .selectAll)]

  var toolFrame: Rect { Rect(x: canvas.minX, y: canvas.maxY - 1, width: canvas.size.width, height: 1) }

  private var toolBar: ToolBarView {
    func key(_ command: Command) -> String {
      application.menuBar.commands.first { $0.command == command }?.key?.description ?? ""
    }
    let items =
      Self.others.map { ToolBarView.Item($0.title, key: key($0.command)) }
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
    if Self.others.indices.contains(place) {
      application.send(Self.others[place].command)
    } else if let order = Self.actions[place - Self.others.count].order(mode.selection) {
      application.send(order.command)
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
