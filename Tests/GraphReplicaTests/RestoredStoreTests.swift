import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// A store that was restored from a backup: edits based on a revision that it does not have can be saved anyway.
@Suite struct RestoredStoreTests {
  @Test func editBasedOnLostRevisionIsSavedOnPresentState() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let (x, y) = (try script.number("x"), try script.number("y"))
    let theirs = Edit(y, .set(.double(3)))
    #expect(script.receive(script.delta(4, 8, [script.update(5, [theirs], previous: 1)])) == ["revision 8 changes [1]"])
    note["x"] = .double(7)
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 3) == ["welcomed", "> follow since 8"])
    #expect(script.receive(.subscribed(query: 9, resumed: false), 2) == ["diverged"])
    _ = script.receive(script.last([try script.image(5, 3)], at: 3), 2)
    _ = script.receive(.advance(revision: 3, fingerprint: 3_000))
    #expect(note["x"] == .double(7) && note["y"] == .double(0))
    #expect(script.context.save() != nil)
    let sent = script.context.takeActions().flatMap { action -> [Change] in
      guard case .send(let message) = action, case .commit(let transaction) = message.body else { return [] }
      return transaction.changes
    }
    #expect(sent == [Change(.update, script.id(5), base: 3, edits: [Edit(x, .set(.double(7)))])])
  }

  /// Another client has set the same property meanwhile: its revision may be below the lost one, and it is a conflict
  /// anyway.
  @Test(arguments: [true, false])
  func changesInOtherHistoryConflict(isSaved: Bool) throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let (x, y) = (try script.number("x"), try script.number("y"))
    let earlier = Edit(y, .set(.double(3)))
    #expect(
      script.receive(script.delta(4, 8, [script.update(5, [earlier], previous: 1)])) == ["revision 8 changes [1]"])
    #expect(script.handle(.disconnected) == [])
    note["x"] = .double(7)
    if isSaved { #expect(script.context.save() != nil) }
    #expect(script.connect(head: 6) == ["welcomed", "> follow since 8"])
    #expect(script.receive(.subscribed(query: 9, resumed: false), 2) == ["diverged"])
    let hers = try script.image(5, 6, ["x": .double(4)])
    script.context.handle(.received(ToClient(2, script.last([hers], at: 6))))
    script.context.handle(.received(ToClient(0, .advance(revision: 6, fingerprint: 6_000))))
    if !isSaved { #expect(script.context.save() != nil) }
    #expect(note["x"] == .double(7))
    let sent = script.context.takeActions().flatMap { action -> [Change] in
      guard case .send(let message) = action, case .commit(let transaction) = message.body else { return [] }
      return transaction.changes
    }
    #expect(sent == [Change(.update, script.id(5), base: 1, edits: [Edit(x, .set(.double(7)))])])
  }

  /// Made without the context, which therefore can't rebuild it.
  @Test func textSplicesOfOtherHistoryAreRefused() throws {
    let script = try ReplicaTranscript()
    _ = try ReplicaTests.following(script, [script.image(5, 1)])
    let (x, text) = (try script.number("x"), try script.number("text"))
    #expect(script.receive(script.delta(4, 8, [script.update(5, [], previous: 1)])) == ["revision 8 changes [1]"])
    #expect(script.handle(.disconnected) == [])
    let splice = Edit(text, .splice([TextSplice(offset: 0, length: 0, insertion: "a")]))
    for edit in [splice, Edit(x, .set(.double(7)))] {
      let change = Change(.update, script.id(5), base: 8, edits: [edit])
      let id = script.context.newTransactionID()
      #expect(script.handle(.save(Transaction(id: id, policy: .error, undo: nil, changes: [change]))) == [])
    }
    #expect(script.connect(head: 3) == ["welcomed", "> follow since 8"])
    #expect(script.receive(.subscribed(query: 9, resumed: false), 2) == ["diverged"])
    script.context.handle(.received(ToClient(2, script.last([try script.image(5, 3)], at: 3))))
    script.context.handle(.received(ToClient(0, .advance(revision: 3, fingerprint: 3_000))))
    var (sent, refused) = ([Change](), 0)
    for action in script.context.takeActions() {
      if case .saved(_, .failure(let refusal)) = action { refused += refusal.code == .unavailable ? 1 : 0 }
      guard case .send(let message) = action, case .commit(let transaction) = message.body else { continue }
      sent += transaction.changes
    }
    #expect(refused == 1)
    #expect(sent == [Change(.update, script.id(5), base: 1, edits: [Edit(x, .set(.double(7)))])])
  }

  @Test func pendingReloadResumesFromHeldState() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let edit = Edit(try script.number("x"), .set(.double(3)))
    #expect(script.receive(script.delta(4, 8, [script.update(5, [edit], previous: 1)])) == ["revision 8 changes [1]"])
    #expect(script.receive(.reset(query: 4, reason: "too far behind")) == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    // Neither this nor another connection brings it.
    for query in UInt64(5)...6 {
      #expect(script.handle(.disconnected) == [])
      #expect(script.connect(head: 9) == ["welcomed", "> follow since 8"])
      #expect(script.receive(.subscribed(query: query, resumed: false, known: true), 2) == [])
    }
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 9) == ["welcomed", "> follow since 8"])
    #expect(script.receive(.subscribed(query: 7, resumed: false, known: false), 2) == ["diverged"])
    #expect(script.receive(script.last([try script.image(5, 3)], at: 9), 2) == [])
    #expect(script.receive(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 1 at 9"])
    #expect(note["x"] == .double(0))
  }

  @Test func deletesInLostHistoryAreReverted() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let delete = Delta.Change(kind: .removed, id: script.id(5), previous: 1, deleted: true)
    #expect(script.receive(script.delta(4, 8, [delete])) == ["revision 8 changes [1]"])
    #expect(note.isDeleted)
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 3) == ["welcomed", "> follow since 8"])
    #expect(script.receive(.subscribed(query: 9, resumed: false), 2) == ["diverged"])
    // The server has not confirmed yet that the store knows it.
    #expect(note.isFault && !note.isDeleted)
    #expect(script.receive(script.last([try script.image(5, 1)], at: 3), 2) == [])
    #expect(script.receive(.advance(revision: 3, fingerprint: 3_000)) == ["query 1 has 1 at 3"])
    #expect(!note.isFault && script.context.result(of: 1).first === note)
  }

  /// The answer to a save has a state that the query has not reached: the query resumes, and yet the objects of that
  /// answer are no longer the store's.
  @Test func objectsFromRepliesAreRevalidated() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let there = try #require(script.context.result(of: 1).first).revision
    note["x"] = .double(3)
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 1: update"])
    #expect(
      script.receive(script.committed(8, objects: [try script.image(5, 8, ["x": .double(3)])]), 3) == ["saved 1 as 8"])
    for isKnown in [true, false] {
      #expect(script.handle(.disconnected) == [])
      #expect(script.connect(head: 9) == ["welcomed", "> commits behind 8", "> follow since \(there)"])
      #expect(script.receive(.subscribed(query: 9, resumed: true), 3) == ["query 1 goes on from \(there)"])
      if isKnown {
        #expect(script.receive(.followed([], at: script.token(9), head: script.token(9)), 2) == [])
        #expect(note["x"] == .double(3))
      } else {
        #expect(
          script.receive(.refused(Refusal(.notFound, "of a past that this store does not have")), 2)
            == ["> unfollow 9", "> follow", "diverged"])
      }
    }
    #expect(script.receive(.subscribed(query: 10, resumed: false, known: true), 5) == [])
    #expect(script.receive(script.last([try script.image(5, 1)], at: 9), 5) == [])
    #expect(script.receive(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 1 at 9"])
    #expect(note["x"] == .double(0))
  }

  /// A connection delivered a fetch of the restored store and was lost before the store said that it does not know the
  /// earlier state: from then on the newest state does not distinguish the two.
  @Test func objectsOfMixedHistoriesAreDiscarded() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let there = try #require(script.context.result(of: 1).first).revision
    note["x"] = .double(3)
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 1: update"])
    #expect(
      script.receive(script.committed(8, objects: [try script.image(5, 8, ["x": .double(3)])]), 3) == ["saved 1 as 8"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 9) == ["welcomed", "> commits behind 8", "> follow since \(there)"])
    #expect(script.handle(.request(7, .fetch(Fetch(entity: script.note.number)))) == ["> fetch Note: "])
    _ = script.receive(script.last([try script.image(5, 10, ["x": .double(4)])], at: 10), 4)
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 10) == ["welcomed", "> follow since \(there)"])
    #expect(
      script.receive(.subscribed(query: 9, resumed: true), 2)
        == ["> unfollow 9", "> follow", "query 1 goes on from \(there)", "diverged"])
  }

  /// Meanwhile, the server has restarted the query under another number.
  @Test func messagesUnderOldQueryNumberAreIgnored() throws {
    let script = try Self.returning(2, 8)
    #expect(script.receive(.subscribed(query: 4, resumed: true, known: true), 2) == ["query 1 goes on from 2"])
    #expect(
      script.receive(.subscribed(query: 5, resumed: false, known: false), 3) == [
        "> unfollow 4", "> follow", "diverged",
      ])
    #expect(script.receive(.reset(query: 4, reason: "too far behind")) == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(script.last([try script.image(6, 3)], at: 9), 2) == [])
    #expect(script.receive(.subscribed(query: 6, resumed: false, known: true), 5) == [])
    #expect(script.receive(script.last([try script.image(5, 3)], at: 9), 5) == [])
    #expect(script.receive(script.last([try script.image(5, 3)], at: 9), 3) == [])
    #expect(
      script.receive(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 1 at 9", "query 2 has 1 at 9"])
  }

  /// The store answers for the newest state while a result is on its way. A delta after that state waits for the
  /// result.
  @Test func deltaBeforeCompleteResultIsDelayed() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    note["x"] = .double(3)
    #expect(script.context.save() != nil)
    _ = script.lines()
    #expect(
      script.receive(script.committed(8, objects: [try script.image(5, 8, ["x": .double(3)])]), 3) == ["saved 1 as 8"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 9).first == "welcomed")
    #expect(script.receive(.subscribed(query: 9, resumed: false, known: true), 3) == [])
    let edit = Edit(try script.number("y"), .set(.double(7)))
    #expect(script.receive(script.delta(9, 10, [script.update(5, [edit], previous: 8)])) == [])
    #expect(script.receive(.followed([], at: script.token(9), head: script.token(9)), 2) == [])
    #expect(script.receive(script.last([try script.image(5, 8, ["x": .double(3)])], at: 9), 3) == [])
    #expect(
      script.receive(.advance(revision: 10, fingerprint: 10_000)) == ["query 1 has 1 at 9", "revision 10 changes [1]"])
    #expect(note["x"] == .double(3) && note["y"] == .double(7))
  }

  private static func changes(_ actions: [ReplicaAction]) -> [Change] {
    actions.flatMap { action -> [Change] in
      guard case .send(let message) = action, case .commit(let transaction) = message.body else { return [] }
      return transaction.changes
    }
  }

  /// Edits sent to the previous store, saved meanwhile, and typed since all apply to the present text, after its
  /// arrival.
  @Test func pendingTextEditIsRebasedOnPresentText() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1, ["text": .string("The quick fox")])])
    let text = try script.number("text")
    let dogs = Edit(text, .set(.string("Dogs")))
    #expect(script.receive(script.delta(4, 8, [script.update(5, [dogs], previous: 1)])) == ["revision 8 changes [1]"])
    #expect(script.handle(.disconnected) == [])
    note["text"] = .string("Dogs, a line")
    #expect(script.context.save() != nil)
    #expect(script.lines() == [])
    note["text"] = .string("Dogs, a line and more")
    #expect(script.connect(head: 3) == ["welcomed", "> follow since 8"])
    #expect(script.receive(.subscribed(query: 9, resumed: false), 2) == ["diverged"])
    note["text"] = .string("Dogs, a line and more yet")
    #expect(script.context.save() != nil)
    #expect(script.receive(script.last([try script.image(5, 2, ["text": .string("The quick fox")])], at: 3), 2) == [])
    script.context.handle(.received(ToClient(0, .advance(revision: 3, fingerprint: 3_000))))
    let line = [TextSplice(offset: 13, length: 0, insertion: ", a line")]
    #expect(
      Self.changes(script.context.takeActions())
        == [Change(.update, script.id(5), base: 2, edits: [Edit(text, .splice(line))])])
    let landed = try script.image(5, 4, ["text": .string("The quick fox, a line")])
    script.context.handle(.received(ToClient(3, script.committed(4, objects: [landed]))))
    #expect(note["text"] == .string("The quick fox, a line and more yet"))
    let sent = Self.changes(script.context.takeActions())
    guard case .splice(let more)? = sent.first?.edits.first?.action else {
      Issue.record("\(sent)")
      return
    }
    #expect(sent.first?.base == 4)
    #expect(TextSplice.apply(more, to: "The quick fox, a line") == "The quick fox, a line and more yet")
  }

  /// A step of the other history may belong to another author here.
  @Test func queuedUndoIsRefused() throws {
    let script = try ReplicaTranscript()
    _ = try ReplicaTests.following(script, [script.image(5, 1)])
    let edit = Edit(try script.number("x"), .set(.double(1)))
    #expect(script.receive(script.delta(4, 8, [script.update(5, [edit], previous: 1)])) == ["revision 8 changes [1]"])
    #expect(script.handle(.disconnected) == [])
    script.context.undo(UndoRequest(script.context.newTransactionID()))
    #expect(script.connect(head: 3) == ["welcomed", "> follow since 8"])
    #expect(script.receive(.subscribed(query: 9, resumed: false), 2) == ["diverged"])
    #expect(script.receive(script.last([try script.image(5, 2)], at: 3), 2) == [])
    #expect(
      script.receive(.advance(revision: 3, fingerprint: 3_000)) == ["query 1 has 1 at 3", "1 was refused: unavailable"])
  }

  /// An object that no query reloads is edited unseen: the save names no places in the unknown text, and no revision of
  /// the lost history.
  @Test func objectOutsideQueriesIsSavedAsWhole() throws {
    let script = try ReplicaTranscript()
    _ = try ReplicaTests.following(script, [script.image(5, 1)])
    let note = try #require(
      script.context.register([try script.image(6, 8, ["text": .string("one two")])]).first)
    let edit = Edit(try script.number("x"), .set(.double(1)))
    #expect(script.receive(script.delta(4, 8, [script.update(5, [edit], previous: 1)])) == ["revision 8 changes [1]"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 3) == ["welcomed", "> follow since 8"])
    #expect(script.receive(.subscribed(query: 9, resumed: false), 2) == ["diverged"])
    note["text"] = .string("one two three")
    #expect(script.context.save() != nil)
    #expect(script.receive(script.last([try script.image(5, 2)], at: 3), 2) == [])
    script.context.handle(.received(ToClient(0, .advance(revision: 3, fingerprint: 3_000))))
    let whole = Edit(try script.number("text"), .set(.string("one two three")))
    #expect(
      Self.changes(script.context.takeActions()) == [Change(.update, script.id(6), base: 0, edits: [whole])])
  }

  /// An object that no query reloads was read at no revision of this past: anything that has changed it since the first
  /// one breaks the requirement.
  @Test func requirementOnLostHistoryNamesTheFirstRevision() throws {
    let script = try ReplicaTranscript()
    _ = try ReplicaTests.following(script, [script.image(5, 1)])
    let note = try #require(script.context.register([try script.image(6, 8)]).first)
    let edit = Edit(try script.number("x"), .set(.double(1)))
    #expect(script.receive(script.delta(4, 8, [script.update(5, [edit], previous: 1)])) == ["revision 8 changes [1]"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 3) == ["welcomed", "> follow since 8"])
    #expect(script.receive(.subscribed(query: 9, resumed: false), 2) == ["diverged"])
    let other = try #require(script.context.object(script.id(5)))
    other["x"] = .double(7)
    #expect(script.context.save(requiring: [.unchanged(note)]) != nil)
    #expect(script.receive(script.last([try script.image(5, 2)], at: 3), 2) == [])
    script.context.handle(.received(ToClient(0, .advance(revision: 3, fingerprint: 3_000))))
    #expect(
      Self.changes(script.context.takeActions()).first
        == Change(.update, script.id(6), base: 1, onlyIf: Precondition(revision: 1)))
  }

  /// The answer to the first typed text is lost. Text that was typed after it stays after it.
  @Test(arguments: [true, false]) func unknownOutcomeIsReportedAfterReload(_ resumes: Bool) throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1, ["text": .string("START")])])
    let text = try script.number("text")
    note["text"] = .string("STARTh")
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 1: update"])
    note["text"] = .string("STARThello")
    #expect(script.handle(.disconnected) == [])
    let since = try #require(script.context.result(of: 1).first).revision
    #expect(script.connect(head: 8) == ["welcomed", "> follow since \(since)"])
    var lines = [String]()
    if resumes {
      #expect(script.receive(.subscribed(query: 9, resumed: true, known: true), 2) == ["query 1 goes on from \(since)"])
      let theirs = Edit(text, .splice([TextSplice(offset: 0, length: 0, insertion: "RE")]))
      let own = Edit(text, .splice([TextSplice(offset: 7, length: 0, insertion: "h")]))
      for (revision, edit) in [(Revision(7), theirs), (8, own)] {
        lines += script.receive(script.delta(9, revision, [script.update(5, [edit], previous: revision - 1)]))
      }
    } else {
      #expect(script.receive(.subscribed(query: 9, resumed: false, known: true), 2) == [])
      _ = script.receive(script.last([try script.image(5, 8, ["text": .string("RESTARTh")])], at: 8), 2)
    }
    lines += script.receive(.advance(revision: 8, fingerprint: 8_000))
    #expect(lines.contains("> commit 1: update"))
    let answer = CommitResult(revision: 8, fingerprint: 8_000, identities: [], conflicts: [])
    #expect(script.receive(.committed(answer, objects: [], isComplete: false), 3) == ["saved 1 as 8"])
    #expect(note["text"] == .string("RESTARThello"))
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

  @Test func prunedTokenIsSameStoreIfNewerTokenIsKnown() throws {
    let script = try Self.returning(2, 8)
    #expect(script.receive(.subscribed(query: 4, resumed: false, known: false), 2) == [])
    #expect(script.receive(.subscribed(query: 5, resumed: true, known: true), 3) == ["query 2 goes on from 8"])
  }

  @Test func queryResumedInRestoredStoreReloads() throws {
    // The backup has revision 2 and never had revision 8. Objects of revision 8 may be in the results of both queries.
    let script = try Self.returning(2, 8)
    #expect(script.receive(.subscribed(query: 4, resumed: true, known: true), 2) == ["query 1 goes on from 2"])
    #expect(
      script.receive(.subscribed(query: 5, resumed: false, known: false), 3) == [
        "> unfollow 4", "> follow", "diverged",
      ])
    #expect(script.receive(script.last([try script.image(5, 3)], at: 9), 3) == [])
    // The reloading query waits for its own result, as after a reset.
    #expect(script.receive(.advance(revision: 9, fingerprint: 9_000)) == [])
    #expect(script.receive(.subscribed(query: 6, resumed: false, known: true), 5) == ["query 2 has 1 at 9"])
    #expect(script.receive(script.last([try script.image(5, 3)], at: 9), 5) == [])
    #expect(script.receive(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 1 at 9"])
  }
}
