import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Restores of deleted or changed objects: one object, an object with its contents, the whole graph.
@Suite struct RestoreTests {
  let store: TestStore
  let board: ObjectID

  init() throws {
    store = try TestStore(try Fixtures.stickies())
    store.author = "zoe"
    board = try store.insert("Board", ["name": .string("B")])
    store.author = "ann"
  }

  private func note(_ text: String = "hello", on other: ObjectID? = nil, tags: [ObjectID] = []) throws -> ObjectID {
    try store.insert(
      "Note", ["board": .object(other ?? board), "text": .string(text), "tags": .objects(tags)])
  }

  private func everything() throws -> [ObjectID: [Value]] {
    var all = [ObjectID: [Value]]()
    for entity in ["Board", "Note", "Tag", "Link"] {
      for image in try store.all(entity) { all[image.id] = image.values }
    }
    return all
  }

  private func head() throws -> Revision { try store.store.head.revision }

  // MARK: - An object

  @Test func deletedNoteIsRestored() throws {
    let tag = try store.insert("Tag", ["name": .string("t")])
    let first = try note("first", tags: [tag])
    let second = try note("second")
    try store.must([store.insertion("Link", ["from": .object(first), "to": .object(second)])])
    let before = try everything()
    try store.must([Change(.delete, first)])
    #expect(try store.all("Link").isEmpty)
    let committed = try store.taken(store.restore(.contents(first)))
    #expect(committed.conflicts.isEmpty)
    #expect(try everything() == before)
    #expect(try store.value(first, "Note.number") == .integer(1))
    #expect(try store.refused(store.restore(.contents(first))).code == .malformed)
    try store.expectSound()
  }

  @Test func objectIsRestoredWithoutItsContents() throws {
    let (first, second) = (try note(), try note())
    try store.must([store.insertion("Link", ["from": .object(first), "to": .object(second)])])
    try store.must([Change(.delete, first)])
    #expect(try store.taken(store.restore(.object(first))).conflicts.isEmpty)
    #expect(try store.image(first) != nil)
    #expect(try store.all("Link").isEmpty)
  }

  @Test func boardIsRestoredWithItsContents() throws {
    let other = try store.insert("Board", ["name": .string("other")])
    let notes = try (0..<4).map { try note("note \($0)") }
    let stays = try note("elsewhere", on: other)
    try store.must([store.insertion("Link", ["from": .object(notes[0]), "to": .object(stays)])])
    let before = try everything()
    try store.must([Change(.delete, board)])
    #expect(try everything().count == 2)
    try store.must([store.update(stays, "Note.x", .double(7))])
    #expect(try store.taken(store.restore(.contents(board))).conflicts.isEmpty)
    var expected = before
    expected[stays] = try #require(try store.image(stays)).values
    #expect(try everything() == expected)
    try store.expectSound()
  }

  @Test func existingObjectsAreRevertedAndNewOnesKept() throws {
    let other = try store.insert("Board", ["name": .string("other")])
    let (first, second) = (try note("first"), try note("second"))
    let before = try everything()
    let revision = try head()
    try store.must([store.update(board, "Board.name", .string("renamed"))])
    try store.must([store.update(first, "Note.board", .object(other)), store.update(first, "Note.x", .double(9))])
    try store.must([Change(.delete, second)])
    let new = try note("new")
    #expect(try store.taken(store.restore(.contents(board), at: revision)).conflicts.isEmpty)
    var after = try everything()
    let made = after.removeValue(forKey: new)
    #expect(made != nil)
    let updated = try #require(try store.property("Note.updated").slot)
    #expect(after.keys.sorted() == before.keys.sorted())
    for (id, values) in before {
      for (slot, value) in values.enumerated() where id.entity != new.entity || slot != updated {
        #expect(after[id]?[slot] == value)
      }
    }
    try store.expectSound()
  }

