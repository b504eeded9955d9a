import GraphModel
import GraphTesting
import Testing

/// Cases beyond the table of docs/guides/conflicts.md: `overwrite` and `rollback` beyond one property, inserts that
/// meet a key, texts that were replaced.
@Suite struct WholeObjectPolicyTests {
  private struct PolicyFixture {
    let store: TestStore
    let board: ObjectID
    let note: ObjectID
    let base: Revision

    init() throws {
      store = try TestStore(try Fixtures.stickies())
      board = try store.insert("Board", ["name": .string("B")])
      note = try store.insert("Note", ["board": .object(board), "text": .string("the cat")])
      base = try store.store.head.revision
    }

    func bob() { (store.author, store.replica) = ("bob", UniqueID(high: 2, low: 2)) }

    func ann() { (store.author, store.replica) = ("ann", UniqueID(high: 3, low: 3)) }

    func set(_ property: String, _ value: Value, base: Revision? = nil) throws -> Change {
      try store.update(note, "Note.\(property)", value, base: base ?? self.base)
    }

    func type(_ offset: Int, _ length: Int, _ words: String, base: Revision? = nil) throws -> Change {
      let splice = TextSplice(offset: offset, length: length, insertion: words)
      let edit = Edit(try store.property("Note.text").number, .splice([splice]))
      return Change(.update, note, base: base ?? self.base, edits: [edit])
    }

    func value(_ property: String) throws -> Value { try store.value(note, "Note.\(property)") }

    func conflicts(_ changes: [Change], _ policy: MergePolicy) throws -> [Conflict] {
      switch try store.commit(changes, policy: policy).outcome {
      case .committed(let committed): return committed.conflicts
      case .refused(let refusal): throw refusal
      }
    }
  }

  @Test func overwriteKeepsChangesSeenByItsAuthor() throws {
    let scene = try PolicyFixture()
    scene.bob()
    try scene.store.must([scene.set("x", .double(5)), scene.set("y", .double(5))])
    let seen = try scene.store.store.head.revision
    try scene.store.must([scene.set("z", .double(5), base: seen)])
    scene.ann()
    // Her edit began before Bob's first commit, which she had seen when she saved.
    let sight = Change(.update, scene.note, base: seen)
    let reported = try scene.conflicts([scene.set("x", .double(9)), sight], .overwrite)
    #expect(try scene.value("x") == .double(9))
    #expect(try scene.value("y") == .double(5))
    #expect(try scene.value("z") == .double(0))
    #expect(reported.map(\.theirs) == [.double(5), .double(5)])
    #expect(reported.map(\.mine) == [.double(0), .double(9)])
  }

  @Test func overwriteKeepsCommitsOfSameReplica() throws {
    let scene = try PolicyFixture()
    scene.ann()
    try scene.store.must([scene.set("y", .double(3))])
    scene.bob()
    try scene.store.must([scene.set("x", .double(5), base: .max), scene.set("y", .double(7), base: .max)])
    scene.ann()
    _ = try scene.conflicts([scene.set("x", .double(9))], .overwrite)
    #expect(try scene.value("x") == .double(9))
    #expect(try scene.value("y") == .double(3))
  }

  @Test func overwriteAddsNothingToDeletedBoard() throws {
    let scene = try PolicyFixture()
    let other = try scene.store.insert("Board", ["name": .string("other")])
    scene.bob()
    try scene.store.must([scene.set("board", .object(other)), scene.set("x", .double(5))])
    try scene.store.must([Change(.delete, scene.board)])
    scene.ann()
    let reported = try scene.conflicts([scene.set("x", .double(9))], .overwrite)
    #expect(try scene.value("board") == .object(other))
    #expect(try scene.value("x") == .double(9))
    #expect(reported.count == 1)
    #expect(try StoreCheckRun(scene.store).findings.isEmpty)
  }

  @Test func rollbackDropsAllEditsOfObject() throws {
    let scene = try PolicyFixture()
    scene.bob()
    try scene.store.must([scene.set("x", .double(5))])
    let now = try scene.store.store.head.revision
    scene.ann()
    // A context says texts against what is stored, and everything else against where the edit began.
    let reported = try scene.conflicts([scene.type(0, 3, "a", base: now), scene.set("x", .double(9))], .rollback)
    #expect(try scene.value("text") == .string("the cat"))
    #expect(try scene.value("x") == .double(5))
    #expect(reported.map(\.mine) == [.string("a cat"), .double(9)])
    #expect(reported.allSatisfy { !$0.mineWon && $0.author == "bob" && $0.revision == now })
  }

