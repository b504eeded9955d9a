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

  @Test func aResultThatWasComingAnewIsAskedAfterAsOfWhatItsOwnerHolds() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let edit = Edit(try script.number("x"), .set(.double(3)))
    #expect(script.hear(script.delta(4, 8, [script.update(5, [edit], previous: 1)])) == ["revision 8 changes [1]"])
    #expect(script.hear(.reset(query: 4, reason: "too far behind")) == [])
    #expect(script.hear(.subscribed(query: 4, resumed: false), 2) == [])
    // Neither this nor another connection brings it.
    for query in UInt64(5)...6 {
      #expect(script.handle(.disconnected) == [])
      #expect(script.connect(head: 9) == ["welcomed", "> follow since 8"])
      #expect(script.hear(.subscribed(query: query, resumed: false, known: true), 2) == [])
    }
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 9) == ["welcomed", "> follow since 8"])
    #expect(script.hear(.subscribed(query: 7, resumed: false, known: false), 2) == ["diverged"])
    #expect(script.hear(script.last([try script.image(5, 3)], at: 9), 2) == [])
    #expect(script.hear(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 1 at 9"])
    #expect(note["x"] == .double(0))
  }

  @Test func whatOthersDeletedInTheTimeThatIsTakenBackMayBeThereAgain() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let delete = Delta.Change(kind: .removed, id: script.id(5), previous: 1, deleted: true)
    #expect(script.hear(script.delta(4, 8, [delete])) == ["revision 8 changes [1]"])
    #expect(note.isDeleted)
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 3) == ["welcomed", "> follow since 8"])
    #expect(script.hear(.subscribed(query: 9, resumed: false), 2) == ["diverged"])
    // Nobody has said yet whether it is.
    #expect(note.isFault && !note.isDeleted)
    #expect(script.hear(script.last([try script.image(5, 1)], at: 3), 2) == [])
    #expect(script.hear(.advance(revision: 3, fingerprint: 3_000)) == ["query 1 has 1 at 3"])
    #expect(!note.isFault && script.context.result(of: 1).first === note)
  }

  /// The answer to a save is of a state that the query has not come to: the query resumes, and all the same what came with
  /// the answer is not the store's any more.
  @Test func whatOnlyAnAnswerHasShownIsAskedAfterToo() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let there = try #require(script.context.result(of: 1).first).revision
    note["x"] = .double(3)
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 1: update"])
    #expect(
      script.hear(script.committed(8, objects: [try script.image(5, 8, ["x": .double(3)])]), 3) == ["saved 1 as 8"])
    for isKnown in [true, false] {
      #expect(script.handle(.disconnected) == [])
      #expect(script.connect(head: 9) == ["welcomed", "> commits behind 8", "> follow since \(there)"])
      #expect(script.hear(.subscribed(query: 9, resumed: true), 3) == ["query 1 goes on from \(there)"])
      if isKnown {
        #expect(script.hear(.followed([], at: script.token(9), head: script.token(9)), 2) == [])
        #expect(note["x"] == .double(3))
      } else {
        #expect(
          script.hear(.refused(Refusal(.notFound, "of a past that this store does not have")), 2)
            == ["diverged", "> unfollow 9", "> follow"])
      }
    }
    #expect(script.hear(.subscribed(query: 10, resumed: false, known: true), 5) == [])
    #expect(script.hear(script.last([try script.image(5, 1)], at: 9), 5) == [])
    #expect(script.hear(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 1 at 9"])
    #expect(note["x"] == .double(0))
  }

  /// A connection that brought the answer to a save of the restored store, and broke before the store had said that it does not
  /// know what was held before: from then on nobody can tell the two apart by their newest state.
  @Test func whatIsOfTwoPastsIsWorthNothing() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let there = try #require(script.context.result(of: 1).first).revision
    for value in [3.0, 4] {
      note["x"] = .double(value)
      #expect(script.context.save() != nil)
    }
    #expect(script.lines() == ["> commit 1: update"])
    #expect(
      script.hear(script.committed(8, objects: [try script.image(5, 8, ["x": .double(3)])]), 3)
        == ["> commit 2: update", "saved 1 as 8"])
    #expect(script.handle(.disconnected) == [])
    #expect(
      script.connect(head: 9)
        == ["welcomed", "> commits behind 8", "> commit 2: update", "> follow since \(there)"])
    #expect(
      script.hear(script.committed(10, objects: [try script.image(5, 10, ["x": .double(4)])]), 3) == ["saved 2 as 10"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 10) == ["welcomed", "> follow since \(there)"])
    #expect(
      script.hear(.subscribed(query: 9, resumed: true), 2)
        == ["query 1 goes on from \(there)", "diverged", "> unfollow 9", "> follow"])
  }

  /// The server had begun anew what is followed under another number by then.
  @Test func whatIsSaidUnderTheOldNumberIsNotAboutTheNewOne() throws {
    let script = try Self.returning(2, 8)
    #expect(script.hear(.subscribed(query: 4, resumed: true, known: true), 2) == ["query 1 goes on from 2"])
    #expect(
      script.hear(.subscribed(query: 5, resumed: false, known: false), 3) == ["diverged", "> unfollow 4", "> follow"])
    #expect(script.hear(.reset(query: 4, reason: "too far behind")) == [])
    #expect(script.hear(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.hear(script.last([try script.image(6, 3)], at: 9), 2) == [])
    #expect(script.hear(.subscribed(query: 6, resumed: false, known: true), 5) == [])
    #expect(script.hear(script.last([try script.image(5, 3)], at: 9), 5) == [])
    #expect(script.hear(script.last([try script.image(5, 3)], at: 9), 3) == [])
    #expect(
      script.hear(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 1 at 9", "query 2 has 1 at 9"])
  }

  /// The store answers for the newest state while a result is on its way: a delta behind that waits for it.
  @Test func aDeltaOfAResultThatIsComingWaitsThoughTheStoreHasAnswered() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    note["x"] = .double(3)
    #expect(script.context.save() != nil)
    _ = script.lines()
    #expect(
      script.hear(script.committed(8, objects: [try script.image(5, 8, ["x": .double(3)])]), 3) == ["saved 1 as 8"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 9).first == "welcomed")
    #expect(script.hear(.subscribed(query: 9, resumed: false, known: true), 3) == [])
    let edit = Edit(try script.number("y"), .set(.double(7)))
    #expect(script.hear(script.delta(9, 10, [script.update(5, [edit], previous: 8)])) == [])
    #expect(script.hear(.followed([], at: script.token(9), head: script.token(9)), 2) == [])
    #expect(script.hear(script.last([try script.image(5, 8, ["x": .double(3)])], at: 9), 3) == [])
    #expect(
      script.hear(.advance(revision: 10, fingerprint: 10_000)) == ["query 1 has 1 at 9", "revision 10 changes [1]"])
    #expect(note["x"] == .double(3) && note["y"] == .double(7))
  }

  /// Until it has come anew, what is edited is edited unseen: nothing is said of places in a text that nobody knows, nor
  /// of a revision that never was.
  @Test func whatIsEditedBeforeItHasComeAnewIsSaidWhole() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1, ["text": .string("one")])])
    let edit = Edit(try script.number("text"), .set(.string("one two")))
    #expect(script.hear(script.delta(4, 8, [script.update(5, [edit], previous: 1)])) == ["revision 8 changes [1]"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 3) == ["welcomed", "> follow since 8"])
    #expect(script.hear(.subscribed(query: 9, resumed: false), 2) == ["diverged"])
    note["text"] = .string("one two three")
    #expect(script.context.save() != nil)
    let sent = script.context.takeActions().flatMap { action -> [Change] in
      guard case .send(let message) = action, case .commit(let transaction, _) = message.body else { return [] }
      return transaction.changes
    }
    #expect(
      sent == [
        Change(
          .update, script.id(5), base: 0,
          edits: [Edit(try script.number("text"), .set(.string("one two three")))])
      ])
  }

  /// Two queries that this side holds as of two states, followed on a new connection.
  private static func returning(_ older: Revision, _ newer: Revision) throws -> ReplicaTranscript {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 9) == ["welcomed"])
    for (query, revision) in [(QueryID(1), older), (2, newer)] {
      let subscribe = Subscribe(entity: script.note.number, predicate: "", since: script.token(revision))
      #expect(script.handle(.subscribe(query, subscribe)) == ["> follow since \(revision)"])
    }
    return script
  }

  @Test func aStateThatWasPrunedIsNoOtherStoreWhenANewerOneIsKnown() throws {
    let script = try Self.returning(2, 8)
    #expect(script.hear(.subscribed(query: 4, resumed: false, known: false), 2) == [])
    #expect(script.hear(.subscribed(query: 5, resumed: true, known: true), 3) == ["query 2 goes on from 8"])
  }

  @Test func whatResumesInAStoreThatWentBackLoadsAnewAllTheSame() throws {
    // The backup knows revision 2, and never came to 8: what was held of 8 may lie in the result of either query.
    let script = try Self.returning(2, 8)
    #expect(script.hear(.subscribed(query: 4, resumed: true, known: true), 2) == ["query 1 goes on from 2"])
    #expect(
      script.hear(.subscribed(query: 5, resumed: false, known: false), 3) == ["diverged", "> unfollow 4", "> follow"])
    #expect(script.hear(script.last([try script.image(5, 3)], at: 9), 3) == [])
    // The one that loads anew waits for its own, as after a reset.
    #expect(script.hear(.advance(revision: 9, fingerprint: 9_000)) == [])
    #expect(script.hear(.subscribed(query: 6, resumed: false, known: true), 5) == ["query 2 has 1 at 9"])
    #expect(script.hear(script.last([try script.image(5, 3)], at: 9), 5) == [])
    #expect(script.hear(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 1 at 9"])
  }
}