  @Test func textIsRestoredByMinimalSplice() throws {
    let first = try note("the cat sat on the mat")
    let revision = try head()
    try store.must([store.update(first, "Note.text", .string("the dog sat on the mat"))])
    let record = try #require(try store.restore(.object(first), at: revision).record)
    #expect(try store.value(first, "Note.text") == .string("the cat sat on the mat"))
    let text = try store.property("Note.text").number
    let edit = try #require(record.changes.first?.edits.first { $0.property == text })
    guard case .splice(let splices) = edit.action else {
      Issue.record("\(edit)")
      return
    }
    #expect(splices.map(\.insertion.utf8.count) == [3])
  }

  // MARK: - Omitted values

  @Test func deletedTagIsOmittedAndReported() throws {
    let (kept, gone) = (
      try store.insert("Tag", ["name": .string("kept")]), try store.insert("Tag", ["name": .string("gone")])
    )
    let first = try note(tags: [kept, gone])
    try store.must([Change(.delete, first)])
    try store.by("bob") { try store.must([Change(.delete, gone)]) }
    let conflict = try #require(try store.taken(store.restore(.contents(first))).conflicts.first)
    #expect(conflict.kind == .deleted)
    #expect(conflict.id == first)
    #expect(conflict.property == (try store.property("Note.tags").number))
    #expect(conflict.mine == .object(gone))
    #expect(conflict.author == "bob")
    #expect(try store.value(first, "Note.tags") == .objects([kept]))
  }

  @Test func objectRequiringDeletedObjectIsRefused() throws {
    let first = try note()
    try store.must([Change(.delete, first)])
    try store.by("bob") { try store.must([Change(.delete, board)]) }
    let refusal = try store.refused(store.restore(.contents(first)))
    #expect(refusal.code == .conflict)
    #expect(refusal.conflicts.map(\.author) == ["bob"])
    #expect(try everything().isEmpty)
  }

  /// The only differences can't be restored, so there is no commit.
  @Test func restoreWithoutRestorableChangesIsRefused() throws {
    let gone = try store.insert("Tag", ["name": .string("gone")])
    let first = try note(tags: [gone])
    let then = try head()
    try store.by("bob") { try store.must([Change(.delete, gone)]) }
    let now = try head()
    for scope in [RestoreRequest.Scope.object(first), .contents(first)] {
      let refusal = try store.refused(store.restore(scope, at: then))
      #expect(refusal.code == .conflict)
      #expect(refusal.message == "nothing can be restored: the related objects were deleted")
      #expect(refusal.conflicts.map(\.author) == ["bob"])
    }
    #expect(try head() == now)
    let same = try store.refused(store.restore(.object(first), at: now))
    #expect(same.message == "there is nothing to restore: the objects already have that state")
  }

  @Test func restoreToRevisionZeroEmptiesGraph() throws {
    _ = try note()
    let before = try everything()
    let request = RestoreRequest(store.nextID(), .everything, at: 0)
    #expect(try RestoreRequest(binary: request.binary) == request)
    #expect(try RestoreRequest(binary: RestoreRequest(store.nextID(), .everything).binary).revision == nil)
    _ = try store.taken(store.restore(.everything, at: 0))
    #expect(try everything().isEmpty)
    _ = try store.undo()
    #expect(try everything() == before)
    // A request without a revision does not mean the empty graph.
    #expect(try store.refused(store.restore(.everything)).code == .malformed)
  }

  @Test func takenNameRefusesRestore() throws {
    let tag = try store.insert("Tag", ["name": .string("t")])
    try store.must([Change(.delete, tag)])
    _ = try store.insert("Tag", ["name": .string("t")])
    #expect(try store.refused(store.restore(.contents(tag))).code == .unique)
  }

