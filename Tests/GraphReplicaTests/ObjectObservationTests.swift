import GraphModel
import GraphReplica
import GraphWire
import Observation
import Synchronization
import Testing

/// Objects as an observing front end sees them: a change of an object notifies its observers, and no others.
@Suite struct ObjectObservationTests {
  /// Counts the notifications of one reading.
  private final class Notifications: Sendable {
    private let counted = Mutex(0)
    var count: Int { counted.withLock { $0 } }

    /// Reads once, as the body of a view does.
    init(_ read: () -> Void) { withObservationTracking(read) { [self] in counted.withLock { $0 += 1 } } }
  }

  private static func notes(_ script: ReplicaTranscript) throws -> [ManagedObject] {
    #expect(script.connect(head: 1) == ["welcomed"])
    return script.context.register([try script.image(5, 1), try script.image(6, 1)])
  }

  @Test func editNotifiesObserversOfItsObject() throws {
    let script = try ReplicaTranscript()
    let notes = try Self.notes(script)
    let edited = Notifications { _ = notes[0]["text"] }
    let other = Notifications { _ = notes[1]["text"] }
    notes[0]["text"] = .string("new")
    notes[0]["text"] = .string("newer")
    #expect(edited.count == 1 && other.count == 0)

    let state = Notifications { _ = notes[0].hasChanges }
    script.context.rollback()
    #expect(state.count == 1 && other.count == 0)
  }

