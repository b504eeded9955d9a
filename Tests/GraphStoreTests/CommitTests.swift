import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

@Suite struct CommitTests {
  @Test func objectLargerThanFrameIsRefused() throws {
    let source = """
      {"format": 1, "name": "Album", "version": 1,
       "entities": [{"name": "Photo", "attributes": [{"name": "pixels", "type": "data"}]}]}
      """
    let store = try TestStore(try Model(parsing: source.utf8))
    func photo(_ bytes: Int) throws -> Outcome {
      try store.commit([store.insertion("Photo", ["pixels": .data([UInt8](repeating: 7, count: bytes))])]).outcome
    }
    guard case .committed = try photo(ObjectImage.maximumSize - 1_000) else {
      Issue.record("a photo below the limit is refused")
      return
    }
    guard case .refused(let refusal) = try photo(ObjectImage.maximumSize) else {
      Issue.record("a photo above the limit is taken")
      return
    }
    #expect(refusal.code == .limit)
    #expect(refusal.message.contains("at most \(ObjectImage.maximumSize) are allowed"))
  }

  @Test func historyReadIsLimitedInBytes() throws {
    let store = try TestStore(try Fixtures.stickies())
    for name in ["a", "b", "c"] { _ = try store.insert("Board", ["name": .string(name)]) }
    let all = try store.store.commits(after: 0, through: nil, maximumChanges: 10)
    let bytes = all.reduce(0) { $0 + $1.approximateSize }
    #expect(
      try store.store.commits(after: 0, through: nil, maximumChanges: 10, maximumBytes: bytes) == all)
    let refusal = #expect(throws: Refusal.self) {
      try store.store.commits(after: 0, through: nil, maximumChanges: 10, maximumBytes: bytes - 1)
    }
    #expect(refusal?.code == .limit)
  }

  @Test func insertAssignsIDDefaultsAndSequence() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["text": .string("hi"), "board": .object(board)])
    #expect(!note.isTemporary)
    #expect(try store.value(note, "Note.number") == .integer(1))
    #expect(try store.value(note, "Note.color") == .string("yellow"))
    #expect(try store.value(note, "Note.created") == .date(store.now))
    #expect(try store.value(note, "Note.tags") == .objects([]))
  }

  @Test func importKeepsDatesButNotNumbers() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["board": .object(board), "created": .date(5), "updated": .date(6)])
    #expect(try store.value(note, "Note.created") == .date(5))
    #expect(try store.value(note, "Note.updated") == .date(6))
    let refusal = try store.refusal([store.insertion("Note", ["board": .object(board), "number": .integer(77)])])
    #expect(refusal?.violations.map(\.rule) == ["assigned"])
  }

  @Test func sequenceNeverRepeats() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let first = try store.insert("Note", ["board": .object(board)])
    try store.must([Change(.delete, first)])
    try store.reopen()
    let second = try store.insert("Note", ["board": .object(board)])
    #expect(try store.value(second, "Note.number") == .integer(2))
  }

  @Test func repeatedSaveCommitsOnceAndIsAnsweredTwice() throws {
    let store = try TestStore(try Fixtures.stickies())
    let transaction = Transaction(
      id: store.nextID(), changes: [try store.insertion("Board", ["name": .string("B")])])
    let request = WriteRequest.transaction(transaction, author: "ann")
    let first = try store.store.commit([request], now: 1)[0]
    try store.reopen()
    let second = try store.store.commit([request, request], now: 2)
    #expect(second.map(\.outcome) == [first.outcome, first.outcome])
    #expect(second.allSatisfy { $0.record == nil })
    #expect(try store.all("Board").count == 1)
  }

  @Test func refusedTransactionDoesNotAffectItsGroup() throws {
    let store = try TestStore(try Fixtures.stickies())
    let changes = try ["A", "A", "B"].map { try store.insertion("Board", ["name": .string($0)]) }
    let requests = changes.map {
      WriteRequest.transaction(Transaction(id: store.nextID(), changes: [$0]), author: "ann")
    }
    let results = try store.store.commit(requests, now: 1)
    #expect(results.map { $0.record?.revision } == [1, nil, 2])
    if case .refused(let refusal) = results[1].outcome { #expect(refusal.code == .unique) }
    #expect(try store.all("Board").count == 2)
  }

  @Test func allErrorsAreReportedTogether() throws {
    let store = try TestStore(try Fixtures.company())
    let refusal = try store.refusal([
      store.insertion("Person", ["name": .string(""), "age": .integer(200), "level": .string("boss")]),
      store.insertion("Step", ["label": .null]),
    ])
    #expect(Set(refusal?.violations.map(\.rule) ?? []) == ["type", "minimumLength", "maximum", "required"])
    #expect(refusal?.violations.count == 5)
    let again = try store.refusal([
      store.insertion("Person", ["name": .string(""), "age": .integer(200)]), store.insertion("Step", [:]),
    ])
    #expect(Set(again?.violations.map(\.rule) ?? []) == ["minimumLength", "maximum", "required"])
    #expect(again?.violations.count == 4)
    #expect(try store.store.head.revision == 0)
  }

  /// A value that could not be set is not validated; everything else is, of the same object and of others.
  @Test func unsettablePropertyNeitherHidesNorCausesErrors() throws {
    let store = try TestStore(try Fixtures.company())
    let ann = try store.insert("Person", ["name": .string("Ann")])
    let project = try #require(store.model.entity(named: "Project"))
    let nobody = ObjectID(key: UniqueID(high: 1, low: 2), entity: project.number)
    let refusal = try store.refusal([
      // Its required project is wrong, and not also reported as missing; the label is missing.
      store.insertion("Step", ["label": .null, "project": .object(nobody)]),
      store.insertion("Person", ["name": .string(""), "level": .string("boss"), "manager": .object(ann)]),
      // One that is there has the key; the second has the key of the first.
      store.insertion("Person", ["name": .string("Ann"), "manager": .object(nobody)]),
      store.insertion("Robot", ["name": .string("B")]), store.insertion("Robot", ["name": .string("B")]),
    ])
    let rules = (refusal?.violations ?? []).map { violation in
      "\(store.model.property(violation.property)?.name ?? "?") \(violation.rule)"
    }
    #expect(
      rules.sorted() == [
        "label required", "level type", "manager destination", "name minimumLength", "name unique", "name unique",
        "name unique", "project destination",
      ])
    #expect(try store.all("Person").map(\.id) == [ann])
  }

  @Test func typeMismatchesAreRefused() throws {
    let store = try TestStore(try Fixtures.company())
    let wrong: [(String, Value)] = [
      ("age", .string("1")), ("age", .double(1.5)), ("salary", .double(1)), ("badge", .string("x")),
      ("photo", .string("x")),
      ("home", .string("no uri")), ("extra", .string("{")), ("score", .double(.nan)), ("score", .double(.infinity)),
      ("active", .integer(1)), ("bio", .data([1])), ("level", .string("none")), ("manager", .string("x")),
    ]
    for (name, value) in wrong {
      let refusal = try store.refusal([store.insertion("Person", ["name": .string("p"), name: value])])
      #expect(refusal?.code == .invalid, "\(name) \(value)")
    }
  }

  @Test func inversesAreMaintainedOnReplacement() throws {
    let store = try TestStore(try Fixtures.company())
    let ids = try store.must([
      store.insertion("Person", ["name": .string("a")]), store.insertion("Person", ["name": .string("b")]),
      store.insertion("Desk", [:]), store.insertion("Desk", [:]),
    ])
    let (a, b, one, two) = (ids[0], ids[1], ids[2], ids[3])
    try store.must([store.update(a, "Person.desk", .object(one)), store.update(b, "Person.desk", .object(two))])
    // Taking a's desk leaves a without one, and b's own without an owner.
    try store.must([store.update(b, "Person.desk", .object(one))])
    #expect(try store.value(a, "Person.desk") == .null)
    #expect(try store.value(one, "Desk.owner") == .object(b))
    #expect(try store.value(two, "Desk.owner") == .null)
  }

  @Test func manyToManyIsEditedFromEitherEnd() throws {
    let store = try TestStore(try Fixtures.company())
    let ids = try store.must([
      store.insertion("Person", ["name": .string("a")]), store.insertion("Person", ["name": .string("b")]),
      store.insertion("Project", ["title": .string("t"), "year": .integer(1)]),
    ])
    let members = try store.property("Project.members").number
    try store.must([
      Change(.update, ids[2], base: .max, edits: [Edit(members, .members(added: [ids[0], ids[1]], removed: []))])
    ])
    #expect(try store.value(ids[0], "Person.projects") == .objects([ids[2]]))
    try store.must([Change(.delete, ids[2])])
    #expect(try store.value(ids[1], "Person.projects") == .objects([]))
  }

  @Test func countsAreMaintained() throws {
    let store = try TestStore(try Fixtures.company())
    let project = try store.insert("Project", ["title": .string("t"), "year": .integer(1)])
    let people = try (0..<4).map { try store.insert("Person", ["name": .string("p\($0)")]) }
    let members = try store.property("Project.members").number
    let edit = Edit(members, .members(added: people, removed: []))
    let refusal = try store.refusal([Change(.update, project, base: .max, edits: [edit])])
    #expect(refusal?.violations.map(\.rule) == ["count"])
  }

  @Test func denyIsEvaluatedOnFinalSetAndListsObjects() throws {
    let store = try TestStore(try Fixtures.company())
    let boss = try store.insert("Person", ["name": .string("boss")])
    let worker = try store.insert("Person", ["name": .string("worker"), "manager": .object(boss)])
    let refusal = try store.refusal([Change(.delete, boss)])
    #expect(refusal?.code == .denied)
    #expect(refusal?.violations.first?.value == .object(worker))
    try store.must([Change(.delete, boss), Change(.delete, worker)])
    #expect(try store.all("Person").isEmpty)
  }

  @Test func referenceCycleCanBeDeleted() throws {
    let store = try TestStore(try Fixtures.company())
    let a = try store.insert("Person", ["name": .string("a")])
    let b = try store.insert("Person", ["name": .string("b"), "manager": .object(a)])
    try store.must([store.update(a, "Person.manager", .object(b))])
    try store.must([Change(.delete, a), Change(.delete, b)])
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func cascadeDeletesEverything() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let notes = try (0..<3).map { _ in try store.insert("Note", ["board": .object(board)]) }
    try store.must([store.insertion("Link", ["from": .object(notes[0]), "to": .object(notes[1])])])
    try store.must([Change(.delete, board)])
    for entity in ["Board", "Note", "Link"] { #expect(try store.all(entity).isEmpty) }
  }

  @Test func uniqueKeysCanBeSwappedInOneCommit() throws {
    let store = try TestStore(try Fixtures.stickies())
    let a = try store.insert("Board", ["name": .string("A")])
    let b = try store.insert("Board", ["name": .string("B")])
    try store.must([store.update(a, "Board.name", .string("B")), store.update(b, "Board.name", .string("A"))])
    #expect(try store.value(a, "Board.name") == .string("B"))
    try store.must([Change(.delete, a), store.insertion("Board", ["name": .string("B")])])
    #expect(try store.all("Board").count == 2)
  }

  @Test func insertWithExistingKeyUpdatesUnderTrumpPolicy() throws {
    let store = try TestStore(try Fixtures.stickies())
    let first = try store.must([store.insertion("Tag", ["name": .string("foo")])], policy: .objectTrump)
    let second = try store.must([store.insertion("Tag", ["name": .string("foo")])], policy: .objectTrump)
    #expect(first == second)
    #expect(try store.refusal([store.insertion("Tag", ["name": .string("foo")])])?.code == .unique)
  }

  @Test func editsConflictOnlyOnSameProperty() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["board": .object(board)])
    let base = try store.store.head.revision
    store.author = "bob"
    store.replica = UniqueID(high: 2, low: 2)
    try store.must([store.update(note, "Note.x", .double(5), base: base)])
    store.author = "ann"
    store.replica = UniqueID(high: 1, low: 2)
    try store.must([store.update(note, "Note.y", .double(7), base: base)])
    let refusal = try store.refusal([store.update(note, "Note.x", .double(9), base: base)])
    #expect(refusal?.code == .conflict)
    #expect(refusal?.conflicts.first?.author == "bob")
    #expect(refusal?.conflicts.first?.theirs == .double(5))
    let kept = try store.commit([store.update(note, "Note.x", .double(9), base: base)], policy: .storeTrump)
    if case .committed(let committed) = kept.outcome { #expect(committed.conflicts.count == 1) }
    #expect(try store.value(note, "Note.x") == .double(5))
    try store.must([store.update(note, "Note.x", .double(9), base: base)], policy: .objectTrump)
    #expect(try store.value(note, "Note.x") == .double(9))
  }

  @Test func lastEditInTransactionCountsIfEqualToStoredValue() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["board": .object(board), "text": .string("one"), "x": .double(0)])
    let base = try store.store.head.revision
    store.replica = UniqueID(high: 2, low: 2)
    try store.must([store.update(note, "Note.x", .double(2), base: base)])
    store.replica = UniqueID(high: 1, low: 2)
    let updates = try [1, 2].map { try store.update(note, "Note.x", .double($0), base: base) }
    try store.must(updates, policy: .objectTrump)
    #expect(try store.value(note, "Note.x") == .double(2))
  }

  @Test func textsMergeCharacterByCharacter() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["board": .object(board), "text": .string("the cat sat")])
    let base = try store.store.head.revision
    let text = try store.property("Note.text").number
    func typing(_ splice: TextSplice) -> Change {
      Change(.update, note, base: base, edits: [Edit(text, .splice([splice]))])
    }
    try store.must([typing(TextSplice(offset: 11, length: 0, insertion: " down"))])
    try store.must([typing(TextSplice(offset: 4, length: 3, insertion: "dog"))])
    #expect(try store.value(note, "Note.text") == .string("the dog sat down"))
    #expect(try store.all("Note", "text SEARCH \"dog down\"").count == 1)
    #expect(try store.all("Note", "text SEARCH \"cat\"").isEmpty)
  }

  @Test func updateOfDeletedObjectIsDroppedAndReported() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let base = try store.store.head.revision
    store.author = "bob"
    try store.must([Change(.delete, board)])
    let refusal = try store.refusal([store.update(board, "Board.name", .string("C"), base: base)])
    #expect(refusal?.code == .conflict)
    #expect(refusal?.conflicts.first.map { $0.kind == .deleted && $0.author == "bob" } == true)
    try store.must([Change(.delete, board)])
  }

  @Test func unknownNamesAreRefused() throws {
    let store = try TestStore(try Fixtures.stickies())
    let nobody = ObjectID(key: UniqueID(high: 9, low: 9), entity: try store.entity("Board").number)
    #expect(try store.refusal([Change(.delete, nobody)])?.code == .notFound)
    #expect(
      try store.refusal([store.insertion("Note", ["board": .object(nobody)])])?.violations.first?.rule == "destination")
    #expect(try store.refusal([Change(.insert, .temporary(1, entity: 99))])?.code == .malformed)
    let unknown = Change(.insert, try store.temporary("Board"), edits: [Edit(999, .set(.null))])
    #expect(try store.refusal([unknown])?.code == .malformed)
  }

  @Test func undoRevertsAndReportsConflicts() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["board": .object(board), "text": .string("one")])
    try store.must([store.update(note, "Note.x", .double(1)), store.update(note, "Note.y", .double(2))])
    store.author = "bob"
    try store.must([store.update(note, "Note.x", .double(50))])
    store.author = "ann"
    guard case .committed(let committed) = try store.undo().outcome else { return #expect(Bool(false)) }
    #expect(committed.conflicts.map(\.author) == ["bob"])
    #expect(try store.value(note, "Note.x") == .double(50))
    #expect(try store.value(note, "Note.y") == .double(0))
  }

  @Test func undoOfDeleteRestoresRelationships() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let tag = try store.insert("Tag", ["name": .string("t")])
    let notes = try (0..<3).map { _ in try store.insert("Note", ["board": .object(board), "tags": .objects([tag])]) }
    try store.must([store.insertion("Link", ["from": .object(notes[0]), "to": .object(notes[1])])])
    let before = try store.all("Note").map(\.values)
    try store.must([Change(.delete, board)])
    _ = try store.undo()
    #expect(try store.all("Note").map(\.values) == before)
    #expect(try store.all("Link").count == 1)
    try store.must([Change(.delete, tag)])
    #expect(try store.value(notes[0], "Note.tags") == .objects([]))
    _ = try store.undo()
    #expect(try store.value(notes[0], "Note.tags") == .objects([tag]))
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func repeatedUndoGoesBackUntilStackIsEmpty() throws {
    let store = try TestStore(try Fixtures.stickies())
    _ = try store.insert("Board", ["name": .string("A")])
    _ = try store.insert("Board", ["name": .string("B")])
    _ = try store.undo()
    #expect(try store.all("Board").count == 1)
    _ = try store.undo()
    #expect(try store.all("Board").isEmpty)
    guard case .refused(let refusal) = try store.undo().outcome else { return #expect(Bool(false)) }
    #expect(refusal.code == .notFound)
  }

  @Test func textsMayContainAnyScalars() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let texts = [
      "a\u{0}b", String(repeating: "x", count: 1 << 20), "👩‍👩‍👧‍👦🎈", "שלום عليكم", "'; DROP TABLE Note; --", "\u{FEFF}",
    ]
    for text in texts {
      let note = try store.insert("Note", ["board": .object(board), "text": .string(text)])
      #expect(try store.value(note, "Note.text") == .string(text))
    }
    try store.reopen()
    #expect(
      try store.all("Note", sort: "number").map { $0[try store.property("Note.text")] } == texts.map(Value.string))
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }
}

