import GraphClient
import StickiesKit
import TerminalCells
import Testing

@testable import GraphReplica
@testable import StickiesTerminal

/// Commands for all notes of a board with more notes than a client keeps, on real daemons.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct SelectAllTests {
  private nonisolated static let count = 2_500
  /// Notes around a screen and a window of the list, and far fewer than there are.
  private static let few = 2 * BoardWindow.listRows

  private func opened(
    _ count: Int = Self.count, boards: [String] = ["Work"]
  ) async throws -> (stage: BoardFixture, ann: TestUser) {
    let stage = try await BoardFixture(boards: boards)
    try await stage.row(of: 0..<count)
    let ann = try await stage.open(size: Size(width: 120, height: 24))
    await ann.terminal.expects { $0.text.contains("n2 ") && $0.text.contains("→") }
    return (stage, ann)
  }

  private func count(_ stage: BoardFixture, _ text: String) async throws -> Int {
    try await stage.other.count(of: Note.self, where: text)
  }

  @Test func allNotesAreSelectedWithoutListAndColoredInOneCommit() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.types("ea")
    await ann.terminal.expects("(\(Self.count))")
    #expect(ann.client.context.heldStates.count < Self.few)
    // The selection stays when the notes leave the screen.
    for _ in 0..<50 { ann.terminal.mouse(.wheel(.right), 70, 20) }
    await ann.terminal.expects { $0.text.contains("n10 ") && $0.text.contains("(\(Self.count))") }
    // A long operation shows its progress and can be cancelled.
    stage.freeze()
    ann.terminal.types("c")
    await ann.terminal.expects {
      $0.text.contains("Coloring \(Self.count) notes") && $0.text.contains(" 0%") && $0.text.contains("Esc cancels")
    }
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("cancelled; nothing is changed") && !$0.text.contains("0%") }
    stage.thaw()
    #expect(try await count(stage, "color != \"yellow\"") == 0)
    let before = try await stage.other.status().head.revision
    ann.terminal.types("c")
    await ann.terminal.expects("colored \(Self.count) notes; u undoes it")
    #expect(try await count(stage, "color != \"yellow\"") == Self.count)
    #expect(try await stage.other.status().head.revision == before + 1)
    #expect(ann.client.context.heldStates.count < 2 * Self.few)
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    #expect(try await count(stage, "color != \"yellow\"") == 0)
    await stage.close()
  }

  @Test func unloadedNotesAreMovedAndDeletedInOneUndoStep() async throws {
    let all = 6_000
    let (stage, ann) = try await opened(all, boards: ["Work", "Home"])
    let locked = try #require(try await stage.other.fetch(Note.self, where: "text == 'n4000'").first)
    locked.locked = true
    try await stage.other.save()
    await ann.terminal.expects("● ○")
    ann.terminal.types("ea")
    await ann.terminal.expects("(\(all))")
    ann.terminal.types("mho\n")
    await ann.terminal.expects("moved \(all - 1) notes to Home; u brings them back; 1 locked")
    await ann.terminal.expects { $0.text.contains("(1)") && !$0.text.contains("n2 ") }
    #expect(try await count(stage, "board.name == \"Home\"") == all - 1)
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    await ann.terminal.expects { $0.text.contains("(\(all))") && $0.text.contains("n2 ") }
    ann.terminal.press(.delete)
    await ann.terminal.expects("deleted \(all - 1) notes; u brings them back; 1 locked")
    await ann.terminal.expects { $0.text.contains("(1)") && !$0.text.contains("n2 ") }
    #expect(try await stage.stored().map(\.text) == ["n4000"])
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    await ann.terminal.expects { $0.text.contains("(\(all))") && $0.text.contains("n2 ") }
    #expect(try await count(stage, "board.name == \"Work\"") == all)
    await stage.close()
  }

  @Test func everyNoteIsMovedInThousandsAsOneUndoStep() async throws {
    let all = 6_000
    let (stage, ann) = try await opened(all)
    let locked = try #require(try await stage.other.fetch(Note.self, where: "text == 'n4000'").first)
    locked.locked = true
    try await stage.other.save()
    ann.terminal.types("ea")
    await ann.terminal.expects("(\(all))")
    // If none of them is visible, they are moved, too.
    for _ in 0..<30 { ann.terminal.press(.down, .control) }
    await ann.terminal.expectsNo("n0 ")
    // A long operation shows its progress and can be cancelled.
    stage.freeze()
    ann.terminal.press(.right)
    await ann.terminal.expects {
      $0.text.contains("Changing \(all) notes") && $0.text.contains(" 0%") && $0.text.contains("Esc cancels")
    }
    ann.terminal.types("u")
    await ann.terminal.expects("all notes are being changed; Esc cancels")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("nothing was changed: cancelled") && !$0.text.contains("0%") }
    // A key that is held down: later presses are handled after the first operation.
    for _ in 0..<3 { ann.terminal.press(.right) }
    stage.thaw()
    await ann.terminal.expects("moved \(all - 1) notes; u undoes it; 1 locked")
    await ann.terminal.expectsNo("not yet")
    func moved(_ columns: Int) async throws -> Int {
      let (first, last) = (8 * columns, 8 * columns + 240 * (all - 1))
      return try await count(stage, "x == \(first) OR x == \(last) OR (x == \(240 * 4000) AND locked == true)")
    }
    #expect(try await moved(3) == 3)
    #expect(ann.client.context.heldStates.count < all / 3)
    // The first of the three presses, and the other two together, are one step each.
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    #expect(try await moved(1) == 3)
    await stage.close()
  }

  /// A user moves each of so many notes; the server stops when the first thousand are moved.
  private func stoppedInAMove(of all: Int) async throws -> (stage: BoardFixture, ann: TestUser) {
    let (stage, ann) = try await opened(all)
    ann.terminal.types("ea")
    await ann.terminal.expects("(\(all))")
    let (stops, stop) = AsyncStream.makeStream(of: Void.self)
    var isStopped = false
    let observation = ann.client.context.observe { change in
      guard !isStopped, change.author == "ann@test" else { return }
      isStopped = true
      stage.freeze()
      stop.yield()
    }
    ann.terminal.press(.right)
    for await _ in stops { break }
    withExtendedLifetime(observation) {}
    return (stage, ann)
  }

  @Test func typingDuringBulkMoveIsASeparateUndoStep() async throws {
    let all = 6_000
    let (stage, ann) = try await stoppedInAMove(of: all)
    // Beside the overlay.
    ann.terminal.mouse(.move, 90, 2)
    ann.terminal.types("nhello")
    await ann.terminal.expects("hello")
    stage.thaw()
    await ann.terminal.expects("moved \(all) notes; u undoes the last part")
    await ann.terminal.expectsNo("not yet")
    #expect(try await count(stage, "x == 8 OR x == \(8 + 240 * (all - 1))") == 2)
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.cursor == nil }
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    // The first notes have moved, the last have not, and the text is unchanged.
    #expect(try await count(stage, "x == 8 OR x == \(240 * (all - 1)) OR text == 'hello'") == 3)
    await stage.close()
  }

  /// Otherwise the next read would not wait for all of it, and the message would come before the last commit.
  @Test func everySliceIsOneCommitOnSlowMachine() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.types("ea")
    await ann.terminal.expects("(\(Self.count))")
    let screen = try #require(ann.session.screen)
    let before = try await stage.other.status().head.revision
    // A slice then takes ten times as long as the pause between two saves.
    var late = Int64(0)
    screen.application.clock = { BoardSession.now + late }
    screen.bulk.changeEach(
      try #require(screen.selection.all), "Move", BulkChangeDescription(doing: "Changing", done: "moved")
    ) { note in
      late += 1
      note.x += 8
    }
    await ann.terminal.expects("moved \(Self.count) notes; u undoes it")
    #expect(try await count(stage, "x == 8 OR x == \(8 + 240 * (Self.count - 1))") == 2)
    #expect(try await stage.other.status().head.revision == before + 3)
    await stage.close()
  }

  @Test func quittingDuringBulkMoveWarns() async throws {
    let all = 6_000
    var (stage, ann) = try await stoppedInAMove(of: all)
    ann.terminal.types("q")
    await ann.terminal.expects { $0.text.contains("q again leaves ") && $0.text.contains("of \(all) notes unchanged") }
    stage.thaw()
    await ann.terminal.expects("moved \(all) notes; u undoes it")
    await stage.close()
    (stage, ann) = try await stoppedInAMove(of: all)
    ann.terminal.types("q")
    await ann.terminal.expects("q again leaves ")
    ann.terminal.types("q")
    stage.thaw()
    #expect(await ann.end.value == 0)
    await stage.close()
  }

  @Test func allNotesAreTaggedInThousandsAsOneUndoStep() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.types("ea")
    await ann.terminal.expects("(\(Self.count))")
    ann.terminal.types("tmany\n")
    await ann.terminal.expects("tagged \(Self.count) notes; u undoes it")
    await ann.terminal.expectsNo("not yet")
    #expect(try await count(stage, "ANY tags.name == \"many\"") == Self.count)
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    #expect(try await count(stage, "ANY tags.name == \"many\"") == 0)
    // A tag that every one of them has is removed.
    ann.terminal.press(.character("r"), .control)
    await ann.terminal.expects("Redone")
    ann.terminal.types("tmany\n")
    await ann.terminal.expects("untagged \(Self.count) notes")
    await ann.terminal.expectsNo("not yet")
    #expect(try await count(stage, "ANY tags.name == \"many\"") == 0)
    await stage.close()
  }

  @Test func selectionExcludesNewNotesAndDropsDeletedOnes() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.types("ea")
    await ann.terminal.expects("(\(Self.count))")
    let later = try await stage.note("later", x: 16, y: 240)
    let grid = await ann.terminal.expects("later")
    #expect(grid.text.contains("(\(Self.count))"))
    let context = stage.other.context
    context.delete(try #require(try await stage.other.fetch(Note.self, where: "text == 'n2000'").first))
    try await stage.other.save()
    await ann.terminal.expects("(\(Self.count - 1))")
    // One note is deleted and one inserted in one commit: the board has as many notes as before.
    context.delete(try #require(try await stage.other.fetch(Note.self, where: "text == 'n2001'").first))
    let last = Note(in: context)
    (last.text, last.x, last.board) = ("last", 900_000, later.board)
    try await stage.other.save()
    await ann.terminal.expects("(\(Self.count - 2))")
    // A present note is deselected, and the inserted one is selected.
    let first = try #require(grid.place(of: "n0 "))
    ann.terminal.click(first.x, first.y)
    await ann.terminal.expects("(\(Self.count - 3))")
    let place = try #require(grid.place(of: "later"))
    ann.terminal.click(place.x, place.y)
    await ann.terminal.expects("(\(Self.count - 2))")
    ann.terminal.press(.delete)
    await ann.terminal.expects("deleted \(Self.count - 2) notes")
    #expect(try await stage.stored().map(\.text) == ["n0", "last"])
    await ann.terminal.expects("(0)")
    await stage.close()
  }

  @Test func selectAllOnFilteredBoardSelectsOnlyMatches() async throws {
    let (stage, ann) = try await openedWithBlue(600)
    ann.session.screen?.filtering.filter.colors = [.blue]
    await ann.terminal.expects("only blue")
    ann.terminal.types("ea")
    await ann.terminal.expects("(600)")
    let far = try #require(try await stage.other.fetch(Note.self, where: "text == 'n500'").first)
    far.color = .pink
    try await stage.other.save()
    await ann.terminal.expects("(599)")
    ann.terminal.types("c")
    await ann.terminal.expects("colored 599 notes")
    await ann.terminal.expects("(0)")
    #expect(try await count(stage, "color == \"green\"") == 599)
    #expect(try await count(stage, "color == \"yellow\"") == Self.count - 600)
    await stage.close()
  }

  /// A large board of this number of notes, the first of which are blue.
  private func openedWithBlue(_ blue: Int64) async throws -> (stage: BoardFixture, ann: TestUser) {
    let (stage, ann) = try await opened()
    let note = try #require(StickiesModel.model.entity(named: "Note"))
    let color = try #require(note.property(named: "color"))
    _ = try await stage.other.batchUpdate(
      note, where: GraphPredicate(Note.self) { $0.number <= blue }, set: [(color, .value(.string("blue")))])
    return (stage, ann)
  }

  @Test func notesHiddenByLaterFilterAreDeselected() async throws {
    let (stage, ann) = try await openedWithBlue(600)
    ann.terminal.types("ea")
    await ann.terminal.expects("(\(Self.count))")
    ann.session.screen?.filtering.filter.colors = [.blue]
    await ann.terminal.expects { $0.text.contains("only blue") && $0.text.contains("(600)") }
    ann.terminal.types("F")
    await ann.terminal.expectsNo("only blue")
    ann.terminal.press(.delete)
    await ann.terminal.expects("deleted 600 notes")
    #expect(try await count(stage, "color == \"yellow\"") == Self.count - 600)
    #expect(try await count(stage, "color == \"blue\"") == 0)
    await stage.close()
  }

  @Test func offscreenNoteHiddenByFilterIsDeselected() async throws {
    let (stage, ann) = try await openedWithBlue(1)
    ann.terminal.types("e")
    let grid = await ann.terminal.expects { $0.text.contains("Delete (0)") && $0.text.contains("n1 ") }
    for text in ["n0 ", "n1 "] {
      let place = try #require(grid.place(of: text))
      ann.terminal.click(place.x, place.y)
    }
    await ann.terminal.expects("Delete (2)")
    for _ in 0..<100 { ann.terminal.mouse(.wheel(.right), 70, 20) }
    await ann.terminal.expects { $0.text.contains("n20 ") && !$0.text.contains("n1 ") }
    ann.session.screen?.filtering.filter.colors = [.blue]
    await ann.terminal.expects { $0.text.contains("only blue") && $0.text.contains("Delete (1)") }
    ann.terminal.press(.delete)
    await ann.terminal.expects { $0.text.contains("deleted; u brings it back") && !$0.text.contains("not yet") }
    #expect(try await count(stage, "color == \"blue\"") == 0)
    #expect(try await count(stage, "text == 'n1'") == 1)
    await stage.close()
  }

  @Test func bulkChangesNeedTheServer() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.types("ea")
    await ann.terminal.expects("(\(Self.count))")
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.press(.delete)
    await ann.terminal.expects("needs the server")
    try stage.restart()
    await ann.terminal.expects("connected")
    #expect(try await stage.stored().count == Self.count)
    await stage.close()
  }

  @Test func noteDeletedDuringDisconnectIsDeselected() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.types("ea")
    await ann.terminal.expects("(\(Self.count))")
    stage.kill()
    await ann.terminal.expects("reconnecting")
    try await stage.whileAway { carl in
      let far = try #require(try await carl.fetch(Note.self, where: "text == 'n2000'").first)
      let new = Note(in: carl.context)
      (new.text, new.x, new.board) = ("new", 900_000, far.board)
      carl.context.delete(far)
      try await carl.save()
    }
    try stage.restart()
    await ann.terminal.expects("(\(Self.count - 1))")
    await stage.close()
  }
}
