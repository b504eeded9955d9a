import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// A client cancels earlier requests of its connection. In a transcript, request 1 is the hello of the first session.
@Suite struct CancellationTests {
  private func id(_ sequence: UInt64) -> TransactionID {
    TransactionID(replica: UniqueID(high: 1, low: 1), sequence: sequence)
  }

  private func opened() throws -> HubTranscript {
    var script = try HubTranscript()
    try script.open(1)
    return script
  }

  @Test func cancelledReadIsStoppedAndRefusedOnce() throws {
    var script = try opened()
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == ["read #1 for 1"])
    #expect(script.hub.openReads == 1)
    #expect(try script.send(.cancel(of: 2), 1) == ["cancel #1", "1 < refused: cancelled"])
    #expect(script.hub.openReads == 0)
    // The reader's thread may have been at its end.
    #expect(try script.finishRead(1, at: 0) == [])
    #expect(try script.send(.more(of: 2), 1) == [])
  }

  @Test func cancellationOfAnsweredOrUnknownRequestHasNoEffect() throws {
    var script = try opened()
    _ = try script.send(.fetch(Fetch(entity: script.note.number)), 1)
    _ = try script.finishRead(1, at: 0)
    for request: UInt64 in [0, 1, 2, 3, 99] { #expect(try script.send(.cancel(of: request), 1) == []) }
    #expect(try script.send(.ping, 1) == ["1 < pong 0"])
  }

  @Test func cancellationReachesOnlyItsOwnConnection() throws {
    var script = try opened()
    try script.open(2)
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == ["read #1 for 1"])
    #expect(try script.send(.cancel(of: 3), 2) == [])
    #expect(script.hub.openReads == 1)
  }

  @Test func everyKindOfReadCanBeCancelled() throws {
    var script = try opened()
    let bodies: [ToServer.Body] = [
      .log(LogRequest(limit: 1)), .exportGraph, .undoState(scope: nil), .revisionAt(0),
      .changes(.differences(DifferenceRequest(from: 0, to: 0))),
      .changes(.follow(FollowRequest(since: script.token(0)))),
    ]
    var request: UInt64 = 2
    for (number, body) in bodies.enumerated() {
      #expect(try script.send(body, 1) == ["read #\(number + 1) for 1"])
      #expect(try script.send(.cancel(of: request), 1) == ["cancel #\(number + 1)", "1 < refused: cancelled"])
      request += 2
    }
    #expect(try script.send(.status, 1) == ["statistics #7"])
    #expect(try script.send(.cancel(of: request), 1) == ["cancel #7", "1 < refused: cancelled"])
    #expect(try script.handle(.statistics(StoreRequestID(7), ServerStatus())) == [])
    #expect(script.hub.openReads == 0)
  }

  /// Sixteen reads run at once; the others wait in order.
  @Test func waitingRequestIsWithdrawnAndNextOneRuns() throws {
    var script = try opened()
    for ticket in 1...16 {
      #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == ["read #\(ticket) for 1"])
    }
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == [])
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == [])
    // Request 18 waits as the first, 19 behind it.
    #expect(try script.send(.cancel(of: 18), 1) == ["1 < refused: cancelled"])
    #expect(try script.send(.cancel(of: 2), 1) == ["cancel #1", "1 < refused: cancelled", "read #17 for 1"])
    #expect(script.hub.openReads == 16)
  }

  @Test func thousandCancelledFetchesLeaveNothing() throws {
    var script = try opened()
    var request: UInt64 = 1
    for _ in 0..<1_000 {
      _ = try script.send(.fetch(Fetch(entity: script.note.number)), 1)
      request += 1
      let lines = try script.send(.cancel(of: request), 1)
      #expect(lines.last == "1 < refused: cancelled")
      request += 1
    }
    #expect(script.hub.openReads == 0)
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == ["read #1001 for 1"])
  }

  @Test func waitingFollowRequestIsWithdrawn() throws {
    var script = try opened()
    let follow = ToServer.Body.changes(.follow(FollowRequest(since: script.token(0), limit: 1, waits: true)))
    #expect(try script.send(follow, 1) == [])
    #expect(try script.send(.cancel(of: 2), 1) == ["1 < refused: cancelled"])
    // The next commit answers only its author.
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    #expect(try script.committed(1, script.record(1)) == ["1 < committed 1"])
  }

  @Test func cancelledSubscriptionEndsItsQueryInEveryState() throws {
    var script = try opened()
    let subscribe = Subscribe(entity: script.note.number)
    // While its first result is read.
    #expect(try script.send(.subscribe(subscribe), 1) == ["1 < query 1", "read #1 for 1"])
    #expect(try script.send(.cancel(of: 2), 1) == ["cancel #1", "1 < refused: cancelled"])
    #expect(script.hub.counts == (1, 0))
    // While it is live: the client may have cancelled before the last chunk arrived.
    #expect(try script.send(.subscribe(subscribe), 1) == ["1 < query 2", "read #2 for 1"])
    _ = try script.finishRead(2, at: 0)
    #expect(script.hub.counts == (1, 1))
    #expect(try script.send(.cancel(of: 4), 1) == ["1 < refused: cancelled"])
    #expect(script.hub.counts == (1, 0))
    #expect(script.hub.openReads == 0)
  }

  /// A client that has ended a query requests no further chunk of its first result.
  @Test func endedQueryMakesRoomForWaitingRequests() throws {
    var script = try opened()
    let subscribe = Subscribe(entity: script.note.number)
    for number in 1...16 {
      #expect(try script.send(.subscribe(subscribe), 1) == ["1 < query \(number)", "read #\(number) for 1"])
    }
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == [])
    #expect(try script.send(.unsubscribe(query: 3), 1) == ["cancel #3", "1 < query 3 ended", "read #17 for 1"])
    #expect(script.hub.counts == (1, 15))
    #expect(script.hub.openReads == 16)
  }

  @Test func cancelledWindowEndsWhileItsOrderIsRead() throws {
    var script = try opened()
    let window = Subscribe.Window(sort: "-created", offset: 0, limit: 3)
    _ = try script.send(.subscribe(Subscribe(entity: script.note.number, window: window)), 1)
    #expect(script.hub.counts == (1, 1))
    #expect(try script.send(.cancel(of: 2), 1).last == "1 < refused: cancelled")
    #expect(script.hub.counts == (1, 0))
  }

  @Test func savesCannotBeCancelled() throws {
    var script = try opened()
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    #expect(try script.send(.cancel(of: 2), 1) == [])
    #expect(try script.committed(1, script.record(1)) == ["1 < committed 1"])
  }

  @Test func runningBatchIsAnsweredByWriter() throws {
    var script = try opened()
    let batch = ToServer.Body.batch(
      BatchRequest(id: id(1), entity: script.note.number, operation: .delete(predicate: "")))
    #expect(try script.send(batch, 1) == ["commit #1"])
    #expect(try script.send(.cancel(of: 2), 1) == ["end the batch #1"])
    let refused = WriteResult(outcome: .refused(Refusal(.cancelled, "the batch was cancelled")), record: nil)
    #expect(try script.handle(.committed([(StoreRequestID(1), refused)])) == ["1 < refused: cancelled"])
    // One that is committed already.
    let other = ToServer.Body.batch(
      BatchRequest(id: id(2), entity: script.note.number, operation: .delete(predicate: "")))
    #expect(try script.send(other, 1) == ["commit #2"])
    #expect(try script.send(.cancel(of: 4), 1) == ["end the batch #2"])
    #expect(try script.committed(2, script.record(1)) == ["1 < committed 1"])
  }

  @Test func rowsWithoutBatchAreDropped() throws {
    var script = try opened()
    func rows(_ sequence: UInt64) -> ToServer.Body { .batchRows(BatchRows(id: id(sequence), rows: [[.string("a")]])) }
    // A cancellation of the newest request drops the rows, although the request is answered.
    #expect(try script.send(rows(1), 1) == ["keep 1 rows as #1"])
    #expect(try script.handle(.rowsKept(StoreRequestID(1), request: 2, .success(1))) == ["1 < 1 of 0"])
    #expect(try script.send(.cancel(of: 2), 1) == ["drop the rows #1"])
    // An unanswered request is cancelled; the other requests of the batch are refused with it.
    #expect(try script.send(rows(2), 1) == ["keep 1 rows as #2"])
    #expect(try script.send(rows(2), 1) == ["keep 1 rows as #2"])
    #expect(
      try script.send(.cancel(of: 4), 1) == ["drop the rows #2", "1 < refused: cancelled", "1 < refused: cancelled"])
    #expect(try script.handle(.rowsKept(StoreRequestID(2), request: 4, .success(1))) == [])
    // Those of an earlier batch are no longer there.
    #expect(try script.send(rows(3), 1) == ["keep 1 rows as #3"])
    #expect(try script.send(rows(4), 1) == ["drop the rows #3", "keep 1 rows as #4"])
    #expect(try script.send(.cancel(of: 7), 1) == [])
    #expect(try script.handle(.rowsKept(StoreRequestID(4), request: 8, .success(1))) == ["1 < 1 of 0"])
  }

  @Test func rowsOfWaitingBatchAreDroppedWithIt() throws {
    var script = try opened()
    let text = try script.property("text")
    let rows = BatchRows(id: id(1), rows: [[.string("a")]])
    #expect(try script.send(.batchRows(rows), 1) == ["keep 1 rows as #1"])
    #expect(try script.handle(.rowsKept(StoreRequestID(1), request: 2, .success(1))) == ["1 < 1 of 0"])
    for ticket in 2...17 {
      #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == ["read #\(ticket) for 1"])
    }
    // Request 19 waits for a read to end; the batch waits behind it.
    #expect(try script.send(.fetch(Fetch(entity: script.note.number)), 1) == [])
    let batch = ToServer.Body.batch(
      BatchRequest(id: id(1), entity: script.note.number, operation: .insert(properties: [text], rows: 1)))
    #expect(try script.send(batch, 1) == [])
    #expect(try script.send(.cancel(of: 20), 1) == ["drop the rows #1", "1 < refused: cancelled"])
  }
}
