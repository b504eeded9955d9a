import GraphModel
import GraphStore
import GraphTesting
import Testing

/// The origin of a value: its author, the replaced value, and the values that lost to it.
@Suite struct ValueOriginTests {
  let store: TestStore
  let board: ObjectID
  let note: ObjectID

  init() throws {
    store = try TestStore(try Fixtures.stickies())
    store.author = "zoe"
    board = try store.insert("Board", ["name": .string("B")])
    note = try store.insert("Note", ["board": .object(board), "x": .double(1)])
    store.author = "ann"
  }

  private func why(_ path: String, of id: ObjectID? = nil) throws -> ValueOrigin {
    try store.store.origin(of: try store.property(path).number, of: id ?? note)
  }

  private func head() throws -> Revision { try store.store.head.revision }

  @Test func originReportsAuthorAndReplacedValue() throws {
    try store.must([store.update(note, "Note.x", .double(2))], undo: .test(1, "Drag"))
    try store.by("bob") { try store.must([store.update(note, "Note.y", .double(3))]) }
    let x = try why("Note.x")
    #expect(x.kind == .updated)
    #expect(x.author == "ann")
    #expect(x.revision == 3)
    #expect(x.value == .double(2))
    #expect(x.replaced == .double(1))
    #expect(x.undo?.name == "Drag")
    #expect(try why("Note.y").author == "bob")
    let color = try why("Note.color")
    #expect(color.kind == .inserted)
    #expect(color.author == "zoe")
    #expect(color.replaced == .null)
    try store.taken(store.undo())
    #expect(try why("Note.x").undoes == 3)
    #expect(try why("Note.x").value == .double(1))
  }

  @Test func originOfTextReportsReplacedText() throws {
    try store.must([store.update(note, "Note.text", .string("the cat"))])
    try store.must([store.update(note, "Note.text", .string("the fat cat"))])
    #expect(try why("Note.text").value == .string("the fat cat"))
    #expect(try why("Note.text").replaced == .string("the cat"))
  }

  @Test func losingValueIsReported() throws {
    let base = try head()
    try store.must([store.update(note, "Note.x", .double(2))])
    try store.by("bob") {
      try store.must([store.update(note, "Note.x", .double(8), base: base)], policy: .storeTrump)
      try store.must(
        [store.update(note, "Note.y", .double(5)), store.update(note, "Note.x", .double(9), base: base)],
        policy: .storeTrump)
    }
    let origin = try why("Note.x")
    #expect(origin.author == "ann")
    #expect(origin.overwrittenValues.map(\.value) == [.double(8), .double(9)])
    #expect(origin.overwrittenValues.map(\.author) == ["bob", "bob"])
    #expect(origin.overwrittenValues.map(\.revision) == [base + 2, base + 3])
    #expect(try why("Note.y").overwrittenValues.isEmpty)
    // The next change does not report them.
    try store.must([store.update(note, "Note.x", .double(3))])
    #expect(try why("Note.x").overwrittenValues.isEmpty)
    try store.expectSound()
  }

  @Test func overwrittenValueIsReportedAsLosing() throws {
    let base = try head()
    try store.must([store.update(note, "Note.x", .double(2))])
    try store.by("bob") {
      try store.must([store.update(note, "Note.x", .double(9), base: base)], policy: .objectTrump)
    }
    let origin = try why("Note.x")
    #expect(origin.author == "bob")
    #expect(origin.overwrittenValues.map(\.value) == [.double(2)])
    #expect(origin.overwrittenValues.map(\.author) == ["ann"])
    #expect(origin.overwrittenValues.map(\.revision) == [base + 1])
  }

  @Test func originSurvivesDeleteAndRevival() throws {
    try store.must([store.update(note, "Note.x", .double(2))])
    let revision = try head()
    try store.must([store.update(note, "Note.y", .double(4))])
    try store.by("bob") { try store.must([Change(.delete, note)]) }
    let gone = try why("Note.x")
    #expect(gone.value == .double(2))
    #expect(gone.author == "ann")
    #expect(gone.deletion == revision + 2)
    try store.by("bob") { try store.taken(store.restore(.contents(note), at: revision)) }
    #expect(try why("Note.x").author == "ann")
    #expect(try why("Note.x").revision == revision)
    #expect(try why("Note.x").deletion == nil)
    let y = try why("Note.y")
    #expect(y.kind == .revived)
    #expect(y.author == "bob")
    #expect(y.replaced == .double(4))
    #expect(y.value == .double(0))
  }

  @Test func invalidRequestsAreRefused() throws {
    let notes = #expect(throws: Refusal.self) { _ = try why("Board.notes", of: board) }
    #expect(notes?.message.contains("ask for Note.board") == true)
    let foreign = #expect(throws: Refusal.self) { _ = try why("Board.name") }
    #expect(foreign?.code == .malformed)
    let never = ObjectID(key: UniqueID(high: 9, low: 9), entity: note.entity)
    let missing = #expect(throws: Refusal.self) { _ = try why("Note.x", of: never) }
    #expect(missing?.code == .notFound)
  }

  @Test func originOfLongHistoryIsFoundWithoutFullWalk() throws {
    try store.must([store.update(note, "Note.color", .string("pink"))])
    let painted = try head()
    // Ten openings: after each, the writer's memory of keyframes and marks is empty.
    for part in 0..<10 {
      for block in 0..<2 {
        let requests = try (0..<500).map { step -> WriteRequest in
          let x = Double(part * 1_000 + block * 500 + step)
          let change = try store.update(note, "Note.x", .double(x))
          return .transaction(Transaction(id: store.nextID(), changes: [change]), author: "bob")
        }
        for result in try store.store.commit(requests, now: store.now) { try store.taken(result) }
      }
      try store.reopen()
    }
    let (color, text) = (try store.property("Note.color").number, try store.property("Note.text").number)
    try store.store.close()
    let statements = StatementCounter()
    var options = SQLiteStore.Options()
    options.hooks.willRunStatement = statements.add
    let counted = try SQLiteStore(directory: store.directory.path, model: store.model, options: options)
    for (property, revision) in [(color, painted), (text, 2)] {
      _ = statements.reset()
      let origin = try counted.origin(of: property, of: note)
      #expect(origin.revision == revision)
      // Sixty-four to the nearest marks, and about as many behind each of ten openings.
      #expect(statements.reset() < 64 * 11 + 100)
    }
    try counted.close()
    try store.reopen()
    try store.expectSound()
  }
}
