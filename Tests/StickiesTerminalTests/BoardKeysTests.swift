import GraphReplica
import StickiesKit
import StickiesModel
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The mouse's functions at a note or a link, by keys alone.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardKeysTests {
  @Test func windowsAreClosedAndReopenedByKeys() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first", x: 16)
    _ = try await stage.note("second", x: 300)
    let ann = try await stage.open()
    await ann.terminal.expects("second")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ first")
    ann.terminal.types("w")
    await ann.terminal.expects { $0.text.contains("the window is closed") && !$0.text.contains("first") }
    ann.terminal.types("o")
    await ann.terminal.expects("┏ first")
    ann.terminal.types("ea")
    await ann.terminal.expects { $0.text.contains("● first") && $0.text.contains("● second") }
    ann.terminal.types("w")
    await ann.terminal.expects {
      $0.text.contains("2 windows are closed") && !$0.text.contains("first") && !$0.text.contains("second")
    }
    ann.terminal.types("o")
    await ann.terminal.expects { $0.text.contains("first") && $0.text.contains("second") }
    #expect(try await stage.stored().map(\.text) == ["first", "second"])
    await stage.close()
  }

  @Test func consecutiveMoveKeysAreOneUndoStep() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first", x: 16, y: 32)
    _ = try await stage.note("other", x: 320, y: 32)
    let ann = try await stage.open()
    let screen = try #require(ann.session.screen)
    await ann.terminal.expects { $0.text.contains("first") && $0.text.contains("other") }
    ann.terminal.press(.tab)
    for key in [Key.right, .right, .down] { ann.terminal.press(key) }
    await ann.terminal.expects { $0.place(of: "┏ first") == Point(x: 4, y: 4) && !$0.text.contains("not yet") }
    // Another note, a pause, and another action on that note.
    ann.terminal.press(.tab)
    ann.terminal.press(.right)
    await ann.terminal.expects { $0.place(of: "┏ other") == Point(x: 41, y: 3) && !$0.text.contains("not yet") }
    _ = screen.application.runTurn(at: screen.now + KeyRepeatGroup.pauseMilliseconds)
    for _ in 0..<2 { ann.terminal.press(.right) }
    await ann.terminal.expects { $0.place(of: "┏ other") == Point(x: 43, y: 3) && !$0.text.contains("not yet") }
    for _ in 0..<2 { ann.terminal.press(.right, .shift) }
    let mark = String(Theme().symbols.resize)
    await ann.terminal.expects { $0.place(of: mark) == Point(x: 69, y: 14) && !$0.text.contains("not yet") }
    let steps = [
      "32.0,48.0 344.0,200.0", "32.0,48.0 328.0,200.0", "32.0,48.0 320.0,200.0", "16.0,32.0 320.0,200.0",
    ]
    for wanted in steps {
      ann.terminal.types("u")
      await ann.terminal.expects("Undone")
      let stored = try await stage.stored()
      #expect("\(stored[0].x),\(stored[0].y) \(stored[1].x),\(stored[1].width)" == wanted)
      ann.terminal.press(.escape)
      await ann.terminal.expectsNo("Undone")
    }
    await stage.close()
  }

  @Test func pageKeysSkipManyNotes() async throws {
    let stage = try await BoardFixture()
    try await stage.row(of: 0..<30)
    let ann = try await stage.open()
    let screen = try #require(ann.session.screen)
    let page = screen.navigation.notesPerPage
    #expect((10..<29).contains(page))
    await ann.terminal.expects("n2 ")
    // Without a focus, a page moves from the first note.
    let steps: [(Key, Int)] = [
      (.pageDown, page - 1), (.pageDown, 29), (.pageDown, 29), (.pageUp, 29 - page), (.home, 0), (.pageUp, 0),
      (.end, 29),
    ]
    for (key, number) in steps {
      ann.terminal.press(key)
      await ann.terminal.expects("┏ n\(number) ")
    }
    ann.terminal.types("/n")
    await ann.terminal.expects("30 notes")
    ann.terminal.press(.pageUp)
    await ann.terminal.expects("┏ n\(29 - page) ")
    await stage.close()
  }

  @Test func boardKeysAreIgnoredUnderQuestionAndHelp() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("first", x: 16)
    let ann = try await stage.open()
    let screen = try #require(ann.session.screen)
    await ann.terminal.expects { $0.text.contains("first") && $0.text.contains("● ○") }
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    await ann.terminal.expects { !$0.text.contains("not yet") }
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    let color = try await stage.stored().map(\.color)
    func pressAll() {
      ann.terminal.press(.right, .alt)
      ann.terminal.press(.character("r"), .control)
      ann.terminal.press(.function(10))
    }
    screen.questions.ask(
      QuestionText(
        title: "Sure?", lines: ["This is final."], choices: [.init(key: "y", title: "Yes") {}], cancel: {}))
    await ann.terminal.expects("This is final.")
    pressAll()
    ann.terminal.press(.escape)
    await ann.terminal.expects { !$0.text.contains("This is final.") && $0.text.contains("│ Work") }
    ann.terminal.types("?")
    await ann.terminal.expects("─ Help ─")
    pressAll()
    ann.terminal.press(.escape)
    await ann.terminal.expects { !$0.text.contains("─ Help ─") && $0.text.contains("│ Work") }
    #expect(try await stage.stored().map(\.color) == color)
    // And are the board's again.
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects("│ Home")
    await stage.close()
  }

  @Test func keysAfterUndoStartNewStep() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first", x: 16, y: 32)
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    ann.terminal.press(.right)
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    ann.terminal.press(.right)
    ann.terminal.press(.right)
    await ann.terminal.expects { $0.place(of: "┏ first") == Point(x: 4, y: 3) && !$0.text.contains("not yet") }
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    #expect(try await stage.stored().map(\.x) == [16])
    await stage.close()
  }

  private func labels(_ stage: BoardFixture) async throws -> [String] {
    try await stage.other.fetch(Link.self).map(\.label).sorted()
  }

  @Test func linkLabelIsEditedByKeys() async throws {
    let stage = try await BoardFixture()
    let alpha = try await stage.note("alpha", x: 16)
    let omega = try await stage.note("omega", x: 400)
    let below = try await stage.note("below", x: 16, y: 200)
    for note in [alpha, omega, below] { (note.width, note.height) = (120, 64) }
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("omega") && $0.text.contains("below") }
    ann.terminal.press(.tab)
    ann.terminal.types("W")
    await ann.terminal.expects("no line leads to this note")
    ann.terminal.types("L")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    await ann.terminal.expects("linked; u undoes it")
    await ann.terminal.expects { $0.text.contains("→") && !$0.text.contains("not yet") }
    // A single line needs no choice; the focus is at the note where it ends.
    ann.terminal.types("W")
    await ann.terminal.expects("Label")
    ann.terminal.types("knows\n")
    await ann.terminal.expects { $0.text.contains(" knows ") && !$0.text.contains("not yet") }
    #expect(try await labels(stage) == ["knows"])

    let line = Link(in: stage.other.context)
    (line.from, line.to) = (alpha, below)
    try await stage.other.save()
    await ann.terminal.expects("↓")
    ann.terminal.press(.tab, .shift)
    await ann.terminal.expects("┏ alpha")
    ann.terminal.types("W")
    await ann.terminal.expects("Return writes")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ omega")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ below")
    ann.terminal.press(.enter)
    await ann.terminal.expects("Label")
    ann.terminal.types("over\n")
    await ann.terminal.expects { $0.text.contains(" over") && !$0.text.contains("not yet") }
    #expect(try await labels(stage) == ["knows", "over"])

    // Without a link no label can be edited, and Escape leaves.
    ann.terminal.press(.tab, .shift)
    await ann.terminal.expects("┏ omega")
    ann.terminal.types("L")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ below")
    ann.terminal.types("W")
    await ann.terminal.expects("no line leads there")
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("no line leads there")
    // It is an editor again that Return opens.
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.cursor != nil }
    #expect(try await labels(stage) == ["knows", "over"])
    await stage.close()
  }

  @Test func labelFollowsTheFocusedLink() async throws {
    let stage = try await BoardFixture()
    let alpha = try await stage.note("alpha", x: 16)
    let omega = try await stage.note("omega", x: 400)
    let line = Link(in: stage.other.context)
    (line.from, line.to, line.label) = (alpha, omega, "old")
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects(" old ")
    ann.terminal.press(.tab)
    ann.terminal.types("L")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ omega")
    ann.terminal.types("W")
    // The existing text is there to be changed.
    await ann.terminal.expects { $0.text.contains("Label") && $0.text.contains("3 characters") }
    ann.terminal.types("er\n")
    await ann.terminal.expects { $0.text.contains(" older ") && !$0.text.contains("not yet") }
    #expect(try await labels(stage) == ["older"])
    await stage.close()
  }
}
