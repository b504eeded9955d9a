import TerminalCells

/// What a session wants of its terminal; `TerminalDriver` is one, and so is a grid that a test looks at.
public protocol BoardTerminal: Sendable {
  /// Columns and rows as they are now.
  var size: Size { get }
  /// Takes the terminal and begins to tell events.
  func start()
  /// Shows a grid; of several that come in a hurry the newest.
  func show(_ grid: Grid)
  /// Sends a sequence between two frames.
  func send(_ sequence: [UInt8])
  /// Stops the program until the shell lets it go on.
  func stop()
  /// Gives the terminal to another program.
  func suspend(_ done: @escaping @Sendable () -> Void)
  /// Takes it back.
  func resume()
  /// Gives it back for good.
  func end(_ done: @escaping @Sendable () -> Void)
}

extension TerminalDriver: BoardTerminal {}
