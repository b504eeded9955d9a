import GraphModel
import GraphWire

/// The newest state of which the client holds anything, however it arrived. An answer to a save or a fetch may be
/// ahead of all queries. On each connection the store has to confirm that it knows this state, because it may have
/// been restored from a backup meanwhile.
enum ResumeState {
  /// The state is of this connection's store; nil if nothing is held.
  case proven(Token?)
  /// The store has not confirmed the state yet. `heard` arrived meanwhile: from this connection's store, and perhaps
  /// of another past.
  case asked(Token, heard: Token?)
  /// Objects of two stores are held, and one of the stores never confirmed its state.
  case mixed(heard: Token?)

  /// The state that the store has yet to confirm; nil if there is none.
  var unproven: Token? {
    if case .asked(let token, _) = self { token } else { nil }
  }

  /// Records that something of this state is held.
  mutating func take(_ token: Token) {
    switch self {
    case .proven(let old): self = .proven(Self.newer(old, token))
    case .asked(let old, let heard): self = .asked(old, heard: Self.newer(heard, token))
    case .mixed(let heard): self = .mixed(heard: Self.newer(heard, token))
    }
  }

  /// Starts a connection to a store whose newest state is `head`.
  mutating func connect(head: Token) {
    if case .proven(let token?) = self, token != head { self = .asked(token, heard: nil) }
  }

  /// Records that the store knows the state.
  mutating func prove() {
    if case .asked(let token, let heard) = self { self = .proven(heard.map { Self.newer(token, $0) } ?? token) }
  }

  /// Discards all but the state that this connection's store has sent.
  mutating func forget() {
    switch self {
    case .proven: self = .proven(nil)
    case .asked(_, let heard), .mixed(let heard): self = .proven(heard)
    }
  }

  mutating func disconnect() {
    switch self {
    case .proven: break
    case .asked(let token, nil): self = .proven(token)
    case .asked, .mixed: self = .mixed(heard: nil)
    }
  }

  private static func newer(_ one: Token?, _ other: Token) -> Token {
    one.map { $0.revision < other.revision ? other : $0 } ?? other
  }
}

/// Resume validation: whether the store still has the state that the client holds. The store may be another one, or
/// may have been restored to an earlier state.
extension Replica {
  /// Asks the store for the changes after the newest state, unless the subscription of a query names it. The store
  /// refuses if it does not know that state.
  mutating func askForProof(_ head: Token, _ actions: inout [ReplicaAction]) {
    newest.connect(head: head)
    switch newest {
    case .proven(let token): provenRevision = token?.revision ?? 0
    case .asked(let token, _): if token.revision > newestOfQueries?.revision ?? 0 { ask(after: token, &actions) }
    case .mixed: break
    }
  }

  private mutating func ask(after token: Token, _ actions: inout [ReplicaAction]) {
    // A server older than windows closes the connection at this request.
    guard knowsWindows else { return }
    subscribing += 1
    send(.changes(.follow(FollowRequest(since: token, limit: 1))), for: .proof(token.revision), &actions)
  }

  /// Records whether the store knows a state.
  mutating func prove(_ revision: Revision, isKnown: Bool) {
    if isKnown {
      provenRevision = max(provenRevision, revision)
    } else {
      doubtedRevision = max(doubtedRevision, revision)
    }
  }

  /// Handles the answer to whether the store knows the newest state.
  mutating func takeProof(of revision: Revision, isKnown: Bool, _ actions: inout [ReplicaAction]) {
    prove(revision, isKnown: isKnown)
    endSubscribing(mayShow: true, &actions)
  }

  /// Decides whether the held state is valid, once the store has answered for every state in question.
  mutating func settleProof(_ actions: inout [ReplicaAction]) {
    if case .mixed = newest { return diverge(&actions) }
    if doubtedRevision > provenRevision { return diverge(&actions) }
    if let token = newest.unproven, provenRevision < token.revision {
      // The query that would have confirmed the state was refused, or is no longer followed.
      ask(after: token, &actions)
      if subscribing > 0 { return }
    }
    newest.prove()
  }
}