  @Test func commitOfOtherClientNotifiesOnce() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let query = script.context.follow(entity: script.note)
    _ = script.lines()
    _ = script.receive(.subscribed(query: 4, resumed: false), 2)
    _ = script.receive(script.last([try script.image(5, 1), try script.image(6, 1)], at: 1), 2)
    _ = script.receive(.advance(revision: 1, fingerprint: 1_000))
    let notes = script.context.result(of: query, sort: [])
    let (changed, other) = (Notifications { _ = notes[0]["text"] }, Notifications { _ = notes[1]["text"] })
    let edit = Edit(try script.number("text"), .set(.string("theirs")))
    _ = script.receive(script.delta(4, 2, [script.update(5, [edit], previous: 1)]))
    _ = script.receive(.advance(revision: 2, fingerprint: 2_000))
    #expect(notes[0]["text"] == .string("theirs"))
    #expect(changed.count == 1 && other.count == 0)
  }

  @Test func deletionNotifiesOnce() throws {
    let script = try ReplicaTranscript()
    let notes = try Self.notes(script)
    let (deleted, other) = (Notifications { _ = notes[0].isDeleted }, Notifications { _ = notes[1].isDeleted })
    script.context.delete(notes[0])
    #expect(deleted.count == 1 && other.count == 0)
  }

  /// The deletion changes no property of the note, but what a read of its relationships returns.
  @Test func deletionNotifiesReadersOfReferences() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let board = script.context.register([try script.image(1, of: "Board", 1)])[0]
    let tag = script.context.register([try script.image(1, of: "Tag", 1)])[0]
    let note = script.context.register([
      try script.image(5, 1, ["board": .object(board.id), "tags": .objects([tag.id])])
    ])[0]
    let child = script.context.makeChild()
    let copy = try #require(child.object(for: note))
    let (toBoard, toTags) = (try script.number("board"), try script.number("tags"))

    let boards = [note, copy].map { note in Notifications { _ = note.object(toBoard, ManagedObject.self) } }
    let tags = [note, copy].map { note in Notifications { _ = note.objects(toTags, ManagedObject.self).count } }
    let text = Notifications { _ = note["text"] }
    board["name"] = .string("new")
    #expect(boards.map(\.count) == [0, 0])
    script.context.delete(board)
    #expect(boards.map(\.count) == [1, 1] && tags.map(\.count) == [0, 0])
    script.context.delete(tag)
    #expect(tags.map(\.count) == [1, 1] && text.count == 0)

    let restored = Notifications { _ = note.object(toBoard, ManagedObject.self) }
    script.context.rollback()
    #expect(restored.count == 1 && text.count == 0)
    withExtendedLifetime(child) {}
  }

  @Test func loadedFaultNotifiesReadersWhetherReferencesAreLoaded() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let (board, toBoard) = (try script.id(1, of: "Board"), try script.number("board"))
    let note = script.context.register([try script.image(5, 1, ["board": .object(board)])])[0]
    let fault = try #require(note.object(toBoard, ManagedObject.self))
    let loaded = Notifications { _ = note.isLoaded(toBoard) }
    let reference = Notifications { _ = note.object(toBoard, ManagedObject.self) }
    _ = script.context.register([try script.image(1, of: "Board", 1)])
    #expect(!fault.isFault && note.isLoaded(toBoard))
    #expect(loaded.count == 1 && reference.count == 0)
  }

  @Test func loadedFaultNotifies() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let fault = try #require(script.context.fault(script.id(5)))
    let loaded = Notifications { _ = fault.isFault }
    let image = try script.image(5, 1, ["text": .string("loaded")])
    _ = script.context.register([image])
    #expect(loaded.count == 1 && !fault.isFault)
    // The same values again are no change.
    let again = Notifications { _ = fault["text"] }
    _ = script.context.register([image])
    #expect(again.count == 0)
  }

  /// Nothing keeps the fault that is read.
  @Test func faultThatNothingKeepsNotifiesWhenItLoads() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let (board, toBoard) = (try script.id(1, of: "Board"), try script.number("board"))
    let note = script.context.register([try script.image(5, 1, ["board": .object(board)])])[0]
    let (first, second) = (
      Notifications { _ = note.object(toBoard, ManagedObject.self)?["name"] },
      Notifications { _ = note.object(toBoard, ManagedObject.self)?["name"] }
    )
    let unrelated = Notifications { _ = script.context.fault(script.id(8))?["text"] }
    // A second reader is no change.
    #expect(first.count == 0)
    let loaded = script.context.register([try script.image(1, of: "Board", 1)])
    #expect(first.count == 1 && second.count == 1 && unrelated.count == 0)
    withExtendedLifetime(loaded) {}
  }

  /// Each read of the child makes an instance, which is released at once.
  @Test func objectOfAChildThatNothingKeepsNotifies() throws {
    let script = try ReplicaTranscript()
    let note = try Self.notes(script)[0]
    let child = script.context.makeChild()
    let text = Notifications { _ = child.object(note.id)?["text"] }
    let parents = Notifications { _ = child.object(note.id)?["text"] }
    #expect(text.count == 0)
    child.object(note.id)?["text"] = .string("draft")
    #expect(text.count == 1 && parents.count == 1)
    child.rollback()
    let flag = Notifications { _ = child.object(note.id)?["pinned"] }
    note["pinned"] = .bool(true)
    #expect(flag.count == 1)
  }

  /// The observers of released objects do not add up; instead of being forgotten, they are notified.
  @Test func observersOfVeryManyReleasedObjectsAreNotified() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let first = Notifications { _ = script.context.fault(script.id(1))?.isFault }
    for number in UInt64(2)...4_000 { #expect(script.context.fault(script.id(number))?.isFault == true) }
    #expect(first.count == 0)
    for number in UInt64(4_001)...5_000 { #expect(script.context.fault(script.id(number))?.isFault == true) }
    #expect(first.count == 1)
  }

  /// While an observer reads, it can't be notified: its reads are not forgotten with those of earlier ones.
  @Test func observerThatIsReadingIsNotForgotten() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    func readFaults(_ numbers: ClosedRange<UInt64>) {
      for number in numbers { #expect(script.context.fault(script.id(number))?.isFault == true) }
    }
    readFaults(2...3_000)
    let reader = Notifications {
      readFaults(1...1)
      readFaults(3_001...4_500)
    }
    #expect(reader.count == 0)
    let loaded = script.context.register([try script.image(1, 1)])
    #expect(reader.count == 1)
    withExtendedLifetime(loaded) {}
  }

  @Test func newMemberNotifiesOwner() throws {
    let script = try ReplicaTranscript()
    let notes = try Self.notes(script)
    let board = script.context.register([try script.image(1, of: "Board", 1)])[0]
    let members = try #require(board.entity.property(named: "notes")).number
    let count = Notifications { _ = board.objects(members, ManagedObject.self).count }
    let name = Notifications { _ = board["name"] }
    board.add(notes[0], to: members)
    #expect(count.count == 1 && name.count == 0)
    // And one of another client.
    let arrival = Notifications { _ = board.objects(members, ManagedObject.self).count }
    let added = script.context.register([try script.image(7, 1, ["board": .object(board.id)])])
    #expect(arrival.count == 1 && name.count == 0)
    #expect(Set(board.objects(members, ManagedObject.self).map(\.id)) == [notes[0].id, added[0].id])
  }

  @Test func childObservesItsParent() throws {
    let script = try ReplicaTranscript()
    let note = try Self.notes(script)[0]
    let child = script.context.makeChild()
    let copy = try #require(child.object(for: note))
    let text = Notifications { _ = copy["text"] }
    let original = Notifications { _ = note["text"] }
    copy["text"] = .string("draft")
    #expect(text.count == 1 && original.count == 0)
    let flag = Notifications { _ = copy["pinned"] }
    note["pinned"] = .bool(true)
    #expect(flag.count == 1 && original.count == 1)
  }

  @Test func observersOfManyObjectsAreApart() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    // More than one registrar has places for.
    let notes = script.context.register(try (1...600).map { try script.image($0, 1) })
    let observers = notes.map { note in Notifications { _ = note["text"] } }
    notes[300]["text"] = .string("new")
    #expect(observers.indices.filter { observers[$0].count > 0 } == [300])
  }
}
