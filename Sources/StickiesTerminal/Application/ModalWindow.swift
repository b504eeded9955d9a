import TerminalApplication
import TerminalCells

/// A window that must be answered before anything else continues. It blocks all commands but a few, so that the windows
/// beneath do not change meanwhile.
class ModalWindow: Window {
  /// The commands that still reach the board.
  class var passing: Set<Command> { [.quitAnywhere, .suspend] }

  override func answers(_ command: Command) -> Bool { !Self.passing.contains(command) }
}
