import TerminalApplication
import TerminalCells

/// A window that is to be answered before anything else goes on. What lies beneath is not to be changed meanwhile: commands
/// end here, all but a few.
class ModalWindow: Window {
  /// What the board answers meanwhile.
  class var passing: Set<Command> { [.quitAnywhere, .suspend] }

  override func answers(_ command: Command) -> Bool { !Self.passing.contains(command) }
}
