import GraphModel
@testable import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// An object that another client deletes disappears completely, regardless of the message that reports it.
@Suite struct DeletedObjectTests {
  @Test func resetResultRemovesDeletedObjects() throws {
    let script = try ReplicaTranscript()
    let home = try script.id(1, of: "Board")
    let images = try (5...6).map { try script.image($0, 1, ["board": .object(home)]) }
    let note = try ReplicaTests.following(script, images)
    let board = try #require(script.context.fault(home))
    let notes = try #require(board.entity.property(named: "notes")).number
    // The first object's instance is held; a fetch has brought a newer object than the result will.
    let newer = script.context.register([try script.image(7, 12, ["board": .object(home)])])
    #expect(board.objects(notes, ManagedObject.self).map(\.id) == [script.id(5), script.id(6), script.id(7)])
    #expect(script.receive(.reset(query: 4, reason: "too much at once")) == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(script.last([images[1]], at: 9), 2) == [])
    #expect(script.receive(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 1 at 9"])
    #expect(note.isDeleted && !newer[0].isDeleted)
    #expect(board.objects(notes, ManagedObject.self).map(\.id) == [script.id(6), script.id(7)])
    #expect(script.changes.last?.deleted == [script.id(5)] && script.changes.last?.departed == [])
  }

  /// A read that began before the delete and ends after it does not restore the object; an insert under its id does.
  @Test func staleReadDoesNotReviveDeletedObject() throws {
    let script = try ReplicaTranscript()
    let home = try script.id(1, of: "Board")
    let image = try script.image(5, 1, ["board": .object(home)])
    var note: ManagedObject? = try ReplicaTests.following(script, [image])
    let board = try #require(script.context.fault(home))
    let notes = try #require(board.entity.property(named: "notes")).number
    let gone = Delta.Change(kind: .removed, id: script.id(5), deleted: true)
    #expect(script.receive(script.delta(4, 3, [gone])) == ["revision 3 changes [1]"])
    for isHeld in [true, false] {
      #expect(script.context.register([image]).isEmpty, "held: \(isHeld)")
      #expect(board.objects(notes, ManagedObject.self).isEmpty)
      #expect(note?.isDeleted != false)
      note = nil
    }
    let back = try script.image(5, 4, ["board": .object(home)])
    let restored = script.context.register([back])
    #expect(board.objects(notes, ManagedObject.self).map(\.id) == restored.map(\.id) && restored.count == 1)
  }

