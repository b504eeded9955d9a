import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphHub

/// The opening of a session, whose welcome waits until the store has looked the client's replica up.
@Suite struct HelloTests {
  private func hello(_ script: HubTranscript, _ replica: UInt64 = 1, author: String = "ann") -> ToServer.Body {
    .hello(Hello(model: script.model.hash, replica: UniqueID(high: 1, low: replica), author: author))
  }

  @Test func welcomeHasHighestSequenceOfReplica() throws {
    var script = try HubTranscript()
    script.answersLookups = false
    #expect(try script.handle(.opened(1)) == [])
    #expect(try script.send(hello(script), 1) == ["find the replica of 1"])
    var hub = script.hub
    let actions = hub.handle(.foundReplica(.success(KnownReplica(lastSequence: 12)), session: 1))
    #expect(try welcomes(among: actions).map(\.lastSequence) == [12])
    #expect(actions.count == 1)
  }

  private func welcomes(among actions: [HubAction]) throws -> [Welcome] {
    try actions.compactMap { action -> Welcome? in
      guard case .send(let frame, _) = action else { return nil }
      var reader = BinaryReader(Array(frame.dropFirst(ProtocolLimits.headerSize)))
      guard case .welcome(let welcome) = try ToClient(from: &reader).body else { return nil }
      return welcome
    }
  }

  /// A client reads what it keeps again if the rules have changed since its last connection. No rule hides anything
  /// from the machine's owner.
  @Test func welcomeOfAUserIdentifiesTheRulesForReading() throws {
    var script = try authenticating()
    script.answersLookups = false
    let ann = Principal(id: "user:a", name: "ann")
    let user = ClientIdentity.user(ann, token: 1, access: GrantedAccess(.owner, of: ann))
    for (session, identity, rules) in [
      (1, .owner, 0), (2, user, Visibility.fingerprint(of: script.model)),
    ] as [(SessionID, ClientIdentity, UInt64)] {
      _ = try script.handle(.opened(session, of: .network))
      _ = try script.send(
        .hello(Hello(model: nil, replica: UniqueID(high: 1, low: session), author: "eve", credential: "t")), session)
      _ = try script.handle(.authenticated(.success(identity), session: session))
      var hub = script.hub
      let actions = hub.handle(.foundReplica(.success(nil), session: session))
      #expect(try welcomes(among: actions).map(\.rules) == [rules])
    }
  }

