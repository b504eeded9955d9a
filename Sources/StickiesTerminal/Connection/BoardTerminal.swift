import TerminalCells

/// The terminal of a session: `TerminalDriver`, or in tests a grid.
public protocol BoardTerminal: Sendable {
  /// The current columns and rows.
  var size: Size { get }
  /// Takes over the terminal and begins to deliver events.
  func start()
  /// Shows a grid; if several arrive while the terminal is busy, the newest one.
  func show(_ grid: Grid)
  /// Sends a sequence between two frames.
  func send(_ sequence: [UInt8])
  /// Suspends the program until the shell resumes it.
  func stop()
  /// Releases the terminal to another program.
  func suspend(_ done: @escaping @Sendable () -> Void)
  /// Takes over the terminal again.
  func resume()
  /// Restores the terminal for good.
  func end(_ done: @escaping @Sendable () -> Void)
}

extension TerminalDriver: BoardTerminal {}
