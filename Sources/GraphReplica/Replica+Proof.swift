import GraphModel
import GraphWire

/// The newest state of which anything is held here, in whatever way it came: an answer to a save or a fetch may be ahead of all
/// queries. On each connection the store has to say that it knows it, for it may have gone back to a backup meanwhile.
struct NewestState {
  /// As far as a store has proven to be the one that it is of.
  private(set) var token: Token?
  /// What came on this connection before the proof: of this connection's store, and perhaps of another past.
  private var heard: Token?
  /// Whether nothing has to be proven on this connection any more.
  private(set) var isProven = true
  /// What is held is of two stores, of which one was never heard of again.
  private(set) var isMixed = false

  /// Something of this state is held from now on.
  mutating func take(_ token: Token) {
    if isProven { self.token = Self.newer(self.token, token) } else { heard = Self.newer(heard, token) }
  }

  /// A store is there, and this is its newest state.
  mutating func connect(head: Token) { isProven = !isMixed && (token == nil || token == head) }

  mutating func prove() { (token, heard, isProven) = (heard.map { Self.newer(token, $0) } ?? token, nil, true) }

  /// Nothing is held any more but what this connection's store has said.
  mutating func forget() { (token, heard, isProven, isMixed) = (heard, nil, true, false) }

  mutating func disconnect() {
    if !isProven, heard != nil { isMixed = true }
    (heard, isProven) = (nil, true)
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
    guard let token = newest.token else { return }
    if newest.isMixed {
      doubtedRevision = .max
    } else if newest.isProven {
      provenRevision = token.revision
    } else if token.revision > newestOfQueries?.revision ?? 0 {
      ask(after: token, &actions)
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
    if doubtedRevision > provenRevision { return diverge(&actions) }
    if let token = newest.token, !newest.isProven, provenRevision < token.revision {
      // The query that was to say so was refused, or nobody follows it any more.
      ask(after: token, &actions)
      if subscribing > 0 { return }
    }
    newest.prove()
  }
}
