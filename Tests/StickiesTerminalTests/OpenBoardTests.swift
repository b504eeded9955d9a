import GraphModel
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The whole application on real daemons: keys and mouse in, grids out.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct OpenBoardTests {
  @Test func notesAreWindowsAtTheirPositions() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("Buy milk\nand eggs", x: 16, y: 32)
    let ann = try await stage.open()
    let grid = await ann.terminal.expects("and eggs")
    // 16 points are 2 columns, 32 points 2 rows; the menu bar is above.
    #expect(grid.place(of: "╭ Buy milk ") == Point(x: 2, y: 3))
    await ann.terminal.expects("connected │ Work")
    await stage.close()
  }

  @Test func newNoteIsEditedImmediatelyAndShownToOthers() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    let ben = try await stage.open("ben@test")
    ann.terminal.types("n")
    ann.terminal.types("hello")
    await ann.terminal.expects("hello")
    await ben.terminal.expects("hello")
    await ben.terminal.expects("ann edits")
    ann.terminal.types(" world")
    await ben.terminal.expects("hello world")
    ann.terminal.press(.escape)
    await ben.terminal.expectsNo("ann edits")
    #expect(try await stage.stored().map(\.text) == ["hello world"])
    // The window kept its place when its note got its number: there is one, not two.
    let grid = await ann.terminal.expects { !$0.text.contains("not yet") }
    #expect(grid.text.split(separator: "\n").filter { $0.contains("hello world") }.count == 1)
    #expect(ann.session.screen?.pages.lastNumber == 1)
    await stage.close()
  }

  /// In the same turn, and in one redraw.
  @Test func remoteChangeIsDrawnInItsTurn() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("before")
    let ann = try await stage.open()
    await ann.terminal.expects("before")
    let application = try #require(ann.session.screen?.application)
    // When the commit arrives, its event waits; by then the screen was drawn this many times.
    var drawn: Int?
    let observation = ann.client.context.observe { change in
      if change.updated[note.id] != nil { drawn = drawn ?? application.displayCount }
    }
    // Under load, the end of an earlier step may redraw in between: one of three changes is enough.
    var isDrawnAtOnce = false
    for text in ["after", "later", "finally"] where !isDrawnAtOnce {
      drawn = nil
      note.text = text
      try await stage.other.save()
      let frame = await ann.terminal.frame(showing: text)
      isDrawnAtOnce = drawn.map { $0 + 1 } == frame
    }
    #expect(isDrawnAtOnce)
    withExtendedLifetime(observation) {}
    await stage.close()
  }

  @Test func concurrentTypingInOneNoteIsMerged() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("middle")
    let ann = try await stage.open()
    let ben = try await stage.open("ben@test")
    for seat in [ann, ben] {
      await seat.terminal.expects("middle")
      seat.terminal.press(.tab)
      seat.terminal.press(.enter)
      await seat.terminal.expects { $0.cursor != nil }
    }
    ben.terminal.press(.home)
    ben.terminal.types("first ")
    ann.terminal.types(" last")
    await ann.terminal.expects("first middle last")
    await ben.terminal.expects("first middle last")
    await stage.close()
  }

  @Test func typingDuringSaveIsOneLaterCommit() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first")
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.cursor != nil }
    let before = try await stage.other.status().head.revision
    stage.freeze()
    var text = "first"
    for letter in "abcde" {
      ann.terminal.types(String(letter))
      text.append(letter)
      // Each in a turn of its own.
      await ann.terminal.expects(text)
    }
    stage.thaw()
    await ann.terminal.expectsNo("not yet")
    #expect(try await stage.stored().map(\.text) == [text])
    #expect(try await stage.other.status().head.revision == before + 2)
    await stage.close()
  }

  @Test func deleteOfEditedNoteReportsAuthorAndOffersText() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("precious")
    let ann = try await stage.open()
    await ann.terminal.expects("precious")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    ann.terminal.types(" words")
    await ann.terminal.expects { $0.text.contains("precious words") && !$0.text.contains("not yet") }
    stage.other.context.delete(note)
    try await stage.other.save(policy: .objectTrump)
    await ann.terminal.expects("ben@test deleted it while it was edited here")
    await ann.terminal.expects("New note with it")
    ann.terminal.types("n")
    await ann.terminal.expects { !$0.text.contains("The note is gone") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == ["precious words"])
    await stage.close()
  }

  @Test func notesAreMovedByMouseAndKeysAndUndone() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("drag me", x: 80, y: 64)
    let ann = try await stage.open()
    let place = try #require(await ann.terminal.expects("drag me").place(of: "drag me"))
    ann.terminal.mouse(.press(.left), place.x, place.y)
    for step in 1...5 { ann.terminal.mouse(.drag(.left), place.x + 2 * step, place.y + step) }
    ann.terminal.mouse(.release(.left), place.x + 10, place.y + 5)
    await ann.terminal.expects { $0.place(of: "drag me") == Point(x: place.x + 10, y: place.y + 5) }
    await ann.terminal.expectsNo("not yet")
    var stored = try #require(try await stage.stored().first)
    #expect((stored.x, stored.y) == (160, 144))
    ann.terminal.types("u")
    await ann.terminal.expects { $0.place(of: "drag me") == place }
    // Escape cancels a drag. It begins at another cell than the previous one; otherwise it would be a double click.
    ann.terminal.mouse(.press(.left), place.x + 1, place.y)
    ann.terminal.mouse(.drag(.left), place.x + 7, place.y + 3)
    await ann.terminal.expects { $0.place(of: "drag me") == Point(x: place.x + 6, y: place.y + 3) }
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.place(of: "drag me") == place }
    ann.terminal.mouse(.drag(.left), place.x + 8, place.y + 4)
    ann.terminal.mouse(.release(.left), place.x + 8, place.y + 4)
    await ann.terminal.expectsNo("not yet")
    stored = try #require(try await stage.stored().first)
    #expect((stored.x, stored.y) == (80, 64))
    ann.terminal.press(.right)
    await ann.terminal.expects { $0.place(of: "drag me") == Point(x: place.x + 1, y: place.y) }
    #expect(note.id == stored.id)
    await stage.close()
  }

  /// The board moves under it by a timer, which fires while the button is down only.
  @Test func noteHeldAtEdgeScrollsTheBoard() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("stays", x: 16, y: 64)
    _ = try await stage.note("drag me", x: 320, y: 160)
    let ann = try await stage.open()
    let both = await ann.terminal.expects { $0.text.contains("stays") && $0.text.contains("drag me") }
    let place = try #require(both.place(of: "drag me"))
    // By its right side, so that its text stays on the screen.
    ann.terminal.mouse(.press(.left), place.x + 10, place.y)
    ann.terminal.mouse(.drag(.left), 79, place.y)
    await ann.terminal.expectsNo("stays")
    // Keys still arrive: Escape cancels.
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("stays") && $0.place(of: "drag me") == place }
    ann.terminal.mouse(.release(.left), 79, place.y)
    ann.terminal.mouse(.press(.left), place.x + 11, place.y)
    ann.terminal.mouse(.drag(.left), 79, place.y)
    await ann.terminal.expectsNo("stays")
    ann.terminal.mouse(.release(.left), 79, place.y)
    ann.terminal.press(.down)
    await ann.terminal.expects { $0.place(of: "drag me") == Point(x: 68, y: place.y + 1) }
    await ann.terminal.expectsNo("not yet")
    let screen = try #require(ann.session.screen)
    let scroll = screen.pages.page.scroll
    let stored = try #require(try await stage.stored().last)
    // As far right on the screen as it was held, and as far as that was scrolled.
    #expect(stored.x == 320 + Double(68 - place.x + scroll.x) * BoardScale.pointsPerColumn)
    _ = screen.application.runTurn(at: screen.now + 1_000)
    #expect(screen.pages.page.scroll == scroll)
    await stage.close()
  }

  @Test func notesAreResizedByMouseAndKeys() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("resize me", x: 16, y: 32)
    let ann = try await stage.open()
    await ann.terminal.expects("resize me")
    ann.terminal.press(.tab)
    let mark = String(Theme().symbols.resize)
    let corner = try #require(await ann.terminal.expects(mark).place(of: mark))
    ann.terminal.mouse(.press(.left), corner.x, corner.y)
    for step in 1...2 { ann.terminal.mouse(.drag(.left), corner.x + 2 * step, corner.y + step) }
    ann.terminal.mouse(.release(.left), corner.x + 4, corner.y + 2)
    await ann.terminal.expects {
      $0.place(of: mark) == Point(x: corner.x + 4, y: corner.y + 2) && !$0.text.contains("not yet")
    }
    var stored = try #require(try await stage.stored().first)
    #expect((stored.width, stored.height) == (232, 232))
    ann.terminal.press(.right, .shift)
    ann.terminal.press(.up, .shift)
    await ann.terminal.expects {
      $0.place(of: mark) == Point(x: corner.x + 5, y: corner.y + 1) && !$0.text.contains("not yet")
    }
    stored = try #require(try await stage.stored().first)
    #expect((stored.width, stored.height) == (240, 216))
    for _ in 0..<2 {
      ann.terminal.types("u")
      await ann.terminal.expects("Undone")
      // The next key removes the message about the previous one.
      ann.terminal.press(.tab)
      await ann.terminal.expectsNo("Undone")
    }
    // The drag was one step, and so were the keys.
    await ann.terminal.expects { $0.place(of: mark) == corner }
    await stage.close()
  }

  @Test func notesAreRaisedAndLoweredByKeys() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("under\nwith a body", x: 96, y: 64)
    let over = try await stage.note("over", x: 80, y: 32)
    (over.width, over.height, over.z) = (320, 320, 9)
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("over") && !$0.text.contains("under") }
    ann.terminal.press(.tab)
    ann.terminal.press(.tab)
    await ann.terminal.expects { $0.text.contains("┏ under") && !$0.text.contains("with a body") }
    ann.terminal.types("r")
    await ann.terminal.expects { $0.text.contains("with a body") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.z) == [10, 9])
    ann.terminal.types("R")
    await ann.terminal.expects { !$0.text.contains("with a body") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.z) == [8, 9])
    await stage.close()
  }

  @Test func closedWindowReopensAndKeepsNote() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("shut me")
    let ann = try await stage.open()
    await ann.terminal.expects("shut me")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ shut me")
    let mark = String(Theme().symbols.close)
    let cross = try #require(await ann.terminal.expects(mark).place(of: mark))
    ann.terminal.click(cross.x, cross.y)
    await ann.terminal.expects { $0.text.contains("the window is closed") && !$0.text.contains("shut me") }
    #expect(try await stage.stored().map(\.text) == ["shut me"])
    ann.terminal.types("o")
    await ann.terminal.expects("┏ shut me")
    await stage.close()
  }

  @Test func offlineEditsAreCommittedOnceAfterReconnect() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("before")
    let ann = try await stage.open()
    await ann.terminal.expects("before")
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.types("n")
    ann.terminal.types("written offline")
    ann.terminal.press(.escape)
    // One message for all, and a mark on each.
    let unsent = String(Theme().symbols.badges.unsent)
    await ann.terminal.expects { $0.text.contains("not yet on the server") && $0.text.contains(unsent) }
    // Leaving asks first.
    ann.terminal.types("q")
    await ann.terminal.expects("Leave?")
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("Leave?")
    try stage.restart()
    await ann.terminal.expects {
      $0.text.contains("connected │ Work") && !$0.text.contains("not yet") && !$0.text.contains(unsent)
    }
    ann.terminal.types("q")
    #expect(await ann.end.value == 0)
    let again = try await stage.open("cem@test")
    let grid = await again.terminal.expects("written offline")
    #expect(grid.place(of: "before") != nil)
    await stage.close()
  }

  @Test func searchShowsMatchesAndEscapeRestoresAll() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("red apples", x: 0, y: 0)
    _ = try await stage.note("green pears", x: 300, y: 0)
    let ann = try await stage.open()
    await ann.terminal.expects("green pears")
    ann.terminal.types("/app")
    await ann.terminal.expects { $0.text.contains("red apples") && !$0.text.contains("green pears") }
    // Results stay live.
    _ = try await stage.note("apple pie", x: 300, y: 32)
    await ann.terminal.expects("apple pie")
    ann.terminal.press(.escape)
    await ann.terminal.expects("green pears")
    await stage.close()
  }

  @Test func boardsAreOpenedByNumber() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("at work")
    let ann = try await stage.open()
    await ann.terminal.expects("at work")
    await ann.terminal.expects("● ○")
    ann.terminal.types("2")
    await ann.terminal.expects { $0.text.contains("│ Home") && !$0.text.contains("at work") }
    ann.terminal.press(.left, .alt)
    await ann.terminal.expects { $0.text.contains("│ Work") && $0.text.contains("at work") }
    await stage.close()
  }

  @Test func selectedNotesAreDeletedAndUndoneTogether() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("one", x: 0, y: 0)
    _ = try await stage.note("two", x: 300, y: 0)
    let ann = try await stage.open()
    await ann.terminal.expects("two")
    ann.terminal.types("ea")
    await ann.terminal.expects("● two")
    ann.terminal.press(.delete)
    await ann.terminal.expects { !$0.text.contains("one") && !$0.text.contains("two") }
    await ann.terminal.expectsNo("not yet")
    #expect(try await stage.stored().isEmpty)
    ann.terminal.types("u")
    await ann.terminal.expects { $0.text.contains("one") && $0.text.contains("two") }
    await stage.close()
  }

  @Test func offscreenNoteIsMarkedAndFound() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("far away", x: 4_000, y: 3_000)
    let ann = try await stage.open()
    await ann.terminal.expects("→")
    ann.terminal.types("o")
    await ann.terminal.expects("far away")
    await stage.close()
  }

  /// The responders' answers are compared with the menu, not the menu with itself.
  @Test func everyHandledCommandIsInMenuWithKey() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    let screen = try #require(ann.session.screen)
    #expect(screen.commands.count > 40)
    // Those of a text are the note's that is written in.
    ann.terminal.types("n")
    await ann.terminal.expects { $0.cursor != nil }
    let editing = try #require(screen.editing.current)
    let texts = Set(TextCommands.keys.keys.filter { editing.answers($0) })
    #expect(texts.count > 8)
    let all = screen.commands.union(texts)
    #expect(screen.application.menuBar.problems(commands: Array(all)) == [])
    #expect(Set(screen.application.menuBar.commands.map(\.command)) == all)
    ann.terminal.press(.escape)
    ann.terminal.types("h")
    await ann.terminal.expects("history: revision")
    // The past has a bar of its own, with all that is answered there.
    let history = try #require(screen.history.window)
    let past = history.commands.filter { HistoryWindow.passing.contains($0) || history.state(of: $0).isEnabled }
    #expect(past.count > 15)
    #expect(screen.application.menuBar.problems(commands: Array(past)) == [])
    #expect(Set(screen.application.menuBar.commands.map(\.command)) == past)
    ann.terminal.types("h")
    await ann.terminal.expects { !$0.text.contains("history: revision") && $0.text.contains("Arrange") }
    #expect(Set(screen.application.menuBar.commands.map(\.command)) == all)
    await stage.close()
  }
}
