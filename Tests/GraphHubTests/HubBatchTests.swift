import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// Batches in the hub: rows, progress, the end, and the queries that a batch is too large to send to.
@Suite struct HubBatchTests {
  private func id(_ session: UInt64, _ sequence: UInt64) -> TransactionID {
    TransactionID(replica: UniqueID(high: 1, low: session), sequence: sequence)
  }

  private func deletion(_ script: HubTranscript, _ session: UInt64, predicate: String = "") -> ToServer.Body {
    .batch(
      BatchRequest(id: id(session, 1), entity: script.note.number, operation: .delete(predicate: predicate)))
  }

  /// A batch that changed some thousand notes.
  private func summary(_ script: HubTranscript, _ revision: Revision) throws -> CommitRecord {
    var record = try script.record(revision)
    record.changes = []
    record.summary = ChangeSummary(count: 5_000, entities: [script.note.number])
    return record
  }

  @Test func batchReloadsOnlyAffectedQueries() throws {
    var script = try HubTranscript()
    for session in 1...3 { try script.open(SessionID(session)) }
    try script.follow(1, "", ticket: 1, at: 0)
    let board = try #require(script.model.entity(named: "Board"))
    _ = try script.send(.subscribe(Subscribe(entity: board.number)), 2)
    _ = try script.finishRead(2, at: 0)
    #expect(try script.send(deletion(script, 3), 3) == ["commit #3"])
    #expect(
      try script.handle(.batchProgress(StoreRequestID(3), BatchProgress(done: 1_000, total: 5_000, changed: 1_000)))
        == ["3 < 1000 of 5000"])
    #expect(
      try script.committed(3, summary(script, 1))
        == ["1 < reset 1", "1 < query 1", "read #4 for 1", "3 < committed 1"])
    // The new result contains the batch; later commits are sent as usual.
    #expect(try script.finishRead(4, at: 1) == ["1 < last chunk at 1", "1 < advance 1"])
    _ = try script.save(3, sequence: 2)
    #expect(try script.committed(5, script.record(2)) == ["1 < delta 1 of 2", "3 < committed 2"])
  }

  @Test func resumeAfterBatchReloadsAffectedQueries() throws {
    var script = try HubTranscript()
    try script.open(1)
    try script.open(2)
    #expect(try script.send(deletion(script, 1), 1) == ["commit #1"])
    #expect(try script.committed(1, summary(script, 1)) == ["1 < committed 1"])
    let subscribe = Subscribe(entity: script.note.number, since: script.token(0))
    #expect(try script.send(.subscribe(subscribe), 2) == ["recognize #2: 0"])
    #expect(
      try script.handle(.recognized(StoreRequestID(2), true))
        == ["2 < query 1 resumed", "2 < reset 1", "2 < query 1", "read #3 for 2", "2 < advance 1"])
  }

  @Test func rowsAreKeptUntilBatchOrSessionEnd() throws {
    var script = try HubTranscript()
    try script.open(1)
    let rows = BatchRows(id: id(1, 1), rows: [[.string("a")], [.string("b")]])
    let text = try script.property("text")
    let batch = ToServer.Body.batch(
      BatchRequest(id: id(1, 1), entity: script.note.number, operation: .insert(properties: [text], rows: 2)))
    #expect(try script.send(.batchRows(rows), 1) == ["keep 2 rows as #1"])
    // Request 2, after hello: the batch may not be requested before its rows are acknowledged.
    #expect(try script.send(batch, 1) == ["1 < refused: malformed"])
    #expect(try script.handle(.rowsKept(StoreRequestID(1), request: 2, .success(2))) == ["1 < 2 of 0"])
    #expect(try script.send(batch, 1) == ["the rows #1 are those of #2", "commit #2"])
    #expect(try script.handle(.closed(1)) == ["end the batch #2"])

    try script.open(2)
    let others = BatchRows(id: id(2, 1), rows: [[.string("a")]])
    #expect(try script.send(.batchRows(others), 2) == ["keep 1 rows as #3"])
    #expect(try script.handle(.closed(2)) == ["drop the rows #3"])
    #expect(try script.handle(.rowsKept(StoreRequestID(3), request: 4, .success(1))) == [])
  }

  @Test func batchWithoutItsRowsIsRefused() throws {
    var script = try HubTranscript()
    try script.open(1)
    let rows = BatchRows(id: id(1, 1), rows: [[.string("a")]])
    #expect(try script.send(.batchRows(rows), 1) == ["keep 1 rows as #1"])
    #expect(
      try script.handle(.rowsKept(StoreRequestID(1), request: 2, .failure(Refusal(.unavailable, "no room"))))
        == ["drop the rows #1", "1 < refused: unavailable"])
    // A session can't send rows for another client's batch.
    #expect(
      try script.send(.batchRows(BatchRows(id: id(2, 1), rows: [])), 1)
        == ["drop the rows #2", "1 < refused: notAllowed"])
    for number in 3..<7 {
      #expect(try script.send(.batchRows(BatchRows(id: id(1, 9), rows: [])), 1) == ["keep 0 rows as #3"], "\(number)")
    }
    #expect(
      try script.send(.batchRows(BatchRows(id: id(1, 9), rows: [])), 1) == ["drop the rows #3", "1 < refused: limit"])
  }

  @Test func importIsHandledAsBatch() throws {
    var script = try HubTranscript()
    try script.open(1)
    let graph = ToServer.Body.importGraph(ImportRequest(id: id(1, 1), rows: 1))
    let object = ObjectID(key: UniqueID(high: 1, low: 1), entity: script.note.number)
    let rows = BatchRows(id: id(1, 1), rows: [[.object(object)]])
    #expect(try script.send(.batchRows(rows), 1) == ["keep 1 rows as #1"])
    #expect(try script.send(graph, 1) == ["1 < refused: malformed"])
    #expect(try script.handle(.rowsKept(StoreRequestID(1), request: 2, .success(1))) == ["1 < 1 of 0"])
    #expect(try script.send(graph, 1) == ["the rows #1 are those of #2", "commit #2"])
    // The answer to an export waits for the commits before it.
    #expect(try script.send(.exportGraph, 1) == [])
    #expect(try script.committed(2, summary(script, 1)) == ["1 < committed 1", "read #3 for 1"])
    // A session can't commit under another client's id.
    #expect(
      try script.send(.importGraph(ImportRequest(id: id(2, 1), rows: 0)), 1) == ["1 < refused: notAllowed"])
  }

  @Test func malformedBatchIsRefusedBeforeWriter() throws {
    var script = try HubTranscript()
    try script.open(1)
    #expect(try script.send(deletion(script, 1, predicate: "nonsense =="), 1) == ["1 < refused: malformed"])
    #expect(try script.send(deletion(script, 2), 1) == ["1 < refused: notAllowed"])
    let calculated = BatchRequest.Assignment(try script.property("text"), .expression("board.name"))
    #expect(
      try script.send(
        .batch(
          BatchRequest(id: id(1, 1), entity: script.note.number, operation: .update(predicate: "", [calculated]))), 1)
        == ["1 < refused: malformed"])
  }
}