  @Test func messagesBeforeWelcomeAreHandledAfterIt() throws {
    var script = try HubTranscript()
    script.answersLookups = false
    _ = try script.handle(.opened(1))
    _ = try script.send(hello(script), 1)
    #expect(try script.send(.ping, 1) == ["pause reading from 1"])
    #expect(try script.save(1, sequence: 1) == [])
    #expect(
      try script.handle(.foundReplica(.success(nil), session: 1))
        == ["1 < welcome", "1 < pong 0", "commit #1", "read on from 1"])
  }

  @Test func tooManyMessagesBeforeWelcomeEndTheSession() throws {
    var limits = HubLimits()
    limits.waitingRequests = 2
    var script = try HubTranscript(limits: limits)
    script.answersLookups = false
    _ = try script.handle(.opened(1))
    _ = try script.send(hello(script), 1)
    #expect(try script.send(.ping, 1) == ["pause reading from 1"])
    #expect(try script.send(.ping, 1) == [])
    #expect(try script.send(.ping, 1) == ["1 < goodbye: limit", "close 1"])
    #expect(try script.handle(.foundReplica(.success(nil), session: 1)) == [])
  }

  /// The store answers for a session that has ended, and for a session that its client has closed.
  @Test func lateAnswerIsIgnored() throws {
    var script = try HubTranscript()
    script.answersLookups = false
    _ = try script.handle(.opened(1))
    _ = try script.send(hello(script), 1)
    #expect(try script.handle(.closed(1)) == [])
    #expect(try script.handle(.foundReplica(.success(nil), session: 1)) == [])
    #expect(script.hub.counts.sessions == 0)
  }

  /// The client may read. It may not commit, because its commits could have numbers that history already contains.
  @Test func sessionWithoutLookupCommitsNothing() throws {
    var script = try HubTranscript()
    script.answersLookups = false
    _ = try script.handle(.opened(1))
    _ = try script.send(hello(script), 1)
    let refusal = Refusal(.unavailable, "the disk failed")
    #expect(try script.handle(.foundReplica(.failure(refusal), session: 1)) == ["1 < welcome"])
    #expect(try script.save(1, sequence: 1) == ["1 < refused: unavailable"])
    #expect(try script.send(.ping, 1) == ["1 < pong 0"])
  }

  // MARK: - Principals

  /// A client with the id of another one would receive that one's outcomes.
  @Test func replicaOfAnotherAuthorInHistoryIsRefused() throws {
    var script = try HubTranscript()
    script.replicas[UniqueID(high: 1, low: 1)] = KnownReplica(lastSequence: 3, author: "bob")
    _ = try script.handle(.opened(1))
    #expect(try script.send(hello(script), 1) == ["1 < goodbye: notAllowed", "close 1"])
    _ = try script.handle(.opened(2))
    #expect(try script.send(hello(script, author: "bob"), 2) == ["2 < welcome"])
  }

  @Test func replicaOfAnotherSessionIsRefusedWhileThatSessionLasts() throws {
    var script = try HubTranscript()
    for session in 1...4 as ClosedRange<SessionID> { _ = try script.handle(.opened(session)) }
    #expect(try script.send(hello(script), 1) == ["1 < welcome"])
    // The same client connects again before its old connection is known to be lost.
    #expect(try script.send(hello(script), 2) == ["2 < welcome"])
    #expect(try script.handle(.closed(1)) == [])
    #expect(try script.send(hello(script, author: "bob"), 3) == ["3 < goodbye: notAllowed", "close 3"])
    #expect(try script.handle(.closed(3)) == [])
    #expect(try script.handle(.closed(2)) == [])
    #expect(try script.send(hello(script, author: "bob"), 4) == ["4 < welcome"])
  }

  /// The store does not have the commit yet, so a lookup finds no author.
  @Test func replicaOfACommitInFlightIsRefused() throws {
    var script = try HubTranscript()
    for session in 1...3 as ClosedRange<SessionID> { _ = try script.handle(.opened(session)) }
    #expect(try script.send(hello(script), 1) == ["1 < welcome"])
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    #expect(try script.handle(.closed(1)) == [])
    #expect(try script.send(hello(script, author: "bob"), 2) == ["2 < goodbye: notAllowed", "close 2"])
    #expect(try script.committed(1, try script.record(1)) == [])
    // Now the store answers with the author.
    #expect(try script.send(hello(script, author: "bob"), 3) == ["3 < welcome"])
    for session in 2...3 as ClosedRange<SessionID> { _ = try script.handle(.closed(session)) }
    #expect(script.hub.replicaOwners.isEmpty)
  }

  @Test func lookupFromBeforeACommitDoesNotGiveItsReplicaAway() throws {
    var script = try HubTranscript()
    script.answersLookups = false
    for session in 1...3 as ClosedRange<SessionID> { _ = try script.handle(.opened(session)) }
    _ = try script.send(hello(script), 1)
    #expect(try script.handle(.foundReplica(.success(nil), session: 1)) == ["1 < welcome"])
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    #expect(try script.send(hello(script, author: "bob"), 2) == ["find the replica of 2"])
    #expect(try script.committed(1, try script.record(1)) == ["1 < committed 1"])
    #expect(try script.handle(.closed(1)) == [])
    #expect(
      try script.handle(.foundReplica(.success(nil), session: 2)) == ["2 < goodbye: notAllowed", "close 2"])
    // A later lookup succeeds.
    _ = try script.send(hello(script, author: "bob"), 3)
    #expect(try script.handle(.foundReplica(.success(nil), session: 3)) == ["3 < welcome"])
  }

  @Test func localUserActsUnderTheNameOfTheSystem() throws {
    var script = try HubTranscript()
    let bob = Principal(id: "uid:1001", name: "bob")
    _ = try script.handle(.opened(1, of: .user(bob)))
    #expect(try script.send(hello(script, author: "ann"), 1) == ["1 < welcome"])
    #expect(script.hub.principal(of: 1) == bob)
    let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1)
    var hub = script.hub
    let authors = hub.handle(.received(ToServer(100, .commit(Transaction(id: id, changes: []))), from: 1))
      .compactMap { action -> Principal? in
        if case .commit(_, .transaction(_, let author, _)) = action { author } else { nil }
      }
    #expect(authors == [bob])
  }

  @Test func presenceHasTheNameOfThePrincipal() throws {
    var script = try HubTranscript()
    for (session, peer) in [(1, .user(Principal(id: "uid:1001", name: "bob"))), (2, .owner)] as [(SessionID, Peer)] {
      _ = try script.handle(.opened(session, of: peer))
      #expect(try script.send(hello(script, session, author: "ann"), session) == ["\(session) < welcome"])
    }
    _ = try script.send(.presence([1]), 2)
    var hub = script.hub
    let names = try hub.handle(.received(ToServer(100, .presence([2])), from: 1)).compactMap { action -> String? in
      guard case .send(let frame, 2) = action else { return nil }
      var reader = BinaryReader(Array(frame.dropFirst(ProtocolLimits.headerSize)))
      guard case .presence(_, let author, _, _) = try ToClient(from: &reader).body else { return nil }
      return author
    }
    #expect(names == ["bob"])
  }

  @Test(arguments: ["user:1", "uid:0", "user:"]) func reservedNameIsRefused(author: String) throws {
    var script = try HubTranscript()
    _ = try script.handle(.opened(1))
    #expect(try script.send(hello(script, author: author), 1) == ["1 < goodbye: notAllowed", "close 1"])
  }

  // MARK: - Credentials

  private func authenticating() throws -> HubTranscript {
    var script = try HubTranscript()
    script.hub = Hub(model: script.model, head: script.token(0), authenticates: true)
    return script
  }

  private func hello(_ script: HubTranscript, credential: String) -> ToServer.Body {
    .hello(
      Hello(
        model: script.model.hash, replica: UniqueID(high: 1, low: 1), author: "eve", credential: credential))
  }

  @Test func userOfTokenActsUnderTheNameOfTheAccount() throws {
    var script = try authenticating()
    let ann = Principal(id: "user:a", name: "ann")
    _ = try script.handle(.opened(1, of: .network))
    #expect(try script.send(hello(script, credential: "secret"), 1) == ["authenticate 1 by secret"])
    #expect(try script.send(.ping, 1) == ["pause reading from 1"])
    let identity = ClientIdentity.user(ann, token: 7, access: GrantedAccess(.editor, of: ann))
    #expect(
      try script.handle(.authenticated(.success(identity), session: 1))
        == ["1 < welcome", "1 < pong 0", "read on from 1"])
    #expect(script.hub.principal(of: 1) == ann && script.hub.tokensInUse == [7: 0])
  }

  @Test func clientOfNetworkWithoutTokenIsDecidedByTheServer() throws {
    var script = try authenticating()
    for session in [1, 2] as [SessionID] {
      _ = try script.handle(.opened(session, of: .network))
      #expect(try script.send(hello(script, credential: ""), session) == ["authenticate \(session) by nothing"])
    }
    #expect(try script.handle(.authenticated(.success(.owner), session: 1)) == ["1 < welcome"])
    #expect(script.hub.principal(of: 1) == Principal(author: "eve"))
    let refusal = Refusal(.notAllowed, "a token is needed")
    #expect(try script.handle(.authenticated(.failure(refusal), session: 2)) == ["2 < goodbye: notAllowed", "close 2"])
    // Neither a late nor a second answer has an effect.
    #expect(try script.handle(.authenticated(.success(.owner), session: 2)) == [])
    #expect(try script.handle(.authenticated(.success(.owner), session: 1)) == [])
    // The owner's own programs need no token.
    _ = try script.handle(.opened(3))
    #expect(try script.send(hello(script, 3, author: "eve"), 3) == ["3 < welcome"])
  }

  /// Sessions without a token end when there is a user, also one whose replica is being looked up. Those of tokens and
  /// of the machine's owner continue.
  @Test func sessionsWithoutTokenEndOnceItIsRequired() throws {
    var script = try authenticating()
    for session in 1...4 as ClosedRange<SessionID> {
      let credential = session == 3 ? "t" : ""
      let hello = Hello(
        model: nil, replica: UniqueID(high: 1, low: session), author: "eve", credential: credential)
      _ = try script.handle(.opened(session, of: session == 4 ? .owner : .network))
      script.answersLookups = session != 2
      _ = try script.send(.hello(hello), session)
      if session == 4 { continue }
      let ann = Principal(id: "user:a", name: "ann")
      let identity: ClientIdentity =
        session == 3 ? .user(ann, token: 7, access: GrantedAccess(.editor, of: ann)) : .owner
      let actions = try script.handle(.authenticated(.success(identity), session: session))
      #expect(actions == (session == 2 ? ["find the replica of 2"] : ["\(session) < welcome"]))
    }
    #expect(script.hub.hasSessionsWithoutToken)
    let refusal = Refusal(.notAllowed, "a token is needed")
    #expect(
      try script.handle(.tokenRequired(refusal))
        == ["1 < goodbye: notAllowed", "close 1", "2 < goodbye: notAllowed", "close 2"])
    #expect(!script.hub.hasSessionsWithoutToken)
    for session in [3, 4] as [SessionID] { #expect(try script.send(.ping, session) == ["\(session) < pong 0"]) }
  }

  @Test func endOfTokenEndsItsSessionsOnly() throws {
    var script = try authenticating()
    for (session, token) in [(1, 7), (2, 8), (3, 7)] as [(SessionID, UInt64)] {
      _ = try script.handle(.opened(session, of: .network))
      _ = try script.send(
        .hello(
          Hello(model: nil, replica: UniqueID(high: 1, low: session), author: "eve", credential: "t")), session)
      let principal = Principal(id: "user:\(token)", name: "ann")
      let identity = ClientIdentity.user(principal, token: token, access: GrantedAccess(.editor, of: principal))
      #expect(try script.handle(.authenticated(.success(identity), session: session)) == ["\(session) < welcome"])
    }
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    #expect(
      try script.handle(.tokensEnded([7: Refusal(.notAllowed, "revoked"), 9: Refusal(.notAllowed, "revoked")]))
        == ["1 < goodbye: notAllowed", "close 1", "3 < goodbye: notAllowed", "close 3"])
    #expect(try script.send(.ping, 2) == ["2 < pong 0"])
    #expect(try script.send(.ping, 1) == [])
  }

  @Test func credentialWithoutAccountsAndLongCredentialAreRefused() throws {
    var script = try HubTranscript()
    _ = try script.handle(.opened(1, of: .network))
    #expect(try script.send(hello(script, credential: "t"), 1) == ["1 < goodbye: notAllowed", "close 1"])
    script = try authenticating()
    _ = try script.handle(.opened(1, of: .network))
    let long = String(repeating: "t", count: ProtocolLimits.maximumCredentialSize + 1)
    #expect(try script.send(hello(script, credential: long), 1) == ["1 < goodbye: malformed", "close 1"])
  }
}
