import GraphModel

/// What a client asks before it quits, as a value: whoever has a screen shows it and answers it.
public struct UnsentQuestion: Hashable, Sendable {
  /// The objects with text that no commit holds yet, in the order of their windows.
  public var ids: [ObjectID]

  /// A question about objects with unsent text; they are not none.
  public init(ids: [ObjectID]) { self.ids = ids }

  /// For a person: "2 windows have changes that are not sent".
  public var sentence: String {
    ids.count == 1 ? "1 window has changes that are not sent" : "\(ids.count) windows have changes that are not sent"
  }
}

/// What a person can answer.
public enum UnsentAnswer: Hashable, Sendable {
  /// Send them, then quit.
  case send
  /// Quit, and lose them.
  case discard
  /// Do not quit.
  case cancel
}

/// The conversation about quitting: asked only when something is unsent, ended by an answer, or, when the answer is to
/// send, by what became of that.
public enum Quitting: Hashable, Sendable {
  /// Nobody wants to quit.
  case stays
  /// The person has to decide.
  case asking(UnsentQuestion)
  /// Waits until these are sent.
  case sending([ObjectID])
  /// Nothing holds the client any more.
  case quits

  /// Somebody wants to quit. Asked again while it asks or sends, it goes on with that: the question is not put twice.
  public mutating func request(_ question: UnsentQuestion?) {
    switch self {
    case .stays, .quits: self = question.map { .asking($0) } ?? .quits
    case .asking, .sending: break
    }
  }

  /// The person has decided.
  /// - Returns: the objects that are to be sent now; none unless that was the answer.
  public mutating func answer(_ answer: UnsentAnswer) -> [ObjectID] {
    guard case .asking(let question) = self else { return [] }
    switch answer {
    case .cancel: self = .stays
    case .discard: self = .quits
    case .send:
      self = .sending(question.ids)
      return question.ids
    }
    return []
  }

  /// A temporary id became permanent: whatever names the one, names the other now.
  public mutating func identify(_ identities: [Committed.Identity]) {
    func renamed(_ ids: [ObjectID]) -> [ObjectID] {
      ids.map { id in identities.first { $0.temporary == id }?.permanent ?? id }
    }
    switch self {
    case .asking(let question): self = .asking(UnsentQuestion(ids: renamed(question.ids)))
    case .sending(let ids): self = .sending(renamed(ids))
    case .stays, .quits: break
    }
  }

  /// All text of the object has been acknowledged.
  public mutating func sent(_ id: ObjectID) {
    guard case .sending(var ids) = self else { return }
    ids.removeAll { $0 == id }
    self = ids.isEmpty ? .quits : .sending(ids)
  }

  /// The object's text was refused or the connection is gone: the client stays, for its user to see why.
  public mutating func failed() {
    guard case .sending = self else { return }
    self = .stays
  }
}

extension WindowSet {
  /// What is to be asked before quitting; nil when everything that was typed has been sent.
  public var unsentQuestion: UnsentQuestion? {
    let ids = order.filter { entries[$0]?.controller.unsentText != nil }
    return ids.isEmpty ? nil : UnsentQuestion(ids: ids)
  }
}
