import GraphModel
import GraphTesting
import Testing

/// A conflict names the commit that last set its property. Where a property falls with its object, it says so.
@Suite struct ConflictAuthorTests {
  private struct ConflictFixture {
    let store: TestStore
    let note: ObjectID
    let base: Revision

    init() throws {
      store = try TestStore(try Fixtures.stickies())
      let board = try store.insert("Board", ["name": .string("B")])
      note = try store.insert("Note", ["board": .object(board), "text": .string("the cat")])
      base = try store.store.head.revision
    }

    func set(_ property: String, _ value: Double, base: Revision? = nil) throws -> Change {
      try store.update(note, "Note.\(property)", .double(value), base: base ?? self.base)
    }

    func type(_ offset: Int, _ length: Int, _ words: String) throws -> Change {
      let splice = TextSplice(offset: offset, length: length, insertion: words)
      return Change(
        .update, note, base: base, edits: [Edit(try store.property("Note.text").number, .splice([splice]))])
    }

    /// Commits as someone; the revision.
    @discardableResult
    func commit(_ author: String, _ replica: UInt64, _ changes: Change...) throws -> Revision {
      (store.author, store.replica) = (author, UniqueID(high: replica, low: replica))
      try store.must(changes)
      return try store.store.head.revision
    }

    func conflicts(_ policy: MergePolicy, _ changes: Change...) throws -> [Conflict] {
      (store.author, store.replica) = ("ann", UniqueID(high: 1, low: 1))
      switch try store.commit(changes, policy: policy).outcome {
      case .committed(let committed): return committed.conflicts
      case .refused(let refusal): return refusal.conflicts
      }
    }

    func summary(_ conflict: Conflict) -> String {
      let name = store.model.property(conflict.property)?.name ?? "object"
      return "\(name) \(conflict.author) \(conflict.revision)" + (conflict.isCollateral ? " collateral" : "")
    }
  }

  /// Ann has read Bob's value and replaced it: the present value is hers, so there is no conflict.
  @Test func ownValueIsNoConflict() throws {
    for policy in MergePolicy.allCases {
      let scene = try ConflictFixture()
      let read = try scene.commit("bob", 2, scene.set("x", 5))
      try scene.commit("ann", 1, scene.set("x", 7, base: read))
      #expect(try scene.conflicts(policy, scene.set("x", 9)).isEmpty, "\(policy)")
      #expect(try scene.store.value(scene.note, "Note.x") == .double(9), "\(policy)")
    }
  }

  @Test func laterValueOfOtherIsReportedWithAuthor() throws {
    for policy in MergePolicy.allCases {
      let scene = try ConflictFixture()
      let read = try scene.commit("bob", 2, scene.set("x", 5))
      let own = try scene.commit("ann", 1, scene.set("x", 7, base: read))
      let last = try scene.commit("cid", 3, scene.set("x", 8, base: own))
      let conflicts = try scene.conflicts(policy, scene.set("x", 9))
      #expect(conflicts.map(scene.summary) == ["x cid \(last)"], "\(policy)")
      #expect(conflicts.map(\.theirs) == [.double(8)], "\(policy)")
    }
  }

  /// Ann typed without having read Bob's text: a text set as a whole would remove his words.
  @Test func mergedTextDoesNotCountAsRead() throws {
    let scene = try ConflictFixture()
    let theirs = try scene.commit("bob", 2, scene.type(7, 0, " sat"))
    try scene.commit("ann", 1, scene.type(0, 3, "a"))
    let whole = try scene.store.update(scene.note, "Note.text", .string("a dog"), base: scene.base)
    #expect(try scene.conflicts(.error, whole).map(scene.summary) == ["text bob \(theirs)"])
  }

  /// Bob has changed x, Cid has changed y, Ann saves x, y and z: z falls with the object, over the newest conflict.
  @Test func rollbackReportsAuthorOrDecidingConflictPerProperty() throws {
    let scene = try ConflictFixture()
    let first = try scene.commit("bob", 2, scene.set("x", 5))
    let second = try scene.commit("cid", 3, scene.set("y", 5, base: first))
    // Ann does not save this property: it is no conflict of hers.
    try scene.commit("dan", 4, scene.set("width", 300, base: second))
    let conflicts = try scene.conflicts(.rollback, scene.set("z", 9), scene.set("x", 9), scene.set("y", 9))
    #expect(
      conflicts.map(scene.summary).sorted() == ["x bob \(first)", "y cid \(second)", "z cid \(second) collateral"])
  }

  @Test func rollbackOfOwnValuesReportsDecidingConflict() throws {
    let scene = try ConflictFixture()
    let first = try scene.commit("bob", 2, scene.set("z", 3))
    let own = try scene.commit("ann", 1, scene.set("z", 4, base: first))
    let second = try scene.commit("cid", 3, scene.set("x", 5, base: own))
    let conflicts = try scene.conflicts(.rollback, scene.set("z", 9), scene.set("x", 9))
    #expect(conflicts.map(scene.summary).sorted() == ["x cid \(second)", "z cid \(second) collateral"])
  }

  /// The conflict of a value that `overwrite` reverts names the commit that set it.
  @Test func overwriteReportsAuthorOfEachRevertedProperty() throws {
    let scene = try ConflictFixture()
    let first = try scene.commit("bob", 2, scene.set("x", 5))
    let second = try scene.commit("cid", 3, scene.set("y", 5, base: first))
    try scene.commit("dan", 4, scene.type(7, 0, " sat"))
    let third = try scene.store.store.head.revision
    let conflicts = try scene.conflicts(.overwrite, scene.set("x", 9))
    #expect(
      conflicts.map(scene.summary).sorted() == [
        "text dan \(third) collateral", "x bob \(first)", "y cid \(second) collateral",
      ])
    let mineWon = conflicts.map(\.mineWon)
    #expect(mineWon == [true, true, true])
  }

  /// The unique key was given in another commit than the object's last.
  @Test func uniqueKeyConflictReportsItsCommit() throws {
    let scene = try ConflictFixture()
    (scene.store.author, scene.store.replica) = ("bob", UniqueID(high: 2, low: 2))
    let other = try scene.store.insert("Board", ["name": .string("C")])
    let given = try scene.store.store.head.revision
    try scene.commit("cid", 3, scene.store.update(other, "Board.color", .string("green")))
    let insert = try scene.store.insertion("Board", ["name": .string("C")])
    let conflicts = try scene.conflicts(.error, insert)
    #expect(conflicts.map(scene.summary) == ["name bob \(given)"])
  }

  /// The commit keeps the answered conflicts, including the mark of a collateral one.
  @Test func collateralConflictIsStored() throws {
    let scene = try ConflictFixture()
    try scene.commit("bob", 2, scene.set("x", 5))
    (scene.store.author, scene.store.replica) = ("ann", UniqueID(high: 1, low: 1))
    let transaction = Transaction(
      id: scene.store.nextID(), policy: .rollback, changes: [try scene.set("x", 9), try scene.set("z", 9)])
    let request = WriteRequest.transaction(transaction, author: "ann")
    let first = try scene.store.store.commit([request], now: 1)[0].outcome
    try scene.store.reopen()
    #expect(try scene.store.store.commit([request], now: 2)[0].outcome == first)
    guard case .committed(let committed) = first else {
      Issue.record("it was committed")
      return
    }
    #expect(committed.conflicts.map(\.isCollateral) == [false, true])
  }
}
