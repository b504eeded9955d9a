// Tests: RestoredStoreTests.swift, ReconnectTests.swift
import GraphModel

/// The newest state from which the client holds objects, however they arrived. An answer to a save or a fetch may be
/// ahead of all queries. On each connection the store has to confirm that it knows this state, because it may have been
/// restored from a backup meanwhile.
enum ResumeState {
  /// The state is of this connection's store; nil if nothing is held.
  case confirmed(Token?)
  /// The store has not confirmed the state yet. `received` arrived meanwhile: from this connection's store, and
  /// perhaps of another past.
  case unconfirmed(Token, received: Token?)
  /// Objects of two stores are held, and one of the stores never confirmed its state.
  case inconsistent(received: Token?)

  /// The state that the store has yet to confirm; nil if there is none.
  var unconfirmedToken: Token? {
    if case .unconfirmed(let token, _) = self { token } else { nil }
  }

  /// Whether everything that is held is of a store's state, or of an earlier one.
  func isHeldUp(to state: Token) -> Bool {
    func isIn(_ token: Token) -> Bool { token.store == state.store && token.revision <= state.revision }
    switch self {
    case .confirmed(let token): return token.map(isIn) != false
    case .unconfirmed(let token, let received): return isIn(token) && received.map(isIn) != false
    case .inconsistent: return false
    }
  }

  /// Records that something of this state is held.
  mutating func record(_ token: Token) {
    switch self {
    case .confirmed(let old): self = .confirmed(Self.newer(old, token))
    case .unconfirmed(let old, let received): self = .unconfirmed(old, received: Self.newer(received, token))
    case .inconsistent(let received): self = .inconsistent(received: Self.newer(received, token))
    }
  }

  /// Starts a connection to a store whose newest state is `head`.
  mutating func connect(head: Token) {
    if case .confirmed(let token?) = self, token != head { self = .unconfirmed(token, received: nil) }
  }

  /// Records that the store knows the state.
  mutating func confirm() {
    if case .unconfirmed(let token, let received) = self {
      self = .confirmed(received.map { Self.newer(token, $0) } ?? token)
    }
  }

  /// Discards all but the state that this connection's store has sent.
  mutating func discardUnconfirmed() {
    switch self {
    case .confirmed: self = .confirmed(nil)
    case .unconfirmed(_, let received), .inconsistent(let received): self = .confirmed(received)
    }
  }

  /// Ends a connection.
  mutating func disconnect() {
    switch self {
    case .confirmed: break
    case .unconfirmed(let token, nil): self = .confirmed(token)
    case .unconfirmed, .inconsistent: self = .inconsistent(received: nil)
    }
  }

  private static func newer(_ one: Token?, _ other: Token) -> Token {
    one.map { $0.revision < other.revision ? other : $0 } ?? other
  }
}

/// The newest state of which a replica holds anything, for a choice between two stores.
package struct HeldState: Sendable {
  let newest: ResumeState

  /// Whether everything that is held is of a store's state, or of an earlier one.
  package func isIn(_ state: Token) -> Bool { newest.isHeldUp(to: state) }

  /// Whether objects of two connections are held, the first of which ended before its store had confirmed the state.
  package var isInconsistent: Bool {
    if case .inconsistent = newest { true } else { false }
  }
}