  @Test func rollbackKeepsEditsOfOtherObjects() throws {
    let scene = try PolicyFixture()
    scene.bob()
    try scene.store.must([scene.set("x", .double(5))])
    scene.ann()
    let board = try scene.store.update(scene.board, "Board.name", .string("renamed"), base: scene.base)
    let reported = try scene.conflicts([scene.set("x", .double(9)), board], .rollback)
    #expect(reported.count == 1)
    #expect(try scene.store.value(scene.board, "Board.name") == .string("renamed"))
  }

  @Test func spliceOfReplacedTextConflictsWithBothTexts() throws {
    for policy in MergePolicy.allCases {
      // The notes' text is never null; a biography can be.
      let company = try TestStore(try Fixtures.company())
      let person = try company.insert("Person", ["name": .string("p"), "bio": .string("the cat")])
      let base = try company.store.head.revision
      (company.author, company.replica) = ("bob", UniqueID(high: 2, low: 2))
      try company.must([company.update(person, "Person.bio", .null, base: base)])
      (company.author, company.replica) = ("ann", UniqueID(high: 3, low: 3))
      let splice = TextSplice(offset: 4, length: 3, insertion: "dog")
      let edit = Edit(try company.property("Person.bio").number, .splice([splice]))
      let outcome = try company.commit([Change(.update, person, base: base, edits: [edit])], policy: policy).outcome
      let reported: [Conflict]
      switch outcome {
      case .committed(let committed): reported = committed.conflicts
      case .refused(let refusal):
        #expect(policy == .error && refusal.code == .conflict, "\(policy): \(refusal)")
        reported = refusal.conflicts
      }
      #expect(reported.map(\.mine) == [.string("the dog")], "\(policy)")
      #expect(reported.map(\.theirs) == [.null], "\(policy)")
      let wins = policy == .objectTrump || policy == .overwrite
      #expect(try company.value(person, "Person.bio") == (wins ? .string("the dog") : .null), "\(policy)")
    }
  }

  @Test func concurrentFirstTextsAreMerged() throws {
    let company = try TestStore(try Fixtures.company())
    let person = try company.insert("Person", ["name": .string("p")])
    let base = try company.store.head.revision
    for (number, words) in [(UInt64(2), "bob"), (3, "ann")] {
      company.replica = UniqueID(high: number, low: number)
      let edit = Edit(
        try company.property("Person.bio").number, .splice([TextSplice(offset: 0, length: 0, insertion: words)]))
      try company.must([Change(.update, person, base: base, edits: [edit])])
    }
    #expect(try company.value(person, "Person.bio") == .string("bobann"))
    _ = try company.undo()
    #expect(try StoreCheckRun(company).findings.isEmpty)
  }

  @Test func mergedInsertAddsToManyMembersOnly() throws {
    for policy in [MergePolicy.storeTrump, .objectTrump, .overwrite] {
      let scene = try PolicyFixture()
      let first = try scene.store.insert("Tag", ["name": .string("foo")])
      try scene.store.must([scene.set("tags", .objects([first]))])
      let other = try scene.store.insert("Note", ["board": .object(scene.board)])
      let tag = try scene.store.insertion("Tag", ["name": .string("foo"), "notes": .objects([other])])
      #expect(try scene.store.must([tag], policy: policy) == [first])
      #expect(try scene.value("tags") == .objects([first]), "\(policy)")
      #expect(try scene.store.value(other, "Note.tags") == .objects([first]), "\(policy)")
    }
  }

  @Test func mergedInsertOverwritesWithDefaults() throws {
    for (policy, color) in [(MergePolicy.objectTrump, "green"), (.overwrite, nil), (.storeTrump, "green")] {
      let scene = try PolicyFixture()
      scene.bob()
      let met = try scene.store.insert("Board", ["name": .string("C"), "color": .string("green")])
      scene.ann()
      let insert = try scene.store.insertion("Board", ["name": .string("C")])
      let reported = try scene.conflicts([insert], policy)
      let ordinary = try scene.store.value(scene.board, "Board.color")
      #expect(ordinary != .string("green"))
      #expect(try scene.store.value(met, "Board.color") == color.map(Value.string) ?? ordinary, "\(policy)")
      #expect(reported.map(\.kind) == (policy == .overwrite ? [.unique] : []), "\(policy)")
    }
  }

  @Test func equalConcurrentTagInsertsAreNoConflict() throws {
    let scene = try PolicyFixture()
    scene.bob()
    let first = try scene.store.insert("Tag", ["name": .string("foo")])
    scene.ann()
    let insert = try scene.store.insertion("Tag", ["name": .string("foo")])
    #expect(try scene.conflicts([insert], .objectTrump).isEmpty)
    #expect(try scene.store.all("Tag").map(\.id) == [first])
  }
}
