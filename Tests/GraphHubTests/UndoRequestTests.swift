import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// Undo, redo and the undo state in the hub.
@Suite struct UndoRequestTests {
  private let scope = UniqueID(high: 8, low: 1)

  private func id(_ session: SessionID, _ sequence: UInt64) -> TransactionID {
    TransactionID(replica: UniqueID(high: 1, low: session), sequence: sequence)
  }

  @Test func undoIsSentToWriterWithAuthor() throws {
    var script = try HubTranscript()
    try script.open(1)
    let request = UndoRequest(id(1, 1), scope: scope, redo: true)
    var hub = script.hub
    let actions = hub.handle(.received(ToServer(100, .undo(request)), from: 1))
    guard case .commit(_, .undo(let asked, let author, _))? = actions.first else {
      Issue.record("\(actions)")
      return
    }
    #expect(asked == request)
    #expect(author == "author 1")
    var other = try HubTranscript()
    try other.open(1)
    #expect(try other.send(.undo(UndoRequest(id(2, 1))), 1) == ["1 < refused: notAllowed"])
  }

  @Test func undoStateIsReadAfterEarlierCommits() throws {
    var script = try HubTranscript()
    try script.open(1)
    #expect(try script.save(1, sequence: 1) == ["commit #1"])
    #expect(try script.send(.undo(UndoRequest(id(1, 2))), 1) == ["commit #2"])
    #expect(try script.send(.undoState(scope: nil), 1) == [])
    #expect(try script.committed(1, script.record(1)) == ["1 < committed 1"])
    #expect(try script.committed(2, script.record(2)) == ["1 < committed 2", "read #3 for 1"])
    #expect(try script.finishRead(3, at: 2) == ["1 < last chunk at 2"])
    #expect(try script.send(.undoState(scope: scope), 1) == ["read #4 for 1"])
    #expect(try script.handle(.closed(1)) == ["cancel #4"])
  }
}
