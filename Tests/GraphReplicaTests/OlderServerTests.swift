import GraphModel
import GraphReplica
import GraphWire
import Testing

/// Messages that a client does not send to a server whose welcome does not announce them.
@Suite struct OlderServerTests {
  private let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 9)

  private func batch(_ script: ReplicaTranscript) -> BatchRequest {
    BatchRequest(id: id, entity: script.note.number, operation: .delete(predicate: ""))
  }

  @Test func serverWithoutBatchesReceivesNone() throws {
    let script = try ReplicaTranscript()
    _ = script.connect(knowsBatches: false)
    script.context.handle(.ask(1, .batch(batch(script))))
    guard case .refused(1, let refusal)? = script.context.takeActions().first else {
      Issue.record("the batch was not refused")
      return
    }
    #expect(refusal.code == .notAllowed)
    #expect(refusal.message.contains("the server is too old for batches"))
    #expect(
      script.handle(.ask(2, .batchRows(BatchRows(id: id, rows: [])))) == ["question 2 was refused: notAllowed"])
    // The connection goes on.
    #expect(script.handle(.ask(3, .undoState(scope: nil))) == ["> undo state"])
  }

  @Test func capabilitiesFollowLatestWelcome() throws {
    let script = try ReplicaTranscript()
    _ = script.connect(knowsBatches: false)
    #expect(script.handle(.disconnected) == [])
    _ = script.connect()
    script.context.handle(.ask(1, .batch(batch(script))))
    guard case .send(let message)? = script.context.takeActions().first, case .batch = message.body else {
      Issue.record("the batch was not sent")
      return
    }
  }

  /// A field that an older server does not write.
  @Test func welcomeWithoutCapabilitiesHasNone() throws {
    let script = try ReplicaTranscript()
    var welcome = Welcome(
      model: script.model, head: script.token(0), session: 1, server: "", resumed: false, maximumFrameSize: 1 << 20,
      heartbeatMilliseconds: 15_000)
    #expect(welcome.knowsUndoSteps && welcome.knowsBatches)
    (welcome.knowsUndoSteps, welcome.knowsBatches) = (false, false)
    let older = ToClient(1, .welcome(welcome)).binary
    guard case .welcome(let read) = try ToClient(binary: older).body else {
      Issue.record("it is no welcome")
      return
    }
    #expect(!read.knowsUndoSteps && !read.knowsBatches)
  }
}
