/// What a client asks before it quits, as a value: whoever has a screen shows it and answers it.
public struct UnsentQuestion: Hashable, Sendable {
  /// How many objects have changes that the server does not have.
  public var count: Int

  /// A question about unsent changes; they are not none.
  public init(count: Int) { self.count = count }

  /// For a person: "2 changes are not on the server yet".
  public var sentence: String { "\(count) \(count == 1 ? "change is" : "changes are") not on the server yet" }
}

/// What a person can answer.
public enum UnsentAnswer: Hashable, Sendable {
  /// Quit as soon as they are sent, however long that takes.
  case wait
  /// Quit, and lose them.
  case discard
  /// Do not quit.
  case cancel
}

/// The conversation about quitting, pure: events in, actions out. What is unsent is sent first where it can be; asked is
/// only when it can't, or when that takes too long. Nothing is lost that the person has not said may be.
///
/// What is unsent, and when all of it has arrived, the client knows and tells; kept here is who waits for that.
public enum Quitting: Hashable, Sendable {
  /// Nobody wants to quit.
  case stays
  /// What is unsent is on its way, and the client quits behind it.
  case sending
  /// The person has to decide.
  case asking(UnsentQuestion)
  /// The person has decided to wait: meanwhile the client is used as ever, and whoever changes something stays.
  case waiting
  /// Nothing holds the client any more; whether what is unsent may be lost.
  case quits(discards: Bool)

  /// What is to be done.
  public enum Action: Hashable, Sendable {
    /// Show that everything is on its way, and say `takesTooLong` when it is not there after a while.
    case showSending
    /// Put the question to the person, and bring the answer.
    case ask(UnsentQuestion)
    /// Let the person go on; `everythingIsSent` ends the client.
    case goOn
    /// The client stays: show neither question nor sending any more.
    case stay
    /// The client ends.
    case quit
  }

  /// Somebody wants to quit. Asked again while it sends or asks, it goes on with that: the question is not put twice.
  /// - Parameters:
  ///   - unsent: how many objects have changes that the server does not have.
  ///   - canSend: whether the server is there to take them.
  public mutating func request(unsent: Int, canSend: Bool) -> Action? {
    switch self {
    case .quits: return .quit
    case .sending, .asking: return nil
    case .stays, .waiting:
      if unsent == 0 { return quit() }
      guard canSend else { return ask(unsent) }
      self = .sending
      return .showSending
    }
  }

  /// The person has decided.
  public mutating func answer(_ answer: UnsentAnswer) -> Action? {
    guard case .asking = self else { return nil }
    switch answer {
    case .cancel: return stay()
    case .discard: return quit(discards: true)
    case .wait:
      self = .waiting
      return .goOn
    }
  }

  /// Nothing is unsent any more. Asked about what has been sent meanwhile, nobody needs to answer.
  /// - Parameter leavesTexts: whether the last answer was that a text has no place any more: the client stays, for its
  ///   person to say what becomes of it.
  public mutating func everythingIsSent(leavesTexts: Bool) -> Action? {
    switch self {
    case .sending, .waiting: leavesTexts ? stay() : quit()
    case .asking: leavesTexts ? nil : quit()
    case .stays, .quits: nil
    }
  }

  /// What is on its way has no answer for a while.
  public mutating func takesTooLong(unsent: Int) -> Action? { self == .sending ? ask(unsent) : nil }

  /// The server has refused changes, and waiting mends nothing.
  public mutating func refused(unsent: Int) -> Action? {
    switch self {
    case .sending, .waiting: ask(unsent)
    case .stays, .asking, .quits: nil
    }
  }

  /// The person does not want to quit any more, while everything is on its way.
  public mutating func giveUp() -> Action? { self == .sending ? stay() : nil }

  /// The person has changed something.
  public mutating func somethingChanged() -> Action? { self == .waiting ? stay() : nil }

  private mutating func ask(_ unsent: Int) -> Action {
    let question = UnsentQuestion(count: unsent)
    self = .asking(question)
    return .ask(question)
  }

  private mutating func stay() -> Action {
    self = .stays
    return .stay
  }

  private mutating func quit(discards: Bool = false) -> Action {
    self = .quits(discards: discards)
    return .quit
  }
}