/// Cases found in reviews, each with the input that failed.
@Suite struct RegressionTests {
  @Test func outOfBoundsSpliceIsRefused() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["board": .object(board), "text": .string("abc")])
    let base = try store.store.head.revision
    let text = try store.property("Note.text").number
    func splice(_ splice: TextSplice) -> Change {
      Change(.update, note, base: base, edits: [Edit(text, .splice([splice]))])
    }
    store.replica = UniqueID(high: 2, low: 2)
    try store.must([splice(TextSplice(offset: 0, length: 0, insertion: "x"))])
    store.replica = UniqueID(high: 3, low: 3)
    #expect(try store.refusal([splice(TextSplice(offset: 1 << 31, length: 1, insertion: ""))]) != nil)
    #expect(throws: MalformedMessage.self) {
      try TextSplice(binary: TextSplice(offset: .max, length: 1, insertion: "").binary)
    }
  }

  @Test func spliceAfterSetIsRecordedAsItsEffect() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["board": .object(board), "text": .string("hi")])
    let text = try store.property("Note.text").number
    let edits = [
      Edit(text, .set(.string("hello world"))),
      Edit(text, .splice([TextSplice(offset: 11, length: 0, insertion: "!")])),
    ]
    try store.must([Change(.update, note, base: .max, edits: edits)])
    #expect(try store.value(note, "Note.text") == .string("hello world!"))
    _ = try store.undo()
    #expect(try store.value(note, "Note.text") == .string("hi"))
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func idOfOtherEntityIsUnknown() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    _ = try store.insert("Tag", ["name": .string("t")])
    let note = try store.insert("Note", ["board": .object(board)])
    let disguised = ObjectID(key: board.key, entity: try store.entity("Tag").number)
    let edit = Edit(try store.property("Note.tags").number, .members(added: [disguised], removed: []))
    #expect(
      try store.refusal([Change(.update, note, base: .max, edits: [edit])])?.violations.first?.rule == "destination")
    let others = Edit(try store.property("Tag.notes").number, .members(added: [], removed: [board]))
    let tag = try store.all("Tag")[0].id
    _ = try store.commit([Change(.update, tag, base: .max, edits: [others])])
    #expect(try store.value(board, "Board.name") == .string("B"))
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func editFromBeforeUndoneDeleteIsDropped() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let base = try store.store.head.revision
    store.replica = UniqueID(high: 2, low: 2)
    try store.must([Change(.delete, board)])
    _ = try store.undo()
    store.replica = UniqueID(high: 3, low: 3)
    let refusal = try store.refusal([store.update(board, "Board.name", .string("C"), base: base)])
    #expect(refusal?.conflicts.first?.kind == .deleted)
  }

  @Test func undoOfBoardKeepsNotesOfOthers() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    store.author = "bob"
    let note = try store.insert("Note", ["board": .object(board)])
    store.author = "ann"
    guard case .refused(let refusal) = try store.undo(1).outcome else { return #expect(Bool(false)) }
    #expect(refusal.code == .conflict)
    #expect(try store.image(note) != nil)
  }

  @Test func replicaDoesNotConflictWithItself() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let note = try store.insert("Note", ["board": .object(board)])
    let base = try store.store.head.revision
    try store.must([store.update(note, "Note.x", .double(1), base: base)])
    try store.must([store.update(note, "Note.x", .double(2), base: base)])
    #expect(try store.value(note, "Note.x") == .double(2))
  }

  @Test func predicatesOfMaximumSizeAreEvaluated() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    for _ in 0..<3 { _ = try store.insert("Note", ["board": .object(board)]) }
    let wide = (0..<5_000).map { "number == \($0)" }.joined(separator: " OR ")
    #expect(try store.all("Note", wide).count == 3)
    let deep = String(repeating: "NOT (", count: 60) + "number == 2" + String(repeating: ")", count: 60)
    #expect(try store.all("Note", deep).count == 1)
    #expect(
      try store.all("Note", "number IN {" + (0..<15_000).map(String.init).joined(separator: ",") + "}").count == 3)
  }

  @Test func staleEditsTakeLinearTime() throws {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("B")])
    let notes = try store.must((0..<5_000).map { _ in try store.insertion("Note", ["board": .object(board)]) })
    let base = try store.store.head.revision
    store.replica = UniqueID(high: 2, low: 2)
    try store.must(notes.map { try store.update($0, "Note.x", .double(1)) })
    store.replica = UniqueID(high: 3, low: 3)
    try store.must(notes.map { try store.update($0, "Note.y", .double(1), base: base) })
    #expect(try store.all("Note", "x == 1 AND y == 1").count == 5_000)
  }
}
