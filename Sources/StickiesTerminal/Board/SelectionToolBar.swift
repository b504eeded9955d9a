import GraphControllers
import GraphModel
import StickiesKit
import TerminalApplication
import TerminalCells

/// The button that begins and ends edit mode, and its tool bar. The bar has the commands on the selected notes and
/// their number.
final class SelectionToolBar: BoardPart {
  let services: BoardServices
  private let viewport: BoardViewport
  private let selection: SelectionController
  private let editing: EditingController

  init(
    _ services: BoardServices, _ viewport: BoardViewport, _ selection: SelectionController,
    _ editing: EditingController
  ) {
    (self.services, self.viewport, self.selection, self.editing) = (services, viewport, selection, editing)
  }

  /// Commands on the selection, in the order of the bar.
  static let actions: [SelectionAction<Command>] = [
    .init(.color, named: "Color"), .init(.tag, named: "Tag"), .init(.moveToBoard, named: "Move"),
    .init(.deleteNote, named: "Delete"),
  ]

  /// Other items of the bar; Cancel only if there is no space for the button.
  private var others: [(title: String, command: Command)] {
    let cancel: [(title: String, command: Command)] =
      buttonFrame.isEmpty ? [(EditMode<ObjectID>.Button.cancel.title, .editMode)] : []
    return cancel + [("All", .selectAll)]
  }

  /// Columns of the button with its separator from the dots, regardless of its title.
  static let buttonColumns = 9
  /// On narrower bars the dots get all the space beside the menus.
  private static let leastBarColumns = 64

  /// The frame of the button: at the right end of the menu bar.
  var buttonFrame: Rect {
    let width = application.screenSize.width
    guard width >= Self.leastBarColumns else { return Rect(x: width, y: 0, width: 0, height: 1) }
    let columns = selection.mode.button.title.count + 2
    return Rect(x: width - columns, y: 0, width: columns, height: 1)
  }

  func drawButton(into grid: inout Grid) {
    let frame = buttonFrame
    guard !frame.isEmpty else { return }
    let style = selection.mode.button == .cancel ? theme.button : theme.otherButton
    grid.draw(" \(selection.mode.button.title) ", x: frame.minX, y: frame.minY, style, clip: frame)
  }

  /// Handles a click on the button.
  func buttonMouse(_ mouse: MouseEvent) -> Bool {
    guard case .press(.left) = mouse.kind, buttonFrame.contains(mouse.position) else { return false }
    editing.end()
    application.send(.editMode)
    return true
  }

  var frame: Rect {
    Rect(x: viewport.canvas.minX, y: viewport.canvas.maxY - 1, width: viewport.canvas.size.width, height: 1)
  }

  private var view: ToolBarView {
    func key(_ command: Command) -> String {
      // The menu of the history does not have these commands.
      guard let item = application.menuBar.commands.first(where: { $0.command == command }) else { return "" }
      return item.keyName
    }
    let items =
      others.map { ToolBarView.Item($0.title, key: key($0.command)) }
      + Self.actions.map { ToolBarView.Item($0.name, key: key($0.command), actsOnSelection: true) }
    return ToolBarView(items, count: selection.mode.selection.count, slide: selection.mode.slideFraction(at: now))
  }

  /// The title of a command in the menu while notes are selected: its name with their number.
  func title(of command: Command) -> String? {
    guard selection.mode.isEditing else { return nil }
    return Self.actions.first { $0.command == command }?.title(selection.mode.selection)
  }

  func draw(into grid: inout Grid) {
    guard selection.mode.isEditing || selection.mode.isSliding(at: now) else { return }
    view.draw(into: &grid, frame: frame, clip: frame, theme: theme)
  }

  /// Handles a click on the tool bar.
  func mouse(_ mouse: MouseEvent) -> Bool {
    guard selection.mode.isEditing, case .press(.left) = mouse.kind, frame.contains(mouse.position) else {
      return false
    }
    guard let place = view.part(at: mouse.position, frame: frame) else { return true }
    if others.indices.contains(place) {
      application.send(others[place].command)
    } else {
      let action = Self.actions[place - others.count]
      if action.isEnabled(selection.mode.selection) { application.send(action.command) }
    }
    return true
  }
}
