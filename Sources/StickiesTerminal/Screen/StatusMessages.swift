import GraphModel
import TerminalApplication

/// The message of the status line, which disappears after a while.
final class StatusMessages {
  /// A message and its meaning.
  struct Message {
    var text: String
    var isTrouble: Bool
    /// The notes that it reports as deleted.
    var gone: Set<ObjectID>
  }

  private(set) var current: Message?
  /// Removes the message; also identifies the last one that was shown.
  private(set) var timer: TimerID?
  private let application: Application

  init(_ application: Application) { self.application = application }

  /// Shows a message for a while.
  /// - Parameter gone: the notes that it reports as deleted; the message disappears when one of them is restored.
  func show(_ text: String, isTrouble: Bool = false, gone: Set<ObjectID> = []) {
    current = Message(text: text, isTrouble: isTrouble, gone: gone)
    if let timer { application.cancel(timer) }
    timer = application.schedule(at: application.now + 6_000) { [weak self] in
      guard let self else { return }
      current = nil
      application.setNeedsDisplay()
    }
    application.setNeedsDisplay()
  }

  /// Removes the message.
  func clear() { current = nil }

  /// Removes the message on the next user action, because it would be taken for a reply to it. Trouble stays for its
  /// time, since it may be unrelated to the user's actions.
  func dismiss() {
    guard let current, !current.isTrouble else { return }
    self.current = nil
    application.setNeedsDisplay()
  }

  /// Removes a message that reports one of these notes as deleted, because an undo has restored it.
  func objectsWereInserted(_ ids: some Sequence<ObjectID>) {
    if let current, !current.gone.isDisjoint(with: ids) { self.current = nil }
  }
}
