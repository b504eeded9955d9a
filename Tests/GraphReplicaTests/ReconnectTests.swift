import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// The requests of a replica on a new connection: how many at a time, and in which order.
@Suite struct ReconnectTests {
  /// A server lets a few hundred requests wait and refuses the next.
  @Test func queriesResumeAFewAtATime() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let most = ProtocolLimits.maximumOutstandingRequests / 4
    let count = 3 * most + 5
    var queries = [QueryID]()
    for number in 0..<count {
      let condition = try GraphPredicate(parsing: "x < \(number)", entity: script.note, model: script.model)
      queries.append(script.context.follow(entity: script.note, predicate: condition))
    }
    #expect(script.lines() == Array(repeating: "> follow", count: most))
    // A waiting one is internal to the replica.
    script.context.unfollow(queries[most])
    #expect(script.lines() == [])
    for number in 0..<UInt64(count - 1) {
      let isLast = number + UInt64(most) >= UInt64(count - 1)
      #expect(
        script.receive(.subscribed(query: number + 1, resumed: false), number + 2) == (isLast ? [] : ["> follow"]))
    }
    // All of them are answered, so the next result is shown.
    #expect(script.receive(script.last([], at: 1), 2) == [])
    #expect(script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["query 1 has 0 at 1"])
    #expect(script.handle(.disconnected) == [])
    let again = script.connect(head: 1)
    #expect(again.count == 1 + most && again[1] == "> follow since 1")
  }

  /// A result was on its way while another query advanced: the deltas that the result missed are of revisions that were
  /// shown.
  @Test func lateResultSkipsDeltasOfShownRevisions() throws {
    let script = try ReplicaTranscript()
    _ = try ReplicaTests.following(script, [script.image(5, 1)])
    let condition = try GraphPredicate(parsing: "x < 9", entity: script.note, model: script.model)
    _ = script.context.follow(entity: script.note, predicate: condition)
    #expect(script.lines() == ["> follow"])
    #expect(script.receive(.subscribed(query: 5, resumed: false), 3) == [])
    #expect(script.receive(script.last([try script.image(5, 1)], at: 1), 3) == [])
    #expect(script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["query 2 has 1 at 1"])
    #expect(script.receive(.reset(query: 4, reason: "too far behind")) == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    let edit = Edit(try script.number("x"), .set(.double(3)))
    #expect(script.receive(script.delta(5, 8, [script.update(5, [edit], previous: 1)])) == [])
    #expect(script.receive(.advance(revision: 8, fingerprint: 8_000)) == ["revision 8 changes [2]"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 9) == ["welcomed", "> follow", "> follow since 8"])
  }

  /// The owner has seen revisions after the token that it named, so a query that was reset is loaded completely.
  @Test func resetQueryDoesNotResumeFromItsFirstTokenAgain() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 9) == ["welcomed"])
    for query in [QueryID(1), 2] {
      let subscribe = Subscribe(entity: script.note.number, since: script.token(2))
      #expect(script.handle(.subscribe(query, subscribe)) == ["> follow since 2"])
    }
    #expect(script.receive(.subscribed(query: 4, resumed: true, known: true), 2) == ["query 1 goes on from 2"])
    #expect(script.receive(.subscribed(query: 5, resumed: true, known: true), 3) == ["query 2 goes on from 2"])
    #expect(script.receive(.reset(query: 4, reason: "too far behind")) == [])
    let edit = Edit(try script.number("x"), .set(.double(3)))
    #expect(script.receive(script.delta(5, 8, [script.update(5, [edit], previous: 1)])) == [])
    #expect(script.receive(.advance(revision: 8, fingerprint: 8_000)) == ["revision 8 changes [2]"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 9) == ["welcomed", "> follow", "> follow since 8"])
  }

  /// A late result includes the changes that it missed, up to the revision of the other queries.
  @Test func lateResultIsShownAtRevisionOfOthers() throws {
    let script = try ReplicaTranscript()
    _ = try ReplicaTests.following(script, [script.image(5, 1)])
    let condition = try GraphPredicate(parsing: "x < 9", entity: script.note, model: script.model)
    _ = script.context.follow(entity: script.note, predicate: condition)
    #expect(script.lines() == ["> follow"])
    #expect(script.receive(.subscribed(query: 5, resumed: false), 3) == [])
    let edit = Edit(try script.number("x"), .set(.double(3)))
    #expect(script.receive(script.delta(4, 8, [script.update(5, [edit], previous: 1)])) == [])
    #expect(script.receive(.advance(revision: 8, fingerprint: 8_000)) == ["revision 8 changes [1]"])
    #expect(script.receive(script.last([try script.image(5, 1), try script.image(6, 1)], at: 1), 3) == [])
    #expect(script.receive(script.delta(5, 7, [Delta.Change(kind: .removed, id: script.id(6))])) == [])
    #expect(script.receive(script.delta(5, 8, [script.update(5, [edit], previous: 1)])) == [])
    let arrival = Delta.Change(kind: .inserted, id: script.id(7), object: try script.image(7, 9))
    #expect(script.receive(script.delta(5, 9, [arrival])) == [])
    #expect(
      script.receive(.advance(revision: 9, fingerprint: 9_000)) == ["query 2 has 1 at 8", "revision 9 changes [2]"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 9) == ["welcomed", "> follow since 9", "> follow since 9"])
  }

  /// An advance is held until every subscription is answered. A result that was complete only after the advance waits
  /// for the next.
  @Test func advanceCoversOnlyCompleteResults() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    for number in 1...2 {
      let condition = try GraphPredicate(parsing: "x < \(number)", entity: script.note, model: script.model)
      _ = script.context.follow(entity: script.note, predicate: condition)
    }
    #expect(script.lines() == ["> follow", "> follow"])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(.advance(revision: 3, fingerprint: 3_000)) == [])
    #expect(script.receive(script.last([try script.image(5, 1)], at: 1), 2) == [])
    #expect(script.receive(.subscribed(query: 5, resumed: false), 3) == [])
    let edit = Edit(try script.number("x"), .set(.double(3)))
    #expect(script.receive(script.delta(4, 2, [script.update(5, [edit], previous: 1)])) == [])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 3) == ["welcomed", "> follow", "> follow"])
  }

  @Test func messagesForUnfollowedQueryAreIgnored() throws {
    let script = try ReplicaTranscript()
    _ = try ReplicaTests.following(script, [script.image(5, 1)])
    script.context.unfollow(1)
    #expect(script.lines() == ["> unfollow 4"])
    #expect(script.receive(.refused(Refusal(.unavailable, "the result could not be read")), 2) == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
  }

  /// A batch sees the saves before it, and later saves see the batch; reads need not wait.
  @Test func batchIsSentInOrderWithPendingSaves() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    #expect(script.handle(.disconnected) == [])
    note["x"] = .double(7)
    let first = try #require(script.context.save())
    #expect(script.connect(head: 9) == ["welcomed", "> follow since 1"])
    #expect(script.handle(.request(31, .batch(try batch(script)))) == [])
    // Beside the context's queue, as a commit of one's own is.
    let second = Transaction(id: script.context.newTransactionID(), policy: .error, undo: nil, changes: [])
    #expect(script.handle(.save(second)) == [])
    #expect(script.handle(.request(32, .fetch(Fetch(entity: script.note.number)))) == ["> fetch Note: "])
    #expect(script.receive(.subscribed(query: 4, resumed: true), 2) == ["query 1 goes on from 1"])
    let lines = script.receive(.advance(revision: 9, fingerprint: 9_000))
    #expect(lines.count == 3 && lines[0].hasPrefix("> commit \(first.sequence):"))
    #expect(lines[1].contains("batch") && lines[2].hasPrefix("> commit \(second.id.sequence):"))
  }

  private func batch(_ script: ReplicaTranscript) throws -> BatchRequest {
    BatchRequest(
      id: script.context.newTransactionID(), entity: script.note.number, operation: .delete(predicate: "x < 0"))
  }

  @Test func unsentRequestsFailWithConnection() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    #expect(script.handle(.disconnected) == [])
    note["x"] = .double(7)
    #expect(script.context.save() != nil)
    #expect(script.connect(head: 9) == ["welcomed", "> follow since 1"])
    #expect(script.handle(.request(31, .batch(try batch(script)))) == [])
    #expect(script.handle(.disconnected) == ["request 31 was refused: unavailable"])
  }
}
