import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// A store that went back to a backup: what was edited on a revision that it does not have can be saved all the same.
@Suite struct RestoredStoreTests {
  @Test func anEditBegunOnALostRevisionIsSavedOverWhatThereIs() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let (x, y) = (try script.number("x"), try script.number("y"))
    let theirs = Edit(y, .set(.double(3)))
    #expect(script.hear(script.delta(4, 8, [script.update(5, [theirs], previous: 1)])) == ["revision 8 changes [1]"])
    note["x"] = .double(7)
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 3) == ["welcomed", "> follow since 8"])
    #expect(script.hear(.subscribed(query: 9, resumed: false), 2) == ["diverged"])
    _ = script.hear(script.last([try script.image(5, 3)], at: 3), 2)
    _ = script.hear(.advance(revision: 3, fingerprint: 3_000))
    #expect(note["x"] == .double(7) && note["y"] == .double(0))
    #expect(script.context.save() != nil)
    let sent = script.context.takeActions().flatMap { action -> [Change] in
      guard case .send(let message) = action, case .commit(let transaction, _) = message.body else { return [] }
      return transaction.changes
    }
    #expect(sent == [Change(.update, script.id(5), base: 3, edits: [Edit(x, .set(.double(7)))])])
  }
}
