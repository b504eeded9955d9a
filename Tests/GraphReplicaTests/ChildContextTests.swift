import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// A child context: its edits are its own until it is saved, and then the parent's.
@Suite struct ChildContextTests {
  @Test func childReadsThroughAndIsolatesItsEdits() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1, ["x": .double(1), "y": .double(1)])])
    note["x"] = .double(2)
    let child = script.context.makeChild()
    let instance = try #require(child.object(for: note))
    #expect(instance !== note && instance.id == note.id && instance.context === child)
    // The parent's unsaved edits are visible.
    #expect(instance["x"] == .double(2) && !instance.hasChanges && !child.hasChanges)
    instance["y"] = .double(3)
    #expect(instance["y"] == .double(3) && note["y"] == .double(1))
    #expect(child.hasChanges && instance.hasChanges)
    // Changes of other clients are visible, except for the properties that are edited here.
    let edits = [Edit(try script.number("y"), .set(.double(9))), Edit(try script.number("z"), .set(.double(9)))]
    #expect(script.receive(script.delta(4, 2, [script.update(5, edits, previous: 1)])) == ["revision 2 changes [1]"])
    #expect(instance["y"] == .double(3) && instance["z"] == .double(9) && note["y"] == .double(9))
    child.rollback()
    #expect(instance["y"] == .double(9) && !child.hasChanges)
    #expect(child.result(of: 1).map { $0 === instance } == [true])
    #expect(script.lines() == [])
  }

  @Test func childSaveBecomesParentEditsAndKeepsConflicts() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1, ["text": .string("one two")])])
    let child = script.context.makeChild()
    let instance = try #require(child.object(for: note))
    instance["x"] = .double(3)
    instance["text"] = .string("one two three")
    let (x, text) = (try script.number("x"), try script.number("text"))
    let theirs = [
      Edit(x, .set(.double(9))), Edit(text, .splice([TextSplice(offset: 0, length: 3, insertion: "ONE")])),
    ]
    #expect(script.receive(script.delta(4, 2, [script.update(5, theirs, previous: 1)])) == ["revision 2 changes [1]"])
    child.saveIntoParent()
    #expect(script.lines() == [] && !child.hasChanges && !instance.hasChanges)
    #expect(note["x"] == .double(3) && note["text"] == .string("ONE two three") && note.hasChanges)
    #expect(instance["x"] == .double(3))
    #expect(script.context.save() != nil)
    let sent = Self.commits(script)
    // The number was edited at revision 1, before the other's: the server sees that. The text has both.
    #expect(
      sent.flatMap(\.changes) == [
        Change(.update, note.id, base: 1, edits: [Edit(x, .set(.double(3)))]),
        Change(
          .update, note.id, base: 2,
          edits: [Edit(text, .splice([TextSplice(offset: 7, length: 0, insertion: " three")]))]),
      ])
  }

  @Test func insertOfChildReachesParentThenServer() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let child = script.context.makeChild()
    let entity = try #require(script.model.entity(named: "Board"))
    let board = try #require(child.insert(entity))
    let toOne = try script.number("board")
    let note = try #require(child.insert(script.note))
    board["name"] = .string("B")
    note["board"] = .object(board.id)
    let inverse = try #require(board.entity.property(named: "notes")).number
    #expect(board.objects(inverse, ManagedObject.self).map { $0 === note } == [true])
    #expect(script.context.object(board.id) == nil && !script.context.hasChanges)
    #expect(child.save() == nil)
    #expect(script.context.insertedObjects.map(\.id) == [board.id, note.id])
    #expect(!note.isInserted && note.object(toOne, ManagedObject.self) === board)

    // Edited on while the parent's save is under way: the ids become permanent here, too.
    note["x"] = .double(4)
    #expect(script.context.save()?.sequence == 1)
    #expect(script.lines() == ["> commit 1: insert, insert"])
    let home = try script.id(7, of: "Board")
    let stored = try script.image(5, 1, ["board": .object(home)])
    let reply = script.committed(
      1, [.init(temporary: board.id, permanent: home), .init(temporary: note.id, permanent: stored.id)],
      objects: [stored, try script.image(7, of: "Board", 1, ["name": .string("B")])])
    #expect(script.receive(reply, 2) == ["saved 1 as 1"])
    #expect(board.id == home && note.id == stored.id && note["x"] == .double(4))
    #expect(child.object(stored.id) === note && note.object(toOne, ManagedObject.self) === board)
    #expect(child.save() == nil)
    #expect(script.context.object(stored.id)?["x"] == .double(4))
  }

  @Test func relationshipsAndDeletesStayInChildUntilSave() throws {
    let script = try ReplicaTranscript()
    let boards = try (1...2).map { try script.image($0, of: "Board", 1) }
    let notes = try (5...6).map { try script.image($0, 1, ["board": .object(boards[0].id)]) }
    _ = try ReplicaTests.following(script, notes)
    let instances = script.context.register(boards)
    let inverse = try #require(instances[0].entity.property(named: "notes")).number
    func members(_ context: ObjectContext) -> [[ObjectID]] {
      boards.map { context.fault($0.id)?.objects(inverse, ManagedObject.self).map(\.id) ?? [] }
    }
    let child = script.context.makeChild()
    // Objects of the parent are accepted, too.
    let other = try #require(script.context.object(script.id(6)))
    try #require(child.object(for: instances[1])).add(other, to: inverse)
    #expect(members(child) == [[script.id(5)], [script.id(6)]])
    let gone = try #require(child.object(script.id(5)))
    child.delete(gone)
    #expect(members(child) == [[], [script.id(6)]] && child.object(script.id(5)) == nil)
    #expect(members(script.context) == [[script.id(5), script.id(6)], []])

    // The child's child is discarded without a trace.
    weak var discarded: ObjectContext?
    do {
      let grandchild = child.makeChild()
      discarded = grandchild
      #expect(grandchild.object(script.id(5)) == nil)
      try #require(grandchild.object(script.id(6)))["x"] = .double(7)
    }
    #expect(discarded == nil && child.object(script.id(6))?["x"] == .double(0))

    #expect(child.save() == nil)
    #expect(members(script.context) == [[], [script.id(6)]] && script.context.object(script.id(5)) == nil)
    #expect(script.context.save() != nil)
    #expect(Self.commits(script).flatMap(\.changes).map(\.kind) == [.delete, .update])
  }

  @Test func deleteInChildOutlivesDiscardedInsert() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let child = script.context.makeChild()
    child.delete(try #require(child.object(for: note)))
    child.delete(try #require(child.insert(script.note)))
    #expect(child.hasChanges)
    child.saveIntoParent()
    #expect(note.isDeleted && script.context.hasChanges && !child.hasChanges)
  }

  @Test func childHasNoChangesOfObjectThatItsParentDeleted() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let child = script.context.makeChild()
    let instance = try #require(child.object(for: note))
    instance["x"] = .double(2)
    let grandchild = child.makeChild()
    let copy = try #require(grandchild.object(for: instance))
    copy["x"] = .double(4)
    #expect(child.hasChanges && instance.hasChanges && grandchild.hasChanges && copy.hasChanges)
    let gone = Delta.Change(kind: .removed, id: script.id(5), deleted: true)
    #expect(script.receive(script.delta(4, 2, [gone])) == ["revision 2 changes [1]"])
    instance["x"] = .double(3)
    #expect(instance.isDeleted && !child.hasChanges && !instance.hasChanges)
    #expect(copy.isDeleted && !grandchild.hasChanges && !copy.hasChanges)
    child.saveIntoParent()
    #expect(!script.context.hasChanges)
  }

  @Test func parentRollbackDiscardsChildSave() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let child = script.context.makeChild()
    let made = try #require(child.insert(script.note))
    let instance = try #require(child.object(for: note))
    child.delete(instance)
    #expect(child.save() == nil)
    #expect(note.isDeleted && script.context.object(made.id) != nil)
    script.context.rollback()
    #expect(!note.isDeleted && !instance.isDeleted && child.object(note.id) === instance)
    #expect(made.isDeleted && child.object(made.id) == nil)
    #expect(!script.context.hasChanges && !child.hasChanges)
  }

  @Test func childFaultsAreFilledThroughParent() throws {
    let script = try ReplicaTranscript()
    let board = try script.id(7, of: "Board")
    let note = try FaultTests.fetched(script, [script.image(5, 1, ["board": .object(board)])])[0]
    let child = script.context.makeChild()
    let property = try script.number("board")
    let instance = try #require(child.object(for: note))
    let load = try #require(child.load(try script.tree("board"), of: instance))
    child.sendLoads()
    #expect(script.lines() == ["> fetch Board: id IN {7}"])
    #expect(
      script.receive(script.last([try script.image(7, of: "Board", 1, ["name": .string("B")])], at: 1), 2) == [
        "load \(load) is here"
      ])
    #expect(instance.isLoaded(property) && instance.object(property, ManagedObject.self)?["name"] == .string("B"))
  }

  private static func commits(_ script: ReplicaTranscript) -> [Transaction] {
    script.context.takeActions().compactMap { action in
      if case .send(let message) = action, case .commit(let transaction) = message.body { transaction } else { nil }
    }
  }
}