  @Test func optionalReferrersReferAgain() throws {
    let store = try TestStore(try Fixtures.workplace())
    let department = try store.insert("Department")
    let team = try store.insert("Team")
    let people = try ["A", "B", "C"].map {
      try store.insert("Person", ["name": .string($0), "unit": .object(department)])
    }
    try store.must([Change(.delete, department)])
    try store.by("bob") {
      try store.must([store.update(people[1], "Person.unit", .object(team))])
      try store.must([Change(.delete, people[2])])
    }
    let conflicts = try store.taken(store.restore(.contents(department))).conflicts
    #expect(try store.value(people[0], "Person.unit") == .object(department))
    #expect(try store.value(people[1], "Person.unit") == .object(team))
    #expect(try store.value(department, "Department.headcount") == .integer(1))
    let taken = try #require(conflicts.first { $0.kind == .changed })
    #expect(taken.id == people[1])
    #expect(taken.theirs == .object(team))
    #expect(taken.author == "bob")
    let gone = try #require(conflicts.first { $0.kind == .deleted })
    #expect(gone.mine == .object(people[2]))
    #expect(conflicts.count == 2)
    try store.expectSound()
  }

  @Test func positionIsRestoredWithItsMember() throws {
    let store = try TestStore(try Fixtures.ordered())
    let project = try store.insert("Project")
    let steps = try ["a", "b", "c"].map {
      try store.insert("Step", ["label": .string($0), "project": .object(project)])
    }
    let place = try store.property("Step.project.order")
    let before = try steps.map { try store.image($0)?[place] }
    try store.must([Change(.delete, steps[1])])
    try store.taken(store.restore(.contents(steps[1])))
    #expect(try steps.map { try store.image($0)?[place] } == before)
    try store.expectSound()
  }

  // MARK: - The whole graph

  @Test func wholeGraphRestoreDeletesNewObjects() throws {
    let first = try note("first")
    let before = try everything()
    let revision = try head()
    let other = try store.insert("Board", ["name": .string("other")])
    try store.must([store.update(first, "Note.board", .object(other))])
    let tag = try store.insert("Tag", ["name": .string("t")])
    try store.must([Change(.delete, board)])
    #expect(try store.refused(store.restore(.everything)).code == .malformed)
    #expect(try store.taken(store.restore(.everything, at: revision)).conflicts.isEmpty)
    #expect(try store.image(other) == nil)
    #expect(try store.image(tag) == nil)
    #expect(try everything().keys.sorted() == before.keys.sorted())
    #expect(try store.value(first, "Note.board") == .object(board))
    #expect(try store.refused(store.restore(.everything, at: revision)).code == .conflict)
    // The restore is an ordinary commit of its author.
    try store.taken(store.undo())
    #expect(try store.image(tag) != nil)
    #expect(try store.value(first, "Note.board") == .object(other))
    try store.expectSound()
  }

  // MARK: - Bad input

  @Test func unknownRevisionsAndObjectsAreRefused() throws {
    let first = try note()
    let revision = try head()
    #expect(try store.refused(store.restore(.contents(first), at: revision + 1)).code == .notFound)
    #expect(try store.refused(store.restore(.contents(first), at: -1)).code == .malformed)
    #expect(try store.refused(store.restore(.contents(first), at: revision - 1)).code == .notFound)
    let never = ObjectID(key: UniqueID(high: 9, low: 9), entity: first.entity)
    #expect(try store.refused(store.restore(.contents(never))).code == .notFound)
    #expect(try store.refused(store.restore(.contents(first), at: revision)).code == .conflict)
  }

  @Test func resentRestoreIsCommittedOnce() throws {
    let first = try note()
    try store.must([Change(.delete, first)])
    let request = RestoreRequest(store.nextID(), .contents(first))
    let results = try store.store.commit(
      [.restore(request, author: "ann"), .restore(request, author: "ann")], now: store.now)
    #expect(results[0].outcome == results[1].outcome)
    #expect(results[1].record == nil)
  }
}

extension TestStore {
  func restore(_ scope: RestoreRequest.Scope, at revision: Revision? = nil) throws -> WriteResult {
    now += 1_000_000
    let request = RestoreRequest(nextID(), scope, at: revision)
    return try store.commit([.restore(request, author: Principal(author: author))], now: now)[0]
  }
}
