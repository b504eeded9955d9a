import TerminalCells

/// Whether an application may end.
public enum TerminateReply: Hashable, Sendable {
  /// Yes.
  case now
  /// Somebody is asked first; `Application.replyToTerminate` brings the answer.
  case later
  /// No.
  case cancel
}

/// What is particular to one application, without a subclass of `Application`; the last of every responder chain.
open class ApplicationDelegate: Responder {
  /// The main interface is about to be made.
  open func applicationWillFinishLaunching(_ application: Application) {}

  /// The main interface is on the screen, and the first turn may come.
  open func applicationDidFinishLaunching(_ application: Application) {}

  /// Somebody wants it to end.
  open func applicationShouldTerminate(_ application: Application) -> TerminateReply { .now }

  /// It ends; this is the last that is called.
  open func applicationWillTerminate(_ application: Application) {}

  /// Something came over the network; it has been merged into one event with all that waited.
  open func application(_ application: Application, didReceive deltas: Set<UInt64>) {}

  /// The screen has another size; the windows know already.
  open func application(_ application: Application, didResize size: Size) {}

  /// The terminal's window got the focus, or lost it.
  open func application(_ application: Application, didChangeFocus isGained: Bool) {}

  /// The terminal answered a question.
  open func application(_ application: Application, didReceive answer: TerminalAnswer) {}

  /// Something was heard of the connection; one event for all that waited.
  open func applicationConnectionDidChange(_ application: Application) {}

  /// The system wants something; the application has done its part.
  open func application(_ application: Application, didReceive signal: ApplicationSignal) {}

  /// Once in each turn, behind all events and before the windows are updated.
  open func applicationWillUpdate(_ application: Application) {}
}
