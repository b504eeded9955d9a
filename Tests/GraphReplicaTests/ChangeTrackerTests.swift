import GraphModel
import GraphReplica
import GraphWire
import Testing

/// A tracker receives the ids of the objects whose cached values are out of date.
@Suite struct ChangeTrackerTests {
  /// A context that follows two notes.
  private func script() throws -> (script: ReplicaTranscript, one: ManagedObject, other: ManagedObject) {
    let script = try ReplicaTranscript()
    let one = try ReplicaTests.following(script, [script.image(5, 1), script.image(6, 1)])
    return (script, one, try #require(script.context.object(script.id(6))))
  }

  @Test func everyChangeIsTracked() throws {
    let (script, one, other) = try script()
    let tracker = script.context.trackChanges()
    #expect(tracker.isEmpty)

    one["text"] = .string("a")
    #expect(tracker.take() == [one.id])
    #expect(tracker.isEmpty)
    script.context.rollback()
    #expect(tracker.take() == [one.id])

    let edits = [Edit(try script.number("text"), .set(.string("theirs")))]
    #expect(script.receive(script.delta(4, 2, [script.update(6, edits, previous: 1)])) == ["revision 2 changes [1]"])
    #expect(tracker.take() == [other.id])

    script.context.delete(other)
    #expect(tracker.take() == [other.id])
  }

  @Test func objectIsTrackedUnderBothIDs() throws {
    let (script, _, _) = try script()
    let tracker = script.context.trackChanges()
    let made = try #require(script.context.insert(script.note))
    let before = made.id
    #expect(tracker.take() == [before])
    _ = script.context.save()
    _ = script.lines()
    let stored = try script.image(7, 2)
    let reply = script.committed(2, [.init(temporary: before, permanent: stored.id)], objects: [stored])
    #expect(script.receive(reply, 3) == ["saved 1 as 2"])
    #expect(tracker.take().isSuperset(of: [before, stored.id]))
  }

  @Test func childTracksChangesOfParent() throws {
    let (script, one, _) = try script()
    let child = script.context.makeChild()
    let instance = try #require(child.object(one.id))
    let (above, below) = (child.trackChanges(), script.context.trackChanges())
    one["text"] = .string("in the parent")
    #expect(above.take() == [one.id])
    #expect(below.take() == [one.id])
    instance["text"] = .string("in the child")
    #expect(above.take() == [one.id])
    #expect(below.isEmpty)
  }

  @Test func releasedTrackerIsRemoved() throws {
    let (script, one, _) = try script()
    weak let gone = script.context.trackChanges()
    #expect(gone == nil)
    one["text"] = .string("a")
    #expect(script.context.trackChanges().isEmpty)
  }
}
