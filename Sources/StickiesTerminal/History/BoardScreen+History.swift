import TerminalApplication
import TerminalCells

extension BoardScreen: HistoryControllerDelegate {
  func openMenu(at point: Point) -> Bool { mouseInput.openMenu(at: point) }

  func drawBusy(into grid: inout Grid) { renderer.drawBusy(into: &grid) }

  /// The state of a command for the menu, according to the history, the open editor or the board.
  func shownState(of command: Command) -> CommandState {
    if let window = history.window { return window.state(of: command) }
    if let controller = editing.current, controller.answers(command) { return controller.state(of: command) }
    return state(of: command)
  }
}
