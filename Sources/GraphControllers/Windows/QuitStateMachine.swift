/// A question about unsent changes, for a front end to show when its user quits.
public struct UnsentChangesPrompt: Hashable, Sendable {
  /// The number of objects with changes that the server does not have.
  public var count: Int

  /// Creates a question about unsent changes; `count` is at least 1.
  public init(count: Int) { self.count = count }

  /// Text for the user: "2 changes are not on the server yet".
  public var sentence: String { "\(count) \(count == 1 ? "change is" : "changes are") not on the server yet" }
}

/// The user's answer to an `UnsentChangesPrompt`.
public enum UnsentChangesChoice: Hashable, Sendable {
  /// Quit as soon as the changes are sent, however long that takes.
  case wait
  /// Quit and discard the changes.
  case discard
  /// Do not quit.
  case cancel
}

/// The state machine of quitting: events in, actions out. It first sends unsent changes if possible, and asks the
/// user only if that fails or takes too long. It discards no change without the user's consent.
///
/// The client tracks the unsent changes and reports when the server has accepted all of them; this type only tracks
/// the pending request to quit.
public enum QuitStateMachine: Hashable, Sendable {
  /// No request to quit is pending.
  case idle
  /// The client is sending unsent changes and quits afterwards.
  case sending
  /// The user has to decide.
  case asking(UnsentChangesPrompt)
  /// The user has chosen to wait. Meanwhile the client stays usable; a new change cancels quitting.
  case waiting
  /// The client can quit; `discards` permits losing unsent changes.
  case quitting(discards: Bool)

  /// An action for the front end.
  public enum Action: Hashable, Sendable {
    /// Show that changes are being sent, and call `sendTimedOut` if they are not sent after a while.
    case showSending
    /// Ask the user, and pass the answer to `answer`.
    case ask(UnsentChangesPrompt)
    /// Let the user continue to work; `changesSent` ends the client.
    case continueWork
    /// Do not quit; hide the question and the sending indicator.
    case stay
    /// End the client.
    case quit
  }

  /// Requests to quit. A repeated request while sending or asking does nothing, so the question is not asked twice.
  /// - Parameters:
  ///   - unsent: the number of objects with changes that the server does not have.
  ///   - canSend: whether the server is connected and can take them.
  public mutating func request(unsent: Int, canSend: Bool) -> Action? {
    switch self {
    case .quitting: return .quit
    case .sending, .asking: return nil
    case .idle, .waiting:
      if unsent == 0 { return quit() }
      guard canSend else { return ask(unsent) }
      self = .sending
      return .showSending
    }
  }

  /// Passes on the user's decision.
  public mutating func answer(_ answer: UnsentChangesChoice) -> Action? {
    guard case .asking = self else { return nil }
    switch answer {
    case .cancel: return stay()
    case .discard: return quit(discards: true)
    case .wait:
      self = .waiting
      return .continueWork
    }
  }

  /// Reports that no changes are unsent. A question about them is no longer needed.
  /// - Parameter leavesTexts: whether the last reply left a text without an object; the client then stays, so that
  ///   the user can decide about the text.
  public mutating func changesSent(leavesTexts: Bool) -> Action? {
    switch self {
    case .sending, .waiting: leavesTexts ? stay() : quit()
    case .asking: leavesTexts ? nil : quit()
    case .idle, .quitting: nil
    }
  }

  /// Reports that the server has not answered for a while.
  public mutating func sendTimedOut(unsent: Int) -> Action? { self == .sending ? ask(unsent) : nil }

  /// Reports that the server has refused changes, so waiting does not help.
  public mutating func refused(unsent: Int) -> Action? {
    switch self {
    case .sending, .waiting: ask(unsent)
    case .idle, .asking, .quitting: nil
    }
  }

  /// Cancels quitting, by the user, while changes are being sent.
  public mutating func cancelSending() -> Action? { self == .sending ? stay() : nil }

  /// Reports that the user has changed an object.
  public mutating func objectChanged() -> Action? { self == .waiting ? stay() : nil }

  private mutating func ask(_ unsent: Int) -> Action {
    let question = UnsentChangesPrompt(count: unsent)
    self = .asking(question)
    return .ask(question)
  }

  private mutating func stay() -> Action {
    self = .idle
    return .stay
  }

  private mutating func quit(discards: Bool = false) -> Action {
    self = .quitting(discards: discards)
    return .quit
  }
}
