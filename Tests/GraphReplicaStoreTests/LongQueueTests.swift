import Foundation
import GraphModel
import GraphStore
import GraphTesting
import Testing

@testable import GraphReplicaStore

/// A long queue of unsent edits: an edit costs what it concerns, and not what waits in front of it.
@Suite struct LongQueueTests {
  private let fixture: MirrorFixture
  private let board: ObjectID
  private let notes: [ObjectID]

  init() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("Home")])
    notes = try (0..<40).map { number in
      try store.insert("Note", ["text": .string("note \(number)"), "board": .object(board)])
    }
    self.board = board
    fixture = try MirrorFixture(store)
    let replica = UnsentFile.Replica(
      id: UniqueID(high: 1, low: 2), store: try fixture.mirror.head.store, principal: "ann", author: "ann")
    try UnsentFile.create(folder: fixture.folder.path, replica: replica).close()
  }

  private func open() throws -> ReplicaStore {
    var last: UInt64 = 0
    return try ReplicaStore(folder: fixture.folder.path, model: fixture.server.model) {
      last += 1
      return last
    }
  }

  private func commit(_ store: ReplicaStore, _ sequence: UInt64, _ changes: [Change]) throws {
    let id = TransactionID(replica: UniqueID(high: 7, low: 7), sequence: sequence)
    let transaction = Transaction(id: id, policy: .objectTrump, changes: changes)
    let outcome = try store.commit([.transaction(transaction, author: "ann")], now: 5)[0].outcome
    if case .refused(let refusal) = outcome { throw refusal }
  }

  private func paint(_ note: ObjectID, _ color: String, base: Revision) throws -> Change {
    Change(.update, note, base: base, edits: [try fixture.server.edit("Note.color", .string(color))])
  }

  private func insertion(_ text: String) throws -> Change {
    Change(
      .insert, .temporary(1, entity: try fixture.server.entity("Note").number),
      edits: [
        try fixture.server.edit("Note.text", .string(text)), try fixture.server.edit("Note.board", .object(board)),
      ])
  }

  private func visible(_ store: ReplicaStore) throws -> [ObjectID: [Value]] {
    var values = [ObjectID: [Value]]()
    _ = try store.export { values[$0.id] = $0.values }
    return values
  }

  @Test func programThatStartsPlansOnlyItsOwnEdit() throws {
    let base = try fixture.mirror.head.revision
    let first = try open()
    for (number, note) in notes.enumerated() {
      try commit(first, UInt64(number + 1), [paint(note, "blue", base: base)])
    }
    #expect(first.overlay.countOfPlans == notes.count)
    let seen = try visible(first)
    try first.close()
    let second = try open()
    #expect(try visible(second) == seen)
    #expect(second.overlay.countOfPlans == 0)
    try commit(second, 1, [insertion("one more")])
    #expect(second.overlay.countOfPlans == 1)
    #expect(try visible(second).count == seen.count + 1)
    try second.close()
  }

  @Test func foreignCommitReplansTheEditsThatItConcernsAndNoOthers() throws {
    let base = try fixture.mirror.head.revision
    let store = try open()
    for (number, note) in notes.enumerated() {
      try commit(store, UInt64(number + 1), [paint(note, "blue", base: base)])
    }
    // Three edits of one note, and one that is far behind the others.
    for color in ["pink", "green"] {
      try commit(store, color == "pink" ? 101 : 102, [paint(notes[3], color, base: store.head.revision)])
    }
    let before = store.overlay.countOfPlans
    try fixture.server.by("bob") {
      try fixture.server.must([
        try fixture.server.update(notes[3], "Note.pinned", .bool(true)),
        try fixture.server.update(notes[9], "Note.pinned", .bool(true)),
      ])
    }
    try fixture.receive()
    let shown = try visible(store)
    #expect(store.overlay.countOfPlans - before == 4)
    // Reads in between plan nothing.
    _ = try visible(store)
    #expect(store.overlay.countOfPlans - before == 4)
    let entity = try fixture.server.entity("Note")
    func value(_ note: ObjectID, _ name: String) throws -> Value? {
      let image = ObjectImage(id: note, revision: 0, values: try #require(shown[note]))
      return image[try #require(entity.property(named: name))]
    }
    #expect(try value(notes[3], "color") == .string("green") && value(notes[3], "pinned") == .bool(true))
    #expect(try value(notes[9], "color") == .string("blue") && value(notes[9], "pinned") == .bool(true))
    #expect(try value(notes[4], "color") == .string("blue"))
    try store.close()
  }

  @Test func editsOfAnotherProgramAreSeenBeforeOnesOwn() throws {
    let (first, second) = (try open(), try open())
    try commit(first, 1, [insertion("first")])
    try commit(second, 1, [insertion("second")])
    try commit(first, 2, [insertion("third")])
    let texts = try fixture.server.property("Note.text")
    for store in [first, second] {
      var new = [String]()
      _ = try store.export { image in
        if ProvisionalID.parts(of: image.id) != nil, let text = image[texts].stringValue { new.append(text) }
      }
      #expect(new.sorted() == ["first", "second", "third"])
    }
    // Each has planned each edit once, or found its plan.
    #expect(first.overlay.countOfPlans + second.overlay.countOfPlans == 3)
    try first.close()
    try second.close()
  }

  @Test func plansOfAnotherMirrorOrQueueAreNotUsed() throws {
    let store = try open()
    try commit(store, 1, [insertion("mine")])
    let seen = try visible(store)
    try store.close()
    // The same objects, with other row numbers.
    try MirrorFixture.load(fixture.server, fixture.path)
    let again = try open()
    #expect(try visible(again) == seen)
    #expect(again.overlay.countOfPlans == 1)
    try again.close()
    try Data("not a database, and long enough to be read as one".utf8)
      .write(to: URL(fileURLWithPath: MirrorStore.plans(beside: fixture.path)))
    let damaged = try open()
    #expect(try visible(damaged) == seen)
    try damaged.close()
  }

  /// The kept plans are those of a new overlay after each addition, removal and foreign commit.
  @Test(arguments: SeedSweep.seeds(12)) func plansAreThoseOfANewOverlay(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try open()
    for step in 0..<40 {
      let note = try #require(notes.prefix(6).randomElement(using: &random))
      let base = try fixture.mirror.head.revision
      switch Int.random(in: 0..<9, using: &random) {
      case 0...3:
        let color = try #require(["blue", "green", "pink"].randomElement(using: &random))
        try? commit(store, UInt64(step + 1), [paint(note, color, base: base)])
      case 4: try commit(store, UInt64(step + 1), [insertion("new \(step)")])
      case 5: try? commit(store, UInt64(step + 1), [Change(.delete, note, base: base)])
      case 6:
        let waiting = try store.unsent.entries(store.form, .waiting).map(\.number)
        if let number = waiting.randomElement(using: &random) { _ = try store.unsent.discard(number, form: store.form) }
      default:
        let isDelete = Int.random(in: 0..<4, using: &random) == 0
        let pinned = Value.bool(Bool.random(using: &random))
        if try fixture.server.all("Note").contains(where: { $0.id == note }) {
          try fixture.server.by("bob") {
            let pin = try fixture.server.update(note, "Note.pinned", pinned)
            try fixture.server.must([isDelete ? Change(.delete, note) : pin])
          }
        }
        try fixture.receive()
      }
      let fresh = try fixture.mirror.makeOverlay(of: UnsentQueue(store.unsent, form: store.form, account: nil))
      #expect(try fixture.visible(fresh).mapValues(\.values) == visible(store), "seed \(seed), step \(step)")
      fresh.close()
    }
    try store.close()
  }

  @Test func queueOfTheFirstVersionIsRead() throws {
    let file = try #require(try UnsentFile.open(folder: fixture.folder.path))
    let form = IntentForm(fixture.server.model)
    func draft(_ changes: [Change]) -> Intent {
      Intent(
        number: 0, transaction: TransactionID(replica: .zero, sequence: 0), model: fixture.server.model, author: "ann",
        made: 1, content: .changes(changes))
    }
    _ = try file.append(draft([insertion("first")]), form: form) { _, _ in [] }
    let new = ProvisionalID.make(number: 1, place: 1, entity: try fixture.server.entity("Note").number)
    _ = try file.append(draft([paint(new, "pink", base: 0)]), form: form) { _, _ in [] }
    try file.write { database in
      try database.execute(
        sql: """
          DROP TABLE named; DROP INDEX "intent.state"; DROP INDEX "assigned.object"; DROP TABLE change;
          PRAGMA user_version = 1
          """)
    }
    file.close()
    let reopened = try #require(try UnsentFile.open(folder: fixture.folder.path))
    #expect(try reopened.dependents(of: 1, form: form) == [1, 2])
    reopened.close()
    let store = try open()
    #expect(try visible(store).count == notes.count + 2)
    try store.close()
  }
}
