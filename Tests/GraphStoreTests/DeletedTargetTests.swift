import GraphModel
import GraphTesting
import Testing

/// References to objects that another client has deleted. The table of docs/guides/conflicts.md has each policy's
/// decision; these tests show how far a decision goes.
@Suite struct DeletedTargetTests {
  private struct DeletedTargetFixture {
    let store: TestStore
    let boards: [ObjectID]
    let note: ObjectID
    let tags: [ObjectID]
    let base: Revision
    /// The revision in which Bob deleted the second board and the second tag.
    let deletion: Revision

    init() throws {
      store = try TestStore(try Fixtures.stickies())
      (store.author, store.replica) = ("ann", UniqueID(high: 1, low: 1))
      boards = try ["A", "B"].map { [store] in try store.insert("Board", ["name": .string($0)]) }
      tags = try ["a", "b"].map { [store] in try store.insert("Tag", ["name": .string($0)]) }
      note = try store.insert("Note", ["board": .object(boards[0]), "text": .string("the cat")])
      base = try store.store.head.revision
      (store.author, store.replica) = ("bob", UniqueID(high: 2, low: 2))
      try store.must([Change(.delete, boards[1], base: base), Change(.delete, tags[1], base: base)])
      (store.author, store.replica) = ("ann", UniqueID(high: 1, low: 1))
      deletion = try store.store.head.revision
    }

    func edit(_ path: String, _ action: Edit.Action) throws -> Edit { Edit(try store.property(path).number, action) }

    func committed(_ changes: [Change], _ policy: MergePolicy) throws -> CommitResult {
      switch try store.commit(changes, policy: policy).outcome {
      case .committed(let committed): return committed
      case .refused(let refusal): throw refusal
      }
    }

    func deleted(_ id: ObjectID) -> Conflict {
      Conflict(kind: .deleted, id: id, author: "bob", revision: deletion)
    }
  }

  @Test func bothEndsReportTheSameConflict() throws {
    for policy in MergePolicy.allCases {
      let scene = try DeletedTargetFixture()
      let fromNote = try scene.store.update(scene.note, "Note.board", .object(scene.boards[1]), base: scene.base)
      let fromBoard = Change(
        .update, scene.boards[1], base: scene.base,
        edits: [try scene.edit("Board.notes", .members(added: [scene.note], removed: []))])
      for change in [fromNote, fromBoard] {
        let outcome = try scene.store.commit([change], policy: policy).outcome
        switch outcome {
        case .refused(let refusal):
          #expect(policy == .error && refusal.code == .conflict, "\(policy): \(refusal)")
          #expect(refusal.conflicts == [scene.deleted(scene.boards[1])], "\(policy)")
          #expect(refusal.violations.isEmpty)
          #expect(refusal.message.contains("bob"))
        case .committed(let committed):
          #expect(policy != .error)
          #expect(committed.conflicts == [scene.deleted(scene.boards[1])], "\(policy)")
        }
      }
      #expect(try scene.store.value(scene.note, "Note.board") == .object(scene.boards[0]), "\(policy)")
      #expect(try StoreCheckRun(scene.store).findings.isEmpty)
    }
  }

  @Test func onlyReferenceIsDroppedAndRestCommitted() throws {
    for policy in MergePolicy.allCases where policy != .error {
      let scene = try DeletedTargetFixture()
      let tags = try scene.edit("Note.tags", .members(added: scene.tags, removed: []))
      let change = Change(
        .update, scene.note, base: scene.base,
        edits: [
          try scene.store.edit("Note.board", .object(scene.boards[1])), try scene.store.edit("Note.x", .double(9)),
          tags,
        ])
      let committed = try scene.committed([change], policy)
      #expect(committed.conflicts == [scene.deleted(scene.boards[1]), scene.deleted(scene.tags[1])], "\(policy)")
      #expect(try scene.store.value(scene.note, "Note.x") == .double(9), "\(policy)")
      #expect(try scene.store.value(scene.note, "Note.tags") == .objects([scene.tags[0]]), "\(policy)")
      #expect(try scene.store.value(scene.note, "Note.board") == .object(scene.boards[0]), "\(policy)")
      #expect(try StoreCheckRun(scene.store).findings.isEmpty)
    }
  }

