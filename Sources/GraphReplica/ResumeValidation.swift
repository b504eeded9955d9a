// Tests: RestoredStoreTests.swift, ReconnectTests.swift
import GraphModel

/// The server's answers, on this connection, about the states that this side holds.
///
/// States follow from each other: a server that knows a newer one has had the older, even if that was pruned since.
struct ResumeValidation {
  /// The newest state from which objects are held, and whether the store has confirmed it.
  private(set) var newest = ResumeState.confirmed(nil)
  /// The newest revision that the server has confirmed to know, and the newest denied; 0 for none.
  private var confirmedRevision: Revision = 0
  private var deniedRevision: Revision = 0

  /// Records that objects of this state are held.
  mutating func record(_ token: Token) { newest.record(token) }

  /// Starts a connection to a store whose newest state is `head`.
  mutating func connect(head: Token) {
    newest.connect(head: head)
    if case .confirmed(let token?) = newest { confirmedRevision = token.revision }
  }

  /// Records whether the server knows a state.
  mutating func record(_ revision: Revision, isKnown: Bool) {
    if isKnown {
      confirmedRevision = max(confirmedRevision, revision)
    } else {
      deniedRevision = max(deniedRevision, revision)
    }
  }

  /// Whether the server's history differs from the states that are held here.
  var isDenied: Bool {
    if case .inconsistent = newest { return true }
    return deniedRevision > confirmedRevision
  }

  /// The newest state, if the server has not said whether it knows it or a newer one; nil otherwise.
  var openToken: Token? {
    guard let token = newest.unconfirmedToken, confirmedRevision < token.revision else { return nil }
    return token
  }

  /// Records that the server knows the newest state.
  mutating func confirm() {
    assert(!isDenied, "the server knows the states that are confirmed")
    newest.confirm()
  }

  /// Discards all but the state that this connection's server has sent.
  mutating func discardUnconfirmed() {
    (confirmedRevision, deniedRevision) = (0, 0)
    newest.discardUnconfirmed()
  }

  /// Ends a connection.
  mutating func disconnect() {
    (confirmedRevision, deniedRevision) = (0, 0)
    newest.disconnect()
  }
}
