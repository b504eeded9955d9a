import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// A context of the past: read as any other, and never edited.
@Suite struct PastContextTests {
  @Test func loadedObjectsAreOfItsRevision() throws {
    let script = try ReplicaTranscript()
    let past = script.context.makePast(at: 5)
    let board = try script.id(7, of: "Board")
    let note = try #require(past.register([script.image(5, 3, ["board": .object(board)])]).first)
    let property = try script.number("board")
    let instance = try #require(note.object(property, ManagedObject.self))
    #expect(instance.isFault && past.takePastRequests().fetches.isEmpty)

    let load = past.load([instance])
    let asked = past.takePastRequests().fetches
    #expect(asked.count == 1 && asked.first?.fetch.at == 5)
    #expect(past.takePastRequests().fetches.isEmpty)
    let number = try #require(asked.first).number
    past.receivePastChunk(Chunk(objects: [try script.image(7, of: "Board", 2, ["name": .string("Then")])]), of: number)
    #expect(instance.isFault)
    past.receivePastChunk(Chunk(objects: [], end: (at: script.token(5), count: 1)), of: number)
    #expect(!instance.isFault && instance["name"] == .string("Then") && instance.revision == 2)
    let filled = past.takeActions().contains { if case .filled(load, nil) = $0 { true } else { false } }
    #expect(filled)
    // The present context is unaffected.
    #expect(script.context.object(board) == nil && script.context.object(note.id) == nil && script.lines() == [])
  }

  @Test func missingObjectIsDeletedAndRefusalIsReported() throws {
    let script = try ReplicaTranscript()
    let past = script.context.makePast(at: 5)
    let boards = try [1, 2].map { try script.id($0, of: "Board") }
    let faults = boards.compactMap { past.fault($0) }
    let load = past.load([faults[0]])
    let first = try #require(past.takePastRequests().fetches.first).number
    past.receivePastChunk(Chunk(objects: [], end: (at: script.token(5), count: 0)), of: first)
    #expect(faults[0].isDeleted && past.takeActions().count == 1)
    let other = past.load([faults[1]])
    #expect(other != load)
    let refusal = Refusal(.notFound, "revision 5 is no longer kept")
    past.refusePast(try #require(past.takePastRequests().fetches.first).number, refusal)
    let isReported = past.takeActions().contains { if case .filled(other, refusal) = $0 { true } else { false } }
    #expect(isReported && faults[1].isFault)
  }

  @Test func everyEditIsRefusedWithoutEffect() throws {
    let script = try ReplicaTranscript()
    let past = script.context.makePast(at: 5)
    var refused = [ReadOnlyContextError]()
    past.editWasRefused = { refused.append($0) }
    let tag = try script.id(1, of: "Tag")
    let note = try #require(
      past.register([try script.image(5, 3, ["text": .string("then"), "tags": .objects([tag])])]).first)
    let tags = try script.number("tags")
    let instance = try #require(past.fault(tag))

    note["text"] = .string("now")
    note["board"] = .null
    note["tags"] = .objects([])
    note.add(instance, to: tags)
    note.remove(instance, from: tags)
    past.delete(note)
    #expect(past.insert(script.note) == nil)
    let child = past.makeChild()
    child.object(for: note)?["text"] = .string("now")
    #expect(refused.count == 8)
    #expect(refused.first?.revision == 5)
    #expect(
      refused.first?.description
        == "text can't be set in the graph as of revision 5: edit the object of the same id in the client's own context"
    )
    #expect(note["text"] == .string("then") && note["tags"] == .objects([tag]))
    #expect(!past.hasChanges && !note.hasChanges && !note.isDeleted && past.save() == nil)
    #expect(past.takePastRequests().fetches.isEmpty && past.takeActions().isEmpty)
  }

  @Test func followingAndUndoAreUnavailable() throws {
    let script = try ReplicaTranscript()
    let past = script.context.makePast(at: 5)
    var refused = [ReadOnlyContextError]()
    past.editWasRefused = { refused.append($0) }
    _ = past.follow(entity: script.note)
    past.undo(UndoRequest(TransactionID(replica: .zero, sequence: 1)))
    #expect(refused.map(\.what) == ["no query can be followed", "nothing can be undone"])
    #expect(past.takeActions().isEmpty)
  }
}