  /// A third client has changed the board since, so `board` itself is in conflict: the deleted board must not win.
  @Test func conflictingReferenceNeverWinsOverDelete() throws {
    for policy in [MergePolicy.objectTrump, .overwrite] {
      let scene = try DeletedTargetFixture()
      let third = try scene.store.insert("Board", ["name": .string("C")])
      (scene.store.author, scene.store.replica) = ("cid", UniqueID(high: 3, low: 3))
      try scene.store.must([scene.store.update(scene.note, "Note.board", .object(third))])
      (scene.store.author, scene.store.replica) = ("ann", UniqueID(high: 1, low: 1))
      let change = try scene.store.update(scene.note, "Note.board", .object(scene.boards[1]), base: scene.base)
      #expect(try scene.committed([change], policy).conflicts == [scene.deleted(scene.boards[1])], "\(policy)")
      #expect(try scene.store.value(scene.note, "Note.board") == .object(third), "\(policy)")
    }
  }

  @Test func deleteConflictIsReportedOnce() throws {
    let scene = try DeletedTargetFixture()
    let other = try scene.store.insert("Note", ["board": .object(scene.boards[0])])
    let changes = try [scene.note, other].map {
      try scene.store.update($0, "Note.board", .object(scene.boards[1]), base: scene.base)
    }
    #expect(try scene.committed(changes, .objectTrump).conflicts == [scene.deleted(scene.boards[1])])
  }

  @Test func insertRequiringDeletedTargetConflictsUnderEveryPolicy() throws {
    for policy in MergePolicy.allCases {
      let scene = try DeletedTargetFixture()
      let note = try scene.store.insertion("Note", ["board": .object(scene.boards[1])])
      let refusal = try #require(try scene.store.refusal([note], policy: policy))
      #expect(refusal.code == .conflict, "\(policy)")
      #expect(refusal.conflicts == [scene.deleted(scene.boards[1])], "\(policy)")
      // Says which of the objects it would have been, by the id that the client knows.
      #expect(refusal.violations.map(\.id) == [note.id], "\(policy)")
      #expect(refusal.violations.map(\.property) == [try scene.store.property("Note.board").number], "\(policy)")
      #expect(try scene.store.all("Note").map(\.id) == [scene.note])
    }
  }

