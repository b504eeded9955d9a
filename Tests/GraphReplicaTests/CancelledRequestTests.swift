import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// An owner that no longer needs the answer to a request.
@Suite struct CancelledRequestTests {
  private func deletion(_ script: ReplicaTranscript) -> ToServer.Body {
    .batch(
      BatchRequest(
        id: script.context.newTransactionID(), entity: script.note.number, operation: .delete(predicate: "x < 0")))
  }

  @Test func cancelledRequestIsCancelledAtServerOnce() throws {
    let script = try ReplicaTranscript()
    _ = script.connect()
    #expect(script.handle(.request(31, .fetch(Fetch(entity: script.note.number)))) == ["> fetch Note: "])
    #expect(script.handle(.cancel(31)) == ["> cancel(of: 2)"])
    #expect(script.handle(.cancel(31)) == [])
    #expect(script.handle(.more(31)) == [])
    // A part of the answer was on its way.
    #expect(script.receive(.chunk(Chunk(objects: [try script.image(5, 1)])), 2) == [])
    #expect(script.receive(.refused(Refusal(.cancelled, "the request was cancelled")), 2) == [])
  }

  @Test func answeredRequestIsNotCancelled() throws {
    let script = try ReplicaTranscript()
    _ = script.connect()
    #expect(script.handle(.request(31, .fetch(Fetch(entity: script.note.number)))) == ["> fetch Note: "])
    #expect(script.receive(script.last([], at: 0), 2).count == 1)
    #expect(script.handle(.cancel(31)) == [])
    #expect(script.handle(.cancel(99)) == [])
  }

  @Test func cancelledBatchIsAnswered() throws {
    let script = try ReplicaTranscript()
    _ = script.connect()
    #expect(script.handle(.request(31, deletion(script))).count == 1)
    #expect(script.handle(.cancel(31)) == ["> cancel(of: 2)"])
    #expect(
      script.receive(.refused(Refusal(.cancelled, "the batch was cancelled")), 2)
        == ["request 31 was refused: cancelled"])
  }

  /// The server keeps rows after it has answered them, until their batch is requested.
  @Test func rowsAreDiscardedUnlessTheirBatchWasRequested() throws {
    let script = try ReplicaTranscript()
    _ = script.connect()
    let rows = ToServer.Body.batchRows(BatchRows(id: script.context.newTransactionID(), rows: [[.null]]))
    #expect(script.handle(.request(31, rows)).count == 1)
    #expect(script.receive(.progress(BatchProgress(done: 1, total: 0, changed: 0)), 2).count == 1)
    #expect(script.handle(.cancel(31)) == ["> cancel(of: 2)"])
    #expect(script.handle(.cancel(31)) == [])
    #expect(script.handle(.request(32, rows)).count == 1)
    #expect(script.receive(.progress(BatchProgress(done: 1, total: 0, changed: 0)), 4).count == 1)
    #expect(script.handle(.request(33, deletion(script))).count == 1)
    #expect(script.handle(.cancel(32)) == [])
  }

  /// It waits behind a save, which waits until the queries have caught up.
  @Test func unsentBatchIsRefusedHere() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    #expect(script.handle(.disconnected) == [])
    note["x"] = .double(7)
    #expect(script.context.save() != nil)
    #expect(script.connect(head: 9) == ["welcomed", "> follow since 1"])
    #expect(script.handle(.request(31, deletion(script))) == [])
    #expect(script.handle(.cancel(31)) == ["request 31 was refused: cancelled"])
    #expect(script.handle(.disconnected) == [])
  }
}
