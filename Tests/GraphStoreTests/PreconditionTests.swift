import GraphModel
import GraphTesting
import Testing

/// Changes that require that the values from which they were calculated are unchanged.
@Suite struct PreconditionTests {
  private struct PreconditionFixture {
    let store: TestStore
    let note: ObjectID
    let base: Revision

    init() throws {
      store = try TestStore(try Fixtures.stickies())
      let board = try store.insert("Board", ["name": .string("B")])
      note = try store.insert("Note", ["board": .object(board), "x": .double(5)])
      base = try store.store.head.revision
    }

    func become(_ author: String, _ replica: UInt64) {
      (store.author, store.replica) = (author, UniqueID(high: replica, low: replica))
    }

    func property(_ name: String) throws -> PropertyNumber { try store.property("Note.\(name)").number }

    /// Sets x as it was read at a revision.
    func set(_ value: Double, at revision: Revision, of properties: String...) throws -> Change {
      var change = try store.update(note, "Note.x", .double(value), base: revision)
      change.onlyIf = Precondition(revision: revision, properties: try properties.map(property))
      return change
    }

    func change(_ property: String, _ value: Value) throws -> Change {
      try store.update(note, "Note.\(property)", value)
    }

    func head() throws -> Revision { try store.store.head.revision }
  }