  @Test func otherViolationsAreReportedBesideDelete() throws {
    let scene = try DeletedTargetFixture()
    let board = try scene.store.property("Note.board")
    let refusal = try #require(
      try scene.store.refusal(
        [
          scene.store.insertion("Note", ["board": .object(scene.boards[1])]),
          scene.store.insertion("Board", ["name": .integer(1)]),
        ], policy: .objectTrump))
    #expect(refusal.code == .invalid)
    #expect(refusal.violations.contains { $0.property == board.number && $0.commonRule == .required })
    #expect(refusal.conflicts == [scene.deleted(scene.boards[1])])
  }

  /// Under `error`, the conflicts come first, and only the violations that they explain are named.
  @Test func otherViolationsAndConflictsDoNotHideRequiredReference() throws {
    let scene = try DeletedTargetFixture()
    let board = try scene.store.property("Note.board")
    let note = try scene.store.insertion("Note", ["board": .object(scene.boards[1])])
    let refusal = try #require(
      try scene.store.refusal([
        note, scene.store.insertion("Board", ["name": .integer(1)]),
        scene.store.update(scene.tags[1], "Tag.name", .string("c"), base: scene.base),
      ]))
    #expect(refusal.code == .conflict)
    #expect(refusal.conflicts == [scene.deleted(scene.boards[1]), scene.deleted(scene.tags[1])])
    #expect(refusal.violations.map(\.id) == [note.id] && refusal.violations.map(\.property) == [board.number])
  }

  @Test func unknownIDRemainsInvalid() throws {
    let scene = try DeletedTargetFixture()
    let stranger = ObjectID(key: UniqueID(high: 9, low: 9), entity: scene.boards[0].entity)
    // The tag was deleted, and is no board.
    for wrong in [stranger, scene.tags[1]] {
      let refusal = try scene.store.refusal([scene.store.update(scene.note, "Note.board", .object(wrong))])
      #expect(refusal?.code == .invalid && refusal?.violations.first?.commonRule == .destination, "\(wrong)")
    }
  }

  @Test func mergedInsertAddsOnlyExistingMembers() throws {
    let scene = try DeletedTargetFixture()
    let tag = try scene.store.insertion("Tag", ["name": .string("a"), "notes": .objects([scene.note])])
    let committed = try scene.committed([tag], .objectTrump)
    #expect(committed.conflicts.isEmpty)
    try scene.store.must([Change(.delete, scene.note)])
    let again = try scene.store.insertion("Tag", ["name": .string("a"), "notes": .objects([scene.note])])
    let met = try scene.committed([again], .objectTrump)
    #expect(met.identities.map(\.permanent) == [scene.tags[0]])
    #expect(met.conflicts.map(\.id) == [scene.note])
    #expect(met.conflicts.map(\.author) == ["ann"])
  }

  /// The reference is not an omitted value, which `overwrite` would replace by its default.
  @Test func mergedInsertKeepsStoredToOne() throws {
    for policy in MergePolicy.allCases where policy != .error {
      let scene = try DeletedTargetFixture()
      try scene.store.must([scene.store.update(scene.note, "Note.origin", .string("import 1"))])
      let again = try scene.store.insertion(
        "Note", ["origin": .string("import 1"), "board": .object(scene.boards[1]), "x": .double(9)])
      let committed = try scene.committed([again], policy)
      #expect(committed.identities.map(\.permanent) == [scene.note], "\(policy)")
      // The other values are decided as without the reference. If the stored ones stay, so does the reference.
      let isMine = [.objectTrump, .overwrite].contains(policy)
      let deletes = isMine ? [scene.deleted(scene.boards[1])] : []
      #expect(committed.conflicts.filter { $0.kind == .deleted } == deletes, "\(policy)")
      #expect(try scene.store.value(scene.note, "Note.board") == .object(scene.boards[0]), "\(policy)")
      #expect(try (scene.store.value(scene.note, "Note.x") == .double(9)) == isMine, "\(policy)")
      #expect(try StoreCheckRun(scene.store).findings.isEmpty)
    }
  }

  // MARK: - Batches of several slices

  /// Seven notes in slices of three.
  private func sceneWithNotes() throws -> DeletedTargetFixture {
    let scene = try DeletedTargetFixture()
    for _ in 0..<6 { _ = try scene.store.insert("Note", ["board": .object(scene.boards[0])]) }
    return scene
  }

  private func batch(
    _ scene: DeletedTargetFixture, _ operation: Batch.Operation, _ policy: MergePolicy, rows: [[Value]] = []
  ) throws -> CommitResult {
    switch try scene.store.batch("Note", operation, policy: policy, rows: rows).outcome {
    case .committed(let committed): return committed
    case .refused(let refusal): throw refusal
    }
  }

  private func refusal(
    _ scene: DeletedTargetFixture, _ operation: Batch.Operation, _ policy: MergePolicy, rows: [[Value]] = []
  ) throws -> Refusal? {
    switch try scene.store.batch("Note", operation, policy: policy, rows: rows).outcome {
    case .committed: return nil
    case .refused(let refusal): return refusal
    }
  }

  private func assignment(_ scene: DeletedTargetFixture, _ path: String, _ value: Value) throws -> Batch.Assignment {
    Batch.Assignment(try scene.store.property(path).number, .value(value))
  }

  @Test func slicedBatchDropsOnlyReference() throws {
    for policy in MergePolicy.allCases {
      let scene = try sceneWithNotes()
      let update = Batch.Operation.update(
        .always,
        [
          try assignment(scene, "Note.board", .object(scene.boards[1])), try assignment(scene, "Note.x", .double(9)),
          try assignment(scene, "Note.tags", .objects(scene.tags)),
        ])
      if policy == .error {
        let refusal = try #require(try refusal(scene, update, policy))
        #expect(refusal.code == .conflict, "\(refusal)")
        #expect(refusal.conflicts == [scene.deleted(scene.boards[1]), scene.deleted(scene.tags[1])])
        #expect(try scene.store.all("Note").allSatisfy { $0[try scene.store.property("Note.x")] != .double(9) })
        continue
      }
      let committed = try batch(scene, update, policy)
      #expect(committed.conflicts == [scene.deleted(scene.boards[1]), scene.deleted(scene.tags[1])], "\(policy)")
      let notes = try scene.store.all("Note")
      #expect(notes.count == 7)
      for note in notes {
        #expect(note[try scene.store.property("Note.x")] == .double(9), "\(policy)")
        #expect(note[try scene.store.property("Note.board")] == .object(scene.boards[0]), "\(policy)")
        #expect(note[try scene.store.property("Note.tags")] == .objects([scene.tags[0]]), "\(policy)")
      }
      #expect(try StoreCheckRun(scene.store).findings.isEmpty)
    }
  }

  @Test func slicedBatchOfDroppedReferencesMakesNoCommit() throws {
    let scene = try sceneWithNotes()
    let head = try scene.store.store.head.revision
    let update = Batch.Operation.update(
      .always, [try assignment(scene, "Note.board", .object(scene.boards[1]))])
    let committed = try batch(scene, update, .objectTrump)
    #expect(committed.revision == head)
    #expect(committed.conflicts == [scene.deleted(scene.boards[1])])
    #expect(try scene.store.store.head.revision == head)
  }

  @Test func slicedInsertThatRequiresDeletedTargetIsConflict() throws {
    for policy in MergePolicy.allCases {
      let scene = try sceneWithNotes()
      let board = try scene.store.property("Note.board").number
      let rows = (0..<7).map { [Value.object(scene.boards[$0 == 1 || $0 == 5 ? 1 : 0])] }
      let refusal = try #require(try refusal(scene, .insert([board], rows: 7), policy, rows: rows))
      #expect(refusal.code == .conflict, "\(policy): \(refusal)")
      #expect(refusal.conflicts == [scene.deleted(scene.boards[1])], "\(policy)")
      // Two rows of different slices, whose temporary ids are their numbers.
      let required = [2, 6].map { ObjectID.temporary($0, entity: scene.note.entity) }
      #expect(refusal.violations.map(\.id) == required, "\(policy)")
      #expect(try scene.store.all("Note").count == 7)
    }
  }

  @Test func unknownIDInSlicedBatchRemainsInvalid() throws {
    let scene = try sceneWithNotes()
    let stranger = ObjectID(key: UniqueID(high: 9, low: 9), entity: scene.boards[0].entity)
    let update = Batch.Operation.update(.always, [try assignment(scene, "Note.board", .object(stranger))])
    let refusal = try #require(try refusal(scene, update, .objectTrump))
    #expect(refusal.code == .invalid && refusal.violations.first?.commonRule == .destination, "\(refusal)")
  }

  @Test func slicedBatchMayReferToSoManyDeletedObjects() throws {
    let scene = try DeletedTargetFixture()
    let limit = Batch.maximumDeletedTargets
    let names = try (0...limit).map { try scene.store.insertion("Tag", ["name": .string("t\($0)")]) }
    let tags = try scene.committed(names, .error).identities.map(\.permanent)
    try #require(tags.count == limit + 1)
    try scene.store.must(tags.map { Change(.delete, $0) })
    let properties = try ["Note.board", "Note.tags"].map { try scene.store.property($0).number }
    for (count, isRefused) in [(limit, false), (limit + 1, true)] {
      let rows = tags.prefix(count).map { [Value.object(scene.boards[0]), .objects([$0])] }
      let operation = Batch.Operation.insert(properties, rows: count)
      if isRefused {
        let refusal = try #require(try refusal(scene, operation, .objectTrump, rows: rows))
        #expect(refusal.code == .conflict)
        #expect(refusal.conflicts.count == Batch.maximumViolations)
        #expect(refusal.message.contains("1000 deleted objects"), "\(refusal)")
      } else {
        #expect(try batch(scene, operation, .objectTrump, rows: rows).conflicts.count == count)
      }
    }
    #expect(try scene.store.all("Note").count == 1 + limit)
  }
}
