import GraphModel
import GraphWire

/// The newest state of which anything is held here, in whatever way it came: an answer to a save or a fetch may be ahead of all
/// queries. On each connection the store has to say that it knows it, for it may have gone back to a backup meanwhile.
enum NewestState {
  /// It is of this connection's store, or of no store yet.
  case proven(Token?)
  /// The store has to say whether it knows the state. `heard` came meanwhile: of this connection's store, and perhaps of
  /// another past.
  case asked(Token, heard: Token?)
  /// What is held is of two stores, of which one was never heard of again.
  case mixed(heard: Token?)

  /// The state that the store has to say it knows; nil when it need not.
  var unproven: Token? {
    if case .asked(let token, _) = self { token } else { nil }
  }

  /// Something of this state is held from now on.
  mutating func take(_ token: Token) {
    switch self {
    case .proven(let old): self = .proven(Self.newer(old, token))
    case .asked(let old, let heard): self = .asked(old, heard: Self.newer(heard, token))
    case .mixed(let heard): self = .mixed(heard: Self.newer(heard, token))
    }
  }

  /// A store is there, and this is its newest state.
  mutating func connect(head: Token) {
    if case .proven(let token?) = self, token != head { self = .asked(token, heard: nil) }
  }

  /// The store has said that it knows the state.
  mutating func prove() {
    if case .asked(let token, let heard) = self { self = .proven(heard.map { Self.newer(token, $0) } ?? token) }
  }

  /// Nothing is held any more but what this connection's store has said.
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

/// Whether the store is the one that this side's state is of, and has not gone back behind it.
extension Replica {
  /// Where no query says what the newest state is, the store is asked for what came after it: it refuses when it does not
  /// know that state.
  mutating func askForProof(_ head: Token, _ actions: inout [ReplicaAction]) {
    newest.connect(head: head)
    switch newest {
    case .proven(let token): provenRevision = token?.revision ?? 0
    case .asked(let token, _): if token.revision > newestOfQueries?.revision ?? 0 { ask(after: token, &actions) }
    case .mixed: break
    }
  }

  private mutating func ask(after token: Token, _ actions: inout [ReplicaAction]) {
    // A server older than windows ends the connection at this question.
    guard knowsWindows else { return }
    subscribing += 1
    send(.changes(.follow(FollowRequest(since: token, limit: 1))), for: .proof(token.revision), &actions)
  }

  /// The store has said whether it knows a state.
  mutating func prove(_ revision: Revision, isKnown: Bool) {
    if isKnown {
      provenRevision = max(provenRevision, revision)
    } else {
      doubtedRevision = max(doubtedRevision, revision)
    }
  }

  /// It has said so of the newest one.
  mutating func takeProof(of revision: Revision, isKnown: Bool, _ actions: inout [ReplicaAction]) {
    prove(revision, isKnown: isKnown)
    endSubscribing(mayShow: true, &actions)
  }

  /// It has answered for every state that it was asked about.
  mutating func settleProof(_ actions: inout [ReplicaAction]) {
    if case .mixed = newest { return diverge(&actions) }
    if doubtedRevision > provenRevision { return diverge(&actions) }
    if let token = newest.unproven, provenRevision < token.revision {
      // The query that was to say so was refused, or nobody follows it any more.
      ask(after: token, &actions)
      if subscribing > 0 { return }
    }
    newest.prove()
  }
}
