import TerminalCells

/// The delegate's reply to a request to terminate.
public enum TerminateReply: Hashable, Sendable {
  /// End now.
  case now
  /// Ask the user first; `Application.replyToTerminate` passes on the answer.
  case later
  /// Do not end.
  case cancel
}

/// Customizes an application without subclassing `Application`; the last responder of every chain.
open class ApplicationDelegate: Responder {
  /// Called before the main interface is created.
  open func applicationWillFinishLaunching(_ application: Application) {}

  /// Called when the main interface is on the screen, before the first turn.
  open func applicationDidFinishLaunching(_ application: Application) {}

  /// Called on a request to terminate; returns whether the application may end.
  open func applicationShouldTerminate(_ application: Application) -> TerminateReply { .now }

  /// Called last, when the application ends.
  open func applicationWillTerminate(_ application: Application) {}

  /// Called after data arrived over the network; all queued notifications are merged into one.
  open func application(_ application: Application, didReceive deltas: Set<UInt64>) {}

  /// Called after the screen size has changed and the windows have been notified.
  open func application(_ application: Application, didResize size: Size) {}

  /// Called when the terminal's window gained or lost the focus.
  open func application(_ application: Application, didChangeFocus isGained: Bool) {}

  /// Called when the terminal has answered a query.
  open func application(_ application: Application, didReceive answer: TerminalReply) {}

  /// Called after connection news; all queued notifications are merged into one.
  open func applicationConnectionDidChange(_ application: Application) {}

  /// Called after the application has handled a signal.
  open func application(_ application: Application, didReceive signal: ApplicationSignal) {}

  /// Called once in each turn, after all events and before the windows are updated.
  open func applicationWillUpdate(_ application: Application) {}
}
