import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Objects are compared and hashed as the objects of one context, also while their ids change.
@Suite struct ObjectIdentityTests {
  /// Inserts a note and saves it. A live query delivers the note before the save is answered; then both are instances
  /// of one object.
  /// - Parameter beforeAnswer: receives the inserted and the delivered instance.
  private func insertFollowed(
    _ script: ReplicaTranscript, beforeAnswer: (ManagedObject, ManagedObject) -> Void = { _, _ in }
  ) throws -> (inserted: ManagedObject, delivered: ManagedObject) {
    _ = try ReplicaTests.following(script, [script.image(5, 1)])
    let inserted = try #require(script.context.insert(script.note))
    let temporary = inserted.id
    #expect(script.context.save() != nil && script.lines() == ["> commit 1: insert"])
    let image = try script.image(6, 2)
    let delta = script.delta(4, 2, [Delta.Change(kind: .inserted, id: image.id, object: image)])
    #expect(script.receive(delta) == ["revision 2 changes [1]"])
    let delivered = try #require(script.context.object(image.id))
    #expect(inserted != delivered)
    beforeAnswer(inserted, delivered)
    let answer = script.committed(2, [.init(temporary: temporary, permanent: image.id)], objects: [image])
    #expect(script.receive(answer, 3) == ["saved 1 as 2"])
    #expect(inserted.id == image.id && inserted !== delivered)
    return (inserted, delivered)
  }

  @Test func objectStaysInSetWhenItsIDBecomesPermanent() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let one = try #require(script.context.insert(script.note))
    let two = try #require(script.context.insert(script.note))
    let selected: Set = [one]
    let hash = one.hashValue
    #expect(one != two && selected.contains(one) && !selected.contains(two))
    let answer = script.committed(
      1, [.init(temporary: one.id, permanent: script.id(5)), .init(temporary: two.id, permanent: script.id(6))],
      objects: [try script.image(5, 1), try script.image(6, 1)])
    #expect(script.context.save() != nil && script.lines() == ["> commit 1: insert, insert"])
    #expect(script.receive(answer, 2) == ["saved 1 as 1"])
    #expect(!one.id.isTemporary && one.hashValue == hash)
    #expect(selected.contains(one) && !selected.contains(two))
    #expect(script.context.object(script.id(5)) == one && [two, one].firstIndex(of: one) == 1)
  }

  @Test func deliveredInstanceEqualsTheInsertedOne() throws {
    let (inserted, delivered) = try insertFollowed(ReplicaTranscript())
    #expect(inserted == delivered && [delivered].firstIndex(of: inserted) == 0)
    #expect(inserted.hashValue == delivered.hashValue && Set([inserted, delivered]).count == 1)
  }

  @Test func hashOfTheInsertedInstanceBecomesThatOfTheDeliveredOne() throws {
    var selected = Set<ManagedObject>()
    let (inserted, delivered) = try insertFollowed(ReplicaTranscript()) { inserted, _ in selected = [inserted] }
    #expect(inserted == delivered && selected.contains(inserted) && selected.contains(delivered))
  }

  @Test func hashOfTheDeliveredInstanceBecomesThatOfTheInsertedOne() throws {
    var shown = Set<ManagedObject>()
    let (inserted, delivered) = try insertFollowed(ReplicaTranscript()) { _, delivered in shown = [delivered] }
    #expect(inserted == delivered && shown.contains(inserted) && shown.contains(delivered))
  }

  /// Neither hash may change, so they stay two members of a set. Their ids are equal.
  @Test func instancesThatWereBothHashedStayDifferent() throws {
    var both = Set<ManagedObject>()
    let (inserted, delivered) = try insertFollowed(ReplicaTranscript()) { both = [$0, $1] }
    #expect(inserted != delivered && inserted.id == delivered.id)
    #expect(both.count == 2 && both.contains(inserted) && both.contains(delivered))
  }

  @Test func instancesOfTwoContextsAreDifferent() throws {
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    let child = script.context.makeChild()
    let instance = try #require(child.object(for: note))
    #expect(instance != note && instance.id == note.id && Set([note, instance]).count == 2)
    #expect(child.object(note.id) == instance)
  }

  @Test func objectIsIdentifiedByItsID() throws {
    func ids<Row: Identifiable>(_ rows: [Row]) -> [Row.ID] { rows.map(\.id) }
    let script = try ReplicaTranscript()
    let note = try ReplicaTests.following(script, [script.image(5, 1)])
    #expect(ids([note]) == [script.id(5)])
  }
}
