import Foundation
import GraphReplica
import StickiesKit
import StickiesModel
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The behavior of each controller of a board: without any of them, one of these tests fails.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardControllerTests {
  @Test func slowBoardShowsOverlayAndNeverPreviousNotes() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("at work")
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("at work") && $0.text.contains("● ○") }
    stage.freeze()
    ann.terminal.types("2")
    await ann.terminal.expects { $0.text.contains("Loading") && !$0.text.contains("at work") }
    // There is nothing to edit yet, and no note to choose first.
    ann.terminal.types("t")
    ann.terminal.resize(Size(width: 82, height: 24))
    await ann.terminal.expects("the wait only") {
      $0.size.width == 82 && $0.text.contains("Loading") && !$0.text.contains("no note is chosen")
    }
    // Keys that make sense still do.
    ann.terminal.types("?")
    await ann.terminal.expects("New Note")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("Loading") && !$0.text.contains("New Note") }
    stage.thaw()
    await ann.terminal.expects { $0.text.contains("│ Home") && !$0.text.contains("Loading") }
    await ann.terminal.expects("There are no notes on Home yet")
    await stage.close()
  }

  @Test func noteForLoadingBoardAppearsWithIt() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    let ann = try await stage.open()
    await ann.terminal.expects("● ○")
    stage.freeze()
    ann.terminal.types("2nnot lost")
    await ann.terminal.expects("Loading")
    stage.thaw()
    await ann.terminal.expects { $0.text.contains("│ Home") && $0.text.contains("not lost") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("not lost") && !$0.text.contains("not yet") }
    let note = try #require(try await stage.other.fetch(Note.self, where: "board.name == 'Home'").first)
    #expect(note.text == "not lost")
    await stage.close()
  }

  private func delete(_ name: String, _ stage: BoardFixture) async throws {
    let board = try #require(try await stage.other.fetch(Board.self).first { $0.name == name })
    stage.other.context.delete(board)
    try await stage.other.save()
  }

  @Test(arguments: [true, false]) func textTypedOnDeletedBoardIsOffered(hasAnother: Bool) async throws {
    let stage = try await BoardFixture(boards: hasAnother ? ["Work", "Home"] : ["Work"])
    _ = try await stage.note("first")
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    ann.terminal.types(" and more")
    await ann.terminal.expects { $0.text.contains("and more") && !$0.text.contains("not yet") }
    try await delete("Work", stage)
    if !hasAnother {
      await ann.terminal.expects("The note is gone")
      let fresh = Board(in: stage.other.context)
      fresh.name = "Home"
      try await stage.other.save()
    }
    await ann.terminal.expects { $0.text.contains("the board Work is deleted") && $0.text.contains("│ Home") }
    // Its answers wait for a pause in the user's typing.
    await ann.terminal.expects("New note with it")
    ann.terminal.types("n")
    await ann.terminal.expects { $0.text.contains("first and more") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == ["first and more"])
    await stage.close()
  }

  @Test func promptOfDeletedNoteDoesNotApplyToOthers() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    let note = try await stage.note("at work")
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("at work") && $0.text.contains("● ○") }
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects("│ Home")
    ann.terminal.types("nat home")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ at home") && !$0.text.contains("not yet") }
    ann.terminal.press(.left, .alt)
    await ann.terminal.expects("│ Work")
    ann.terminal.press(.tab)
    ann.terminal.types("t")
    await ann.terminal.expects("0 characters")
    try await delete("Work", stage)
    await ann.terminal.expects { $0.text.contains("│ Home") && !$0.text.contains("0 characters") }
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ at home")
    #expect(try await stage.stored().flatMap { $0.tags.map(\.name) } == [])
    // A note disappears under a prompt; its board stays.
    let other = try #require(try await stage.other.fetch(Note.self).first)
    ann.terminal.types("tlater")
    await ann.terminal.expects("5 characters")
    stage.other.context.delete(other)
    try await stage.other.save()
    // Later events have arrived.
    _ = try await ann.client.fetch(Board.self)
    ann.terminal.press(.enter)
    await ann.terminal.expects("the note is gone; nothing was changed")
    #expect(note.id.isTemporary == false)
    await stage.close()
  }

  @Test func scrollEndsOnIntendedBoardDespiteDeletes() async throws {
    let stage = try await BoardFixture(boards: ["One", "Two", "Three", "Four"])
    let ann = try await stage.open()
    await ann.terminal.expects("● ○ ○ ○")
    ann.terminal.types("2")
    await ann.terminal.expects("│ Two")
    // The commit arrives in the middle of the scroll: the keys and the commit are one batch of events.
    let board = try #require(try await stage.other.fetch(Board.self).first { $0.name == "One" })
    stage.other.context.delete(board)
    ann.terminal.press(.right, .alt)
    try await stage.other.save()
    await ann.terminal.expects { $0.text.contains("│ Three") && $0.text.contains("○ ● ○") }
    await stage.close()
  }

  @Test func pendingLinkAndDragEndWithTheirBoard() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("at work")
    let ann = try await stage.open()
    let place = try #require(await ann.terminal.expects("at work").place(of: "at work"))
    await ann.terminal.expects("● ○")
    ann.terminal.press(.tab)
    ann.terminal.types("L")
    await ann.terminal.expects("chooses the other note")
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects { $0.text.contains("│ Home") && !$0.text.contains("chooses the other note") }
    ann.terminal.types("nat home")
    ann.terminal.press(.escape)
    ann.terminal.press(.enter)
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("at home") && !$0.text.contains("not yet") }
    #expect(try await stage.other.fetch(Link.self).isEmpty)
    // A drag: later edits are a step of their own.
    ann.terminal.press(.left, .alt)
    await ann.terminal.expects("│ Work")
    ann.terminal.mouse(.press(.left), place.x, place.y)
    ann.terminal.mouse(.drag(.left), place.x + 4, place.y + 2)
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects("│ Home")
    ann.terminal.mouse(.release(.left), place.x + 4, place.y + 2)
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    await ann.terminal.expects { !$0.text.contains("not yet") }
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    let notes = try await stage.stored()
    #expect(notes.map(\.color) == [.yellow, .yellow])
    #expect(notes.first?.x == 48, "the drag was taken back with what was done on another board")
    await stage.close()
  }

  @Test func loadedBoardIsReachableWithoutServer() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("at work")
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("at work") && $0.text.contains("● ○") }
    stage.freeze()
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects { $0.text.contains("Loading") && $0.text.contains("│ Home") }
    stage.kill()
    // By now the overlay names the reason of the wait.
    await ann.terminal.expects { $0.text.contains("Reconnecting…") && !$0.text.contains("Loading") }
    ann.terminal.press(.left, .alt)
    await ann.terminal.expects {
      $0.text.contains("at work") && $0.text.contains("│ Work") && !$0.text.contains("Reconnecting…")
    }
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects { $0.text.contains("need the server") && $0.text.contains("at work") }
    await stage.close()
  }

  @Test func boardsScrollSideBySideAndReversedScrollReturns() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("at work", x: 16)
    _ = try await stage.note("far right", x: 460, y: 200)
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("at work") && $0.text.contains("● ○") }
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects("There are no notes on Home yet")
    // A note created during the scroll is on the destination board, and keys apply there.
    ann.terminal.types("nat home")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("at home") && $0.text.contains("○ ●") }
    // Both boards are followed: on the way they lie side by side.
    ann.terminal.press(.left, .alt)
    await ann.terminal.expects("both boards") { $0.text.contains("far right") && $0.text.contains("at home") }
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects("Home again") { $0.text.contains("at home") && !$0.text.contains("far right") }
    await ann.terminal.expects("│ Home")
    ann.terminal.press(.left, .alt)
    ann.terminal.types("nnew at work")
    await ann.terminal.expects { $0.text.contains("│ Work") && $0.text.contains("new at work") }
    #expect(!ann.terminal.grid.text.contains("at home"))
    ann.terminal.press(.escape)
    // Nothing lies beyond the first board: the scroll springs back.
    ann.terminal.press(.left, .alt)
    await ann.terminal.expects("this is the first board")
    await ann.terminal.expects("the board moved") { $0.place(of: "at work").map { $0.x > 10 } ?? false }
    await ann.terminal.expects("the board back") { $0.place(of: "at work").map { $0.x < 5 } ?? false }
    await stage.close()
  }

  @Test func boardIsOpenedByNameAndLastDeletedBoardRefusesNotes() async throws {
    let stage = try await BoardFixture(boards: ["Work"] + (1...12).map { "Board \($0)" } + ["Home"])
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("There are no notes on Work yet") && $0.text.contains("● ○") }
    ann.terminal.types("bho\n")
    await ann.terminal.expects("There are no notes on Home yet")
    ann.terminal.types("bnowhere\n")
    await ann.terminal.expects("no other board is called nowhere")
    let boards = try await stage.other.fetch(Board.self)
    for board in boards { stage.other.context.delete(board) }
    try await stage.other.save()
    await ann.terminal.expects {
      $0.text.contains("No board is left") && $0.text.contains("ben@test deleted the board")
        && !$0.text.contains("│ Home")
    }
    ann.terminal.click(40, 12, times: 2)
    ann.terminal.types("n")
    await ann.terminal.expects("there is no board for the note")
    let fresh = Board(in: stage.other.context)
    fresh.name = "Fresh"
    try await stage.other.save()
    await ann.terminal.expects {
      $0.text.contains("There are no notes on Fresh yet") && !$0.text.contains("not on the server")
    }
    #expect(try await stage.stored().isEmpty)
    await stage.close()
  }

  @Test func statusLineReportsMissingReply() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    await ann.terminal.expects("There are no notes on Work yet")
    stage.freeze()
    ann.terminal.types("n")
    ann.terminal.types("words")
    await ann.terminal.expects { $0.text.contains("connected, no answer") && $0.text.contains("not yet on the server") }
    stage.thaw()
    await ann.terminal.expects { !$0.text.contains("no answer") && !$0.text.contains("not yet") }
    await stage.close()
  }

  @Test func tooLongPasteIsTruncatedAndReported() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    ann.terminal.types("nbefore ")
    ann.terminal.paste("the beginning", isCut: true)
    await ann.terminal.expects { $0.text.contains("too much to paste at once") && $0.text.contains("before the") }
    ann.terminal.paste(", the middle", isOpen: true)
    await ann.terminal.expects {
      $0.text.contains("the paste is not complete") && $0.text.contains("the middle")
    }
    await stage.close()
  }

  @Test func tooSmallScreenAllowsOnlyQuitting() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first")
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ first")
    ann.terminal.resize(Size(width: 30, height: 8))
    await ann.terminal.expects("Too small")
    ann.terminal.press(.delete)
    ann.terminal.types("nunseen")
    ann.terminal.press(.character("z"), .control)
    ann.terminal.click(5, 5, times: 2)
    ann.terminal.resize(Size(width: 80, height: 24))
    await ann.terminal.expects { $0.text.contains("┏ first") && !$0.text.contains("unseen") }
    ann.terminal.types("h")
    await ann.terminal.expects("revision 2 of 2")
    ann.terminal.resize(Size(width: 30, height: 8))
    // Nothing of the past board is drawn over it.
    await ann.terminal.expects {
      $0.text.contains("Too small") && !$0.text.contains("2 of 2") && !$0.text.contains("first")
    }
    ann.terminal.resize(Size(width: 80, height: 24))
    await ann.terminal.expects("revision 2 of 2")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ first") && !$0.text.contains("revision") }
    ann.terminal.resize(Size(width: 30, height: 8))
    await ann.terminal.expects("Too small")
    await ann.terminal.expects("Until then q leaves")
    ann.terminal.types("q")
    #expect(await ann.end.value == 0)
    #expect(try await stage.stored().map(\.text) == ["first"])
    await stage.close()
  }

  @Test func typingOnTooSmallScreenReachesOpenText() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first")
    let ann = try await stage.open()
    let (small, large) = (Size(width: 30, height: 8), Size(width: 80, height: 24))
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.cursor != nil }
    ann.terminal.resize(small)
    await ann.terminal.expects { $0.text.contains("Too small") && $0.text.contains("Esc ends it") }
    ann.terminal.types(" words\nand letterx")
    ann.terminal.press(.backspace)
    ann.terminal.types("s")
    ann.terminal.paste(", pasted")
    // These would remove the text, or leave the place of the next letter unclear.
    for key in ["a", "u", "z"] as [Character] { ann.terminal.press(.character(key), .control) }
    for key in [Key.delete, .left, .home] { ann.terminal.press(key) }
    ann.terminal.types(".")
    ann.terminal.press(.escape)
    await ann.terminal.expects("Until then q leaves")
    ann.terminal.types("nunseen")
    ann.terminal.resize(large)
    await ann.terminal.expects {
      $0.text.contains("and letters, pasted.") && $0.cursor == nil && !$0.text.contains("not yet")
    }
    #expect(try await stage.stored().map(\.text) == ["first words\nand letters, pasted."])
    // A field of one line is no different; Return would do something with it.
    ann.terminal.types("/wo")
    await ann.terminal.expects { $0.text.contains("/ wo") && $0.text.contains("1 note") }
    ann.terminal.resize(small)
    await ann.terminal.expects("field; Ctrl-Q leaves")
    ann.terminal.types("rd\n")
    ann.terminal.resize(large)
    await ann.terminal.expects { $0.text.contains("/ word") && $0.cursor != nil }
    await stage.close()
  }

  @Test func nextBoardFollowsChangesOfOthers() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    let note = try await stage.note("before")
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("before") && $0.text.contains("● ○") }
    ann.terminal.press(.right, .alt)
    await ann.terminal.expects("There are no notes on Home yet")
    note.text = "after"
    try await stage.other.save()
    ann.terminal.press(.left, .alt)
    await ann.terminal.expects { $0.text.contains("│ Work") && $0.text.contains("after") }
    await stage.close()
  }

  @Test func sectionedListFollowsEveryCommitByRows() async throws {
    let stage = try await BoardFixture()
    let milk = try await stage.note("milk", x: 16, y: 160, color: .yellow)
    _ = try await stage.note("bread", x: 16, y: 320, color: .blue)
    let soap = try await stage.note("soap", x: 16, y: 480, color: .yellow)
    let ann = try await stage.open()
    await ann.terminal.expects("milk")
    func expect(_ rows: String...) async {
      await ann.terminal.expects("the rows \(rows)") { grid in
        rows.enumerated().allSatisfy { index, row in
          (1..<29).map { grid[$0, 2 + index].text }.joined().trimmingCharacters(in: .whitespaces) == row
        }
      }
    }
    ann.terminal.types("vg")
    await expect("Blue (1)", "bread", "Yellow (2)", "milk", "soap", "")
    // Three commits: one empties a section, one creates a section, one moves a note within its section.
    milk.color = .green
    soap.color = .blue
    try await stage.other.save()
    await expect("Blue (2)", "bread", "soap", "Green (1)", "milk", "")
    soap.y = 0
    milk.text = "oat milk"
    try await stage.other.save()
    await expect("Blue (2)", "soap", "bread", "Green (1)", "oat milk", "")
    stage.other.context.delete(milk)
    try await stage.other.save()
    await expect("Blue (2)", "soap", "bread", "")
    // Clicked rows are the notes that stand there.
    ann.terminal.click(5, 4)
    await ann.terminal.expects("┏ bread")
    // Unsent changes are shown anyway.
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.types("noffline")
    ann.terminal.press(.escape)
    await expect("Blue (2)", "soap", "bread", "Yellow (1)")
    try stage.restart()
    await ann.terminal.expects("connected")
    await expect("Blue (2)", "soap", "bread", "Yellow (1)", "offline", "")
    ann.terminal.types("g")
    await expect("soap", "bread", "offline", "")
    await stage.close()
  }

  @Test func waitForServerIsShownAndCancellable() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first")
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    stage.freeze()
    ann.terminal.types("h")
    await ann.terminal.expects { $0.text.contains("Loading the history") && $0.text.contains("Esc cancels") }
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("Loading")
    ann.terminal.types("u")
    await ann.terminal.expects("Waiting for the server")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("cancelled") && !$0.text.contains("Waiting for") }
    stage.thaw()
    // Answers for the closed window are dropped: the board is as it was, and history opens as before.
    _ = try await stage.note("second", x: 300)
    await ann.terminal.expects { $0.text.contains("second") && !$0.text.contains("revision") }
    ann.terminal.types("h")
    await ann.terminal.expects { $0.text.contains("revision") && $0.text.contains("second") }
    await stage.close()
  }

  @Test func quitWithSlowServerShowsSavingAndCanBeCancelled() async throws {
    let stage = try await BoardFixture()
    // On a slow machine, too, the overlay is visible.
    let ann = try await stage.unanswered(patience: 600_000)
    ann.terminal.types("q")
    await ann.terminal.expects { $0.text.contains("Saving") && $0.text.contains("Esc cancels") }
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("Saving")
    ann.terminal.types("q")
    await ann.terminal.expects("Saving")
    stage.thaw()
    #expect(await ann.end.value == 0)
    #expect(try await stage.stored().map(\.color) != [.yellow])
    await stage.close()
  }

  @Test func quitWithUnresponsiveServerAsksAfterDelay() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.unanswered(patience: 50)
    ann.terminal.types("q")
    await ann.terminal.expects { $0.text.contains("Leave?") && !$0.text.contains("Saving") }
    // The dialog can be closed when its answers can't be read, but not bypassed.
    ann.terminal.resize(Size(width: 20, height: 5))
    await ann.terminal.expects { $0.size.width == 20 }
    ann.terminal.types("d")
    ann.terminal.press(.character("c"), .control)
    await ann.terminal.expects("Too small")
    // When they can be read, an answer can be given.
    ann.terminal.resize(Size(width: 80, height: 24))
    await ann.terminal.expects { $0.text.contains("first") && !$0.text.contains("Leave?") }
    ann.terminal.types("q")
    await ann.terminal.expects { $0.text.contains("Leave?") && !$0.text.contains("Saving") }
    ann.terminal.resize(Size(width: 30, height: 8))
    await ann.terminal.expects { $0.size.width == 30 && $0.text.contains("(w)") && $0.text.contains("(d)") }
    ann.terminal.types("w")
    await ann.terminal.expects("Too small")
    stage.thaw()
    #expect(await ann.end.value == 0)
    await stage.close()
  }

  @Test func keysTypedBeforeQuestionAreNotItsAnswer() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first")
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    await ann.terminal.expects("1 change")
    ann.terminal.types("qd")
    await ann.terminal.expects("Leave?")
    ann.terminal.types("d")
    #expect(await ann.end.value == 0)
    try stage.restart()
    await stage.close()
  }

  @Test func signalWaitsForServerBriefly() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.unanswered(patience: 50)
    ann.terminal.asksToEnd(SIGTERM)
    #expect(await ann.end.value == 0)
    #expect(ann.session.loss?.count == 1)
    stage.thaw()
    await stage.close()
  }

  @Test func historyBeginsWithFirstRevision() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("at first")
    for text in ["then", "in the end"] {
      note.text = text
      try await stage.other.save()
    }
    let ann = try await stage.open()
    await ann.terminal.expects("in the end")
    ann.terminal.types("h")
    await ann.terminal.expects { $0.text.contains("revision 4 of 4, ") && $0.text.contains("in the end") }
    ann.terminal.press(.left)
    await ann.terminal.expects { $0.text.contains("revision 3 of 4, ") && $0.text.contains("then") }
    ann.terminal.press(.home)
    await ann.terminal.expects {
      $0.text.contains("revision 1 of 4, ") && $0.text.contains("ben@test") && !$0.text.contains("at first")
    }
    ann.terminal.press(.right)
    await ann.terminal.expects { $0.text.contains("revision 2 of 4, ") && $0.text.contains("at first") }
    // Ctrl-C leaves here, too.
    ann.terminal.press(.character("c"), .control)
    #expect(await ann.end.value == 0)
    await stage.close()
  }

  @Test func messageOfOneKeyIsClearedByNext() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first")
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    ann.terminal.types("l")
    await ann.terminal.expectsNo("not yet")
    ann.terminal.press(.enter)
    await ann.terminal.expects("the note is locked")
    ann.terminal.types("l")
    await ann.terminal.expectsNo("the note is locked")
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.types("u")
    await ann.terminal.expects("undo needs the server")
    try stage.restart()
    await ann.terminal.expects { !$0.text.contains("needs the server") && $0.text.contains(" connected") }
    await stage.close()
  }

  @Test func searchWithoutServerShowsReason() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("red apples")
    let ann = try await stage.open()
    await ann.terminal.expects("red apples")
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.types("/apples")
    await ann.terminal.expects("waits for the server")
    try stage.restart()
    await ann.terminal.expects("1 note")
    await stage.close()
  }

  @Test func selectionDropsDeletedNotesAndSurvivesScrolling() async throws {
    let stage = try await BoardFixture()
    let first = try await stage.note("first", x: 16, y: 64)
    _ = try await stage.note("second", x: 300, y: 64)
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("first") && $0.text.contains("second") }
    ann.terminal.types("ea")
    await ann.terminal.expects("Delete (2)")
    for _ in 1...8 { ann.terminal.press(.down, .control) }
    await ann.terminal.expects { $0.text.contains("Delete (2)") && !$0.text.contains("second") }
    stage.other.context.delete(first)
    try await stage.other.save()
    await ann.terminal.expects("Delete (1)")
    for _ in 1...8 { ann.terminal.press(.up, .control) }
    await ann.terminal.expects { $0.text.contains("● second") && $0.text.contains("Delete (1)") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { !$0.text.contains("● second") && !$0.text.contains("Delete (") }
    await stage.close()
  }

  @Test func searchKeepsBoardUpdatesAndRestoresFocus() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("red apples", x: 0, y: 64)
    _ = try await stage.note("green pears", x: 300, y: 64)
    let ann = try await stage.open()
    await ann.terminal.expects("green pears")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ red apples")
    // While the field is open, both the board and the search receive changes of notes.
    ann.terminal.types("/")
    await ann.terminal.expects("the field") { $0.cursor == Point(x: 3, y: 1) }
    _ = try await stage.note("blue plums", x: 0, y: 280)
    await ann.terminal.expects("blue plums")
    ann.terminal.types("pears")
    await ann.terminal.expects { $0.text.contains("1 note") && !$0.text.contains("red apples") }
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ green pears")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ red apples") && $0.text.contains("blue plums") }
    await stage.close()
  }

  @Test func returnInSearchWaitsForResultAndFocusesIt() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("red apples", x: 0, y: 64)
    _ = try await stage.note("green pears", x: 300, y: 64)
    let ann = try await stage.open()
    await ann.terminal.expects("green pears")
    let pinned = String(Theme().symbols.badges.pinned)
    // No search has been sent yet, and text typed after Return goes to the found note.
    ann.terminal.types("/pears\np")
    await ann.terminal.expects {
      $0.text.contains("┏ green pears") && $0.text.contains(pinned) && !$0.text.contains("not yet")
    }
    #expect(try await stage.stored().map(\.pinned) == [false, true])
    // Earlier results are no answer to the new search.
    ann.terminal.types("/")
    for _ in 0..<5 { ann.terminal.press(.backspace) }
    ann.terminal.types("apples\n")
    await ann.terminal.expects { $0.text.contains("┏ red apples") && !$0.text.contains("green pears") }
    ann.terminal.types("/ and more\n")
    await ann.terminal.expects { $0.text.contains("nothing found") && $0.text.contains("/ apples and more") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("green pears") && !$0.text.contains("and more") }
    await stage.close()
  }

  @Test func statusLineShowsRevision() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("at first")
    note.text = "in the end"
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects("in the end")
    stage.freeze()
    ann.terminal.types("h")
    // Nothing of the past is here yet: the board lies beneath.
    await ann.terminal.expects {
      $0.text.contains("Loading the history") && $0.text.contains("in the end") && !$0.text.contains("revision")
    }
    stage.thaw()
    await ann.terminal.expects { $0.text.contains("history: revision 3") && $0.text.contains("revision 3 of 3, ") }
    stage.freeze()
    ann.terminal.press(.left)
    await ann.terminal.expects {
      $0.text.contains("revision 2 of 3") && $0.text.contains("history: revision 3") && $0.text.contains("in the end")
    }
    stage.thaw()
    await ann.terminal.expects { $0.text.contains("history: revision 2") && $0.text.contains("at first") }
    await stage.close()
  }

  @Test func fieldEndsWithReturnAndCountsCharacters() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first")
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    // An empty name is no tag, and the field shows this until the user types.
    ann.terminal.types("t\n")
    await ann.terminal.expects { $0.text.contains("may not be empty") && !$0.text.contains("0 characters") }
    ann.terminal.types("work")
    await ann.terminal.expects { $0.text.contains("4 characters") && !$0.text.contains("may not be empty") }
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.text.contains("#work") && !$0.text.contains("characters") }
    // A text that is too long is not accepted, and the field says so.
    ann.terminal.types("t\(String(repeating: "x", count: 201))")
    await ann.terminal.expects("too long")
    ann.terminal.press(.enter)
    ann.terminal.press(.backspace)
    await ann.terminal.expects("200 characters")
    ann.terminal.press(.escape)
    // If no observer refuses, the edit ends.
    ann.terminal.types("/first\np")
    let pinned = String(Theme().symbols.badges.pinned)
    await ann.terminal.expects(pinned)
    await stage.close()
  }
}