  /// No live query follows the objects that a delete rule takes along: the answer to the save names them.
  @Test func objectsOfADeleteRuleAreDeleted() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let board = script.context.register([try script.image(1, of: "Board", 1)])[0]
    let home = Value.object(board.id)
    let notes = script.context.register(try (5...7).map { try script.image($0, 1, ["board": home]) })
    notes[0]["text"] = .string("draft")
    script.context.delete(board)
    let id = try #require(script.context.save())
    #expect(script.lines().count == 1)
    // The third was restored, and read again before the answer.
    _ = script.context.register([try script.image(7, 3)])
    #expect(
      script.receive(script.committed(2, deleted: [board.id] + notes.map(\.id)), 2) == ["saved \(id.sequence) as 2"])
    #expect(board.isDeleted && notes.map(\.isDeleted) == [true, true, false])
    #expect(!script.context.hasChanges)
    // A read that began before the delete does not bring them back.
    #expect(script.context.register([try script.image(6, 1)]).isEmpty)
  }

  /// An object that becomes invisible to the user looks like a deleted one. When it is visible again, it has not
  /// changed.
  @Test func objectThatIsVisibleAgainReturns() throws {
    let script = try ReplicaTranscript()
    let image = try script.image(5, 1)
    let note = try ReplicaTests.following(script, [image])
    let gone = Delta.Change(kind: .removed, id: script.id(5), deleted: true)
    #expect(script.receive(script.delta(4, 3, [gone])) == ["revision 3 changes [1]"])
    #expect(note.isDeleted)
    // A read that was requested before does not bring it back, and one that was requested later does.
    #expect(script.context.register([image], in: FetchBatch(readAt: 2)).isEmpty && note.isDeleted)
    #expect(script.context.register([image], in: FetchBatch(readAt: 3)).map(\.id) == [script.id(5)])
    #expect(!note.isDeleted)
    // A result that was read at the same revision as the one without the object.
    #expect(script.receive(.reset(query: 4, reason: "other rights")) == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(script.last([], at: 3), 2) == [])
    #expect(script.receive(.advance(revision: 3, fingerprint: 3_000)) == ["query 1 has 0 at 3"])
    #expect(note.isDeleted)
    #expect(script.receive(.reset(query: 4, reason: "other rights")) == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(script.last([image], at: 3), 2) == [])
    #expect(script.receive(.advance(revision: 3, fingerprint: 3_000)) == ["query 1 has 1 at 3"])
    #expect(!note.isDeleted)
  }

  /// A reference to an object that becomes visible or invisible changes without a new revision of its owner.
  @Test func referencesChangeWithinARevision() throws {
    let script = try ReplicaTranscript()
    let home = try script.id(1, of: "Board")
    let note = try ReplicaTests.following(script, [script.image(5, 1, ["board": .object(home)])])
    func reload(_ board: Value) throws {
      #expect(script.receive(.reset(query: 4, reason: "other rights")) == [])
      #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
      #expect(script.receive(script.last([try script.image(5, 1, ["board": board])], at: 9), 2) == [])
      #expect(script.receive(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 1 at 9"])
      #expect(script.changes.last?.refreshed == [script.id(5)])
    }
    try reload(.null)
    #expect(note["board"] == .null)
    try reload(.object(home))
    #expect(note["board"] == .object(home))
    // Only the live query knows which of two reads is newer.
    _ = script.context.register([try script.image(5, 1)])
    #expect(note["board"] == .object(home))
  }

  @Test func editsOfDeletedObjectAreIgnored() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let board = try #require(script.context.fault(try script.id(1, of: "Board")))
    let tag = try #require(script.context.fault(try script.id(1, of: "Tag")))
    let (notes, tags) = (try #require(board.entity.property(named: "notes")).number, try script.number("tags"))
    let gone = Delta.Change(kind: .removed, id: script.id(5), deleted: true)
    #expect(script.receive(script.delta(4, 2, [gone])) == ["revision 2 changes [1]"])
    note["x"] = .double(7)
    note.add(tag, to: tags)
    note.remove(tag, from: tags)
    board.add(note, to: notes)
    script.context.delete(note)
    #expect(note.isDeleted && !note.hasChanges && !script.context.hasChanges)
    #expect(script.context.save() == nil)
  }

  @Test func editsOfUnansweredDeleteAreIgnored() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let tag = try #require(script.context.fault(try script.id(1, of: "Tag")))
    script.context.delete(note)
    #expect(note.hasChanges && script.context.hasChanges)
    let id = try #require(script.context.save())
    _ = script.lines()
    note.add(tag, to: try script.number("tags"))
    script.context.delete(note)
    #expect(note.hasChanges && !script.context.hasChanges && script.context.save() == nil)
    _ = script.receive(script.committed(2, deleted: [script.id(5)]), 3)
    #expect(note.isDeleted && !note.hasChanges && !script.context.hasChanges && id.sequence == 1)
  }

  /// A fault has no stored values, as a deleted object.
  @Test func refusedDeleteOfFaultIsUnsavedAgain() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let fault = try #require(script.context.fault(script.id(5)))
    script.context.delete(fault)
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 1: delete"])
    #expect(script.receive(.refused(Refusal(.invalid, "a rule")), 2) == ["1 was refused: invalid"])
    #expect(fault.isDeleted && fault.hasChanges && script.context.hasChanges)
    script.context.rollback()
    #expect(fault.isFault && !fault.hasChanges && !script.context.hasChanges)
  }

  @Test func oldestTombstonesAreForgotten() throws {
    let script = try ReplicaTranscript()
    var tombstones = Tombstones()
    let half = UInt64(Tombstones.maximumCount / 2)
    for number in 1...half { tombstones.record(script.id(number), at: 9) }
    #expect(try tombstones.isDeleted(since: script.image(1, 8)) && !tombstones.isDeleted(since: script.image(1, 9)))
    for number in 1..<half { tombstones.record(script.id(half + number), at: 9) }
    #expect(try tombstones.isDeleted(since: script.image(1, 8)))
    tombstones.record(script.id(2 * half), at: 9)
    #expect(
      try !tombstones.isDeleted(since: script.image(1, 8)) && tombstones.isDeleted(since: script.image(half + 1, 8)))
    tombstones.removeAll()
    #expect(try !tombstones.isDeleted(since: script.image(half + 1, 8)))
  }

  @Test func filteredResultDoesNotImplyDeletes() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let condition = try GraphPredicate(parsing: "x < 3", entity: script.note, model: script.model)
    _ = script.context.follow(entity: script.note, predicate: condition)
    #expect(script.lines() == ["> follow"])
    let note = script.context.register([try script.image(5, 1, ["x": .double(7)])])[0]
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(script.last([], at: 9), 2) == [])
    #expect(script.receive(.advance(revision: 9, fingerprint: 9_000)) == ["query 1 has 0 at 9"])
    #expect(!note.isDeleted && note["x"] == .double(7))
  }

  @Test func revivedObjectHasNoEditsFromBeforeDelete() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    note["x"] = .double(7)
    let gone = Delta.Change(kind: .removed, id: script.id(5), deleted: true)
    #expect(script.receive(script.delta(4, 2, [gone])) == ["revision 2 changes [1]"])
    #expect(note.isDeleted && !script.context.hasChanges)
    let back = Delta.Change(kind: .inserted, id: script.id(5), object: try script.image(5, 3, ["y": .double(2)]))
    #expect(script.receive(script.delta(4, 3, [back])) == ["revision 3 changes [1]"])
    // There are no unsaved edits, so all values are the stored ones.
    #expect(!note.isDeleted && !script.context.hasChanges)
    #expect(note["x"] == .double(0) && note["y"] == .double(2))
  }

  @Test func refusedEditsOfRevivedObjectAreUnsavedAgain() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    note["x"] = .double(7)
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 1: update"])
    let gone = Delta.Change(kind: .removed, id: script.id(5), deleted: true)
    #expect(script.receive(script.delta(4, 2, [gone])) == ["revision 2 changes [1]"])
    let back = Delta.Change(kind: .inserted, id: script.id(5), object: try script.image(5, 3))
    #expect(script.receive(script.delta(4, 3, [back])) == ["revision 3 changes [1]"])
    #expect(script.receive(.refused(Refusal(.conflict, "")), 3) == ["1 was refused: conflict"])
    #expect(note["x"] == .double(7) && script.context.hasChanges)
    script.context.rollback()
    #expect(note["x"] == .double(0) && !script.context.hasChanges)
  }

  /// The store was restored to a state before the object: a client that has edited it can continue.
  @Test func unsentInsertIsForgottenOnDelete() throws {
    let script = try ReplicaTranscript()
    let notes = try FaultTests.fetched(script, [script.image(5, 1), script.image(6, 1), script.image(7, 1)])
    notes[0]["x"] = .double(7)
    notes[1]["x"] = .double(8)
    script.context.delete(notes[2])
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 1: update, update, delete"])
    let missing = [5, 7].map {
      Violation(id: script.id($0), rule: Violation.CommonRule.missing.rawValue, message: "there is no Note")
    }
    #expect(script.receive(.refused(Refusal(violations: missing)), 2) == ["1 was refused: notFound"])
    #expect(notes.map(\.isDeleted) == [true, false, true])
    #expect(script.changes.last?.deleted == [script.id(5), script.id(7)])
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 2: update"])
  }

  @Test func unknownReferencedObjectIsRequestedOnce() throws {
    let script = try ReplicaTranscript()
    let note = try FaultTests.fetched(script, [script.image(5, 1)])[0]
    let board = try script.number("board")
    note["board"] = .object(try script.id(9, of: "Board"))
    let tree = try script.tree("board")
    #expect(script.context.load(tree, of: note) == 1)
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Board: id IN {9}"])
    // Other clients have deleted it, and this context has never held it.
    #expect(script.receive(script.last([], at: 4), 2) == ["load 1 is here"])
    #expect(note.isLoaded(board) && note.object(board, ManagedObject.self) == nil)
    #expect(script.context.load(tree, of: note) == nil)
  }
}