  /// Both have read 5 and save 6. Equal values are no conflict, so one of the two increments would be lost.
  @Test func secondOfTwoEqualIncrementsIsRefused() throws {
    for policy in MergePolicy.allCases {
      let scene = try PreconditionFixture()
      scene.become("bob", 2)
      try scene.store.must([scene.set(6, at: scene.base, of: "x")], policy: policy)
      let theirs = try scene.head()
      scene.become("ann", 3)
      let refusal = try #require(
        try scene.store.refusal([scene.set(6, at: scene.base, of: "x")], policy: policy), "\(policy)")
      #expect(refusal.code == .conflict)
      #expect(
        refusal.conflicts == [
          Conflict(
            kind: .changed, id: scene.note, property: try scene.property("x"), mine: .double(6), theirs: .double(6),
            author: "bob", revision: theirs)
        ], "\(policy)")
      #expect(try scene.head() == theirs)
      // After another read, the client continues to count.
      try scene.store.must([scene.set(7, at: theirs, of: "x")], policy: policy)
    }
  }

  @Test func retriedIncrementsAreAllApplied() throws {
    let scene = try PreconditionFixture()
    var read = [UInt64: Revision]()
    var saved = 0
    for turn in UInt64(0)..<60 {
      let client = 2 + turn * 7 % 5
      scene.become("client \(client)", client)
      guard let revision = read.removeValue(forKey: client) else {
        read[client] = try scene.head()
        continue
      }
      guard case .double(let now) = try scene.store.value(scene.note, "Note.x") else { return }
      // Without a concurrent commit, the values read are the present ones.
      let refusal = try scene.store.refusal([scene.set(now + 1, at: revision, of: "x")], policy: .objectTrump)
      if refusal == nil { saved += 1 }
    }
    #expect(saved > 5)
    #expect(try scene.store.value(scene.note, "Note.x") == .double(5 + Double(saved)))
  }

  @Test func onlyTheNamedPropertiesCount() throws {
    let scene = try PreconditionFixture()
    scene.become("bob", 2)
    try scene.store.must([scene.change("y", .double(3))])
    let theirs = try scene.head()
    scene.become("ann", 3)
    let whole = try #require(try scene.store.refusal([scene.set(6, at: scene.base)], policy: .objectTrump))
    #expect(whole.conflicts.map(\.property) == [try scene.property("y")])
    #expect(whole.conflicts.map(\.author) == ["bob"])
    #expect(whole.conflicts.map(\.revision) == [theirs])
    #expect(whole.conflicts.map(\.mine) == [.null])
    try scene.store.must([scene.set(6, at: scene.base, of: "x")], policy: .objectTrump)
    #expect(try scene.store.value(scene.note, "Note.x") == .double(6))
  }

  /// A change without edits: the transaction depends on an object that it does not change.
  @Test func preconditionMayCoverOtherObject() throws {
    let scene = try PreconditionFixture()
    let tag = try scene.store.insert("Tag", ["name": .string("a")])
    let read = try scene.head()
    let depends = Change(.update, scene.note, base: read, onlyIf: Precondition(revision: read))
    let rename = try scene.store.update(tag, "Tag.name", .string("b"), base: read)
    scene.become("bob", 2)
    try scene.store.must([scene.change("y", .double(3))])
    scene.become("ann", 3)
    #expect(try scene.store.refusal([rename, depends])?.conflicts.map(\.id) == [scene.note])
    #expect(try scene.store.value(tag, "Tag.name") == .string("a"))
    let now = try scene.head()
    try scene.store.must([rename, Change(.update, scene.note, base: now, onlyIf: Precondition(revision: now))])
    #expect(try scene.store.value(tag, "Tag.name") == .string("b"))
  }

  @Test func deleteMayRequireUnchangedObject() throws {
    let scene = try PreconditionFixture()
    scene.become("bob", 2)
    try scene.store.must([scene.change("y", .double(3))])
    scene.become("ann", 3)
    let delete = Change(.delete, scene.note, base: scene.base, onlyIf: Precondition(revision: scene.base))
    #expect(try scene.store.refusal([delete], policy: .objectTrump)?.code == .conflict)
    #expect(try scene.store.image(scene.note) != nil)
  }

  @Test func deletedObjectViolatesPrecondition() throws {
    for policy in MergePolicy.allCases {
      let scene = try PreconditionFixture()
      scene.become("bob", 2)
      try scene.store.must([Change(.delete, scene.note)])
      let deletion = try scene.head()
      scene.become("ann", 3)
      let refusal = try scene.store.refusal([scene.set(6, at: scene.base, of: "x")], policy: policy)
      #expect(refusal?.code == .conflict, "\(policy)")
      #expect(
        refusal?.conflicts == [Conflict(kind: .deleted, id: scene.note, author: "bob", revision: deletion)],
        "\(policy)")
    }
  }

  /// A replica's commits come in order, and it knows them.
  @Test func commitsOfSameReplicaAreIgnored() throws {
    let scene = try PreconditionFixture()
    scene.become("ann", 3)
    try scene.store.must([scene.set(6, at: scene.base, of: "x")])
    try scene.store.must([scene.set(7, at: scene.base, of: "x")])
    try scene.store.must([scene.set(8, at: scene.base)])
    #expect(try scene.store.value(scene.note, "Note.x") == .double(8))
  }

  @Test func resentTransactionIsAnsweredAsBefore() throws {
    let scene = try PreconditionFixture()
    scene.become("ann", 3)
    let transaction = Transaction(id: scene.store.nextID(), changes: [try scene.set(6, at: scene.base, of: "x")])
    let request = WriteRequest.transaction(transaction, author: "ann")
    let first = try scene.store.store.commit([request], now: 1)[0].outcome
    scene.become("bob", 2)
    try scene.store.must([scene.change("x", .double(9))])
    #expect(try scene.store.store.commit([request], now: 2)[0].outcome == first)
  }

  /// A client that has read a state which its restored store no longer has, or does not know which of them it has read.
  @Test func stateOfLostPastCountsAsChanged() throws {
    for policy in MergePolicy.allCases {
      let scene = try PreconditionFixture()
      scene.become("cid", 3)
      let head = try scene.head()
      for revision in [1, head + 1, 9_999] {
        let refusal = try #require(try scene.store.refusal([scene.set(6, at: revision, of: "x")], policy: policy))
        #expect(refusal.code == .conflict, "\(revision)")
        #expect(refusal.conflicts.map(\.kind) == [.changed] && refusal.conflicts.map(\.id) == [scene.note])
        #expect(refusal.conflicts.map(\.revision) == [scene.base], "\(revision)")
      }
      #expect(try scene.head() == head)
    }
  }

  @Test func meaninglessPreconditionIsMalformed() throws {
    let scene = try PreconditionFixture()
    let head = try scene.head()
    for revision: Revision in [0, -1, .max] {
      #expect(try scene.store.refusal([scene.set(6, at: revision, of: "x")])?.code == .malformed, "\(revision)")
    }
    var insert = try scene.store.insertion("Tag", ["name": .string("a")])
    insert.onlyIf = Precondition(revision: head)
    #expect(try scene.store.refusal([insert])?.code == .malformed)
    // A property of another entity, and a relationship that the notes store.
    let board = try #require(try scene.store.value(scene.note, "Note.board").objectID)
    for path in ["Note.x", "Board.notes"] {
      let number = try scene.store.property(path).number
      let change = Change(
        .update, board, base: head, onlyIf: Precondition(revision: head, properties: [number]))
      #expect(try scene.store.refusal([change])?.code == .malformed, "\(path)")
    }
    #expect(try scene.head() == head)
  }
}
