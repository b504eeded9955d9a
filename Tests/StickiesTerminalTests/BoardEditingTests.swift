#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// Typing in notes, and its effects.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardEditingTests {
  @Test func emptyNewNoteIsNotStored() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    ann.terminal.types("n")
    await ann.terminal.expects("┏")
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("┏")
    // A note that was typed into and emptied again is deleted as well.
    ann.terminal.types("nab")
    await ann.terminal.expects { $0.text.contains("ab") && !$0.text.contains("not yet") }
    ann.terminal.press(.backspace)
    ann.terminal.press(.backspace)
    ann.terminal.press(.escape)
    await ann.terminal.expects { !$0.text.contains("┏") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().isEmpty)
    ann.terminal.types("n")
    ann.terminal.types("kept")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("kept") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.number) == [2])
    await stage.close()
  }

  @Test func newNoteAppearsUnderMouseAndVisible() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    ann.terminal.mouse(.move, 20, 5)
    ann.terminal.types("n")
    ann.terminal.types("here\n")
    await ann.terminal.expects { $0.place(of: "┏ here") == Point(x: 20, y: 5) }
    ann.terminal.press(.escape)
    // In the corner there would be no room for it.
    ann.terminal.mouse(.move, 79, 22)
    ann.terminal.types("n")
    ann.terminal.types("there\n")
    await ann.terminal.expects { $0.place(of: "┏ there") == Point(x: 55, y: 11) }
    await stage.close()
  }

  @Test func pasteWithoutOpenTextCreatesNoteAndUndoRemovesIt() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    await ann.terminal.expects("There are no notes on Work yet")
    ann.terminal.mouse(.move, 20, 5)
    ann.terminal.paste("milk\nbread")
    await ann.terminal.expects {
      $0.place(of: "┏ milk") == Point(x: 20, y: 5) && $0.text.contains("bread") && $0.text.contains("u removes it")
        && $0.cursor == nil && !$0.text.contains("not yet")
    }
    #expect(try await stage.stored().map(\.text) == ["milk\nbread"])
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    #expect(try await stage.stored().isEmpty)
    // A paste that arrives in pieces is one note.
    ann.terminal.paste("one half, ", isOpen: true)
    await ann.terminal.expects { $0.text.contains("the paste is not complete") && $0.cursor != nil }
    ann.terminal.paste("the other")
    ann.terminal.press(.escape)
    await ann.terminal.expects {
      $0.text.contains("one half, the other") && $0.cursor == nil && !$0.text.contains("not yet")
    }
    #expect(try await stage.stored().map(\.text) == ["one half, the other"])
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    #expect(try await stage.stored().isEmpty)
    // The help would cover it.
    ann.terminal.types("?")
    await ann.terminal.expects("New Note")
    ann.terminal.paste("unseen")
    ann.terminal.press(.escape)
    await ann.terminal.expects { !$0.text.contains("New Note") && !$0.text.contains("unseen") }
    await stage.close()
  }

  @Test func boardScrollsWithCursor() async throws {
    let stage = try await BoardFixture()
    // Most of it lies beyond the right lower corner of the screen.
    _ = try await stage.note((0..<8).map { "line \($0)" }.joined(separator: "\n"), x: 560, y: 288)
    let ann = try await stage.open()
    let title = try #require(await ann.terminal.expects("line 0").place(of: "line 0"))
    // A click scrolls nothing.
    ann.terminal.click(title.x, title.y)
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.cursor == Point(x: 78, y: 21) && $0.text.contains("line 7") }
    ann.terminal.types(" and words")
    await ann.terminal.expects { $0.cursor == Point(x: 78, y: 21) && $0.text.contains("line 7 and words") }
    // The cursor moves to the visible beginning of the text; then that scrolls out of view above.
    ann.terminal.press(.home, .control)
    await ann.terminal.expects { $0.cursor == Point(x: 62, y: 14) }
    for _ in 0..<6 { ann.terminal.mouse(.wheel(.down), 5, 5) }
    await ann.terminal.expects { $0.cursor == nil }
    ann.terminal.types("x")
    await ann.terminal.expects { $0.cursor == Point(x: 63, y: 2) && $0.text.contains("xline 0") }
    ann.terminal.resize(Size(width: 60, height: 12))
    await ann.terminal.expects { $0.cursor == Point(x: 58, y: 2) }
    await stage.close()
  }

  @Test func coveredNoteIsShownWhileFocusedAndEdited() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("under", x: 96, y: 64)
    let over = try await stage.note("over", x: 80, y: 32)
    (over.width, over.height, over.z) = (320, 320, 9)
    try await stage.other.save()
    let (ann, ben) = (try await stage.open(), try await stage.open("ben@test"))
    for seat in [ann, ben] { await seat.terminal.expects { $0.text.contains("over") && !$0.text.contains("under") } }
    ann.terminal.press(.tab)
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ under")
    ann.terminal.press(.enter)
    ann.terminal.types("\nmore")
    await ann.terminal.expects { $0.text.contains("more") && $0.cursor != nil && !$0.text.contains("not yet") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ under") && !$0.text.contains("more") }
    await ben.terminal.expects { $0.text.contains("over") && !$0.text.contains("under") }
    await stage.close()
  }

  @Test func textTypedOfflineIsOfferedWhenNoteIsDeleted() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("one")
    let ann = try await stage.open()
    await ann.terminal.expects("one")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.cursor != nil }
    stage.other.context.delete(note)
    // Some of the letters arrive before the delete, some after it, and some of those would be answers.
    for letter in " and" { ann.terminal.types(String(letter)) }
    try await stage.other.save(policy: .objectTrump)
    for letter in " more" { ann.terminal.types(String(letter)) }
    await ann.terminal.expects("The note is gone")
    await ann.terminal.expects("New note with it")
    ann.terminal.types("n")
    await ann.terminal.expects { !$0.text.contains("The note is gone") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == ["one and more"])
    await stage.close()
  }

  @Test func deleteDuringDragEndsItsUndoStep() async throws {
    let stage = try await BoardFixture()
    let gone = try await stage.note("doomed", x: 16, y: 32)
    _ = try await stage.note("stays", x: 320, y: 32)
    let ann = try await stage.open()
    let place = try #require(await ann.terminal.expects("doomed").place(of: "doomed"))
    ann.terminal.mouse(.press(.left), place.x, place.y)
    ann.terminal.mouse(.drag(.left), place.x + 2, place.y + 1)
    // The mouse has it.
    await ann.terminal.expects { $0.place(of: "doomed") == Point(x: place.x + 2, y: place.y + 1) }
    stage.other.context.delete(gone)
    try await stage.other.save(policy: .objectTrump)
    await ann.terminal.expects { $0.text.contains("ben@test has deleted the note") && !$0.text.contains("doomed") }
    ann.terminal.mouse(.release(.left), place.x + 2, place.y + 1)
    ann.terminal.press(.tab)
    let symbols = Theme().symbols
    for (key, symbol) in [("p", symbols.badges.pinned), ("-", symbols.badges.collapsed)] {
      ann.terminal.types(key)
      await ann.terminal.expects { $0.text.contains(symbol) && !$0.text.contains("not yet") }
    }
    let folded = try await stage.stored()
    #expect(folded.map(\.collapsed) == [true] && folded.map(\.pinned) == [true])
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    // The last step alone.
    let stored = try await stage.stored()
    #expect(stored.map(\.collapsed) == [false] && stored.map(\.pinned) == [true])
    await stage.close()
  }

  @Test func helpDuringDragEndsItsUndoStep() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("drag me", x: 80, y: 64)
    let ann = try await stage.open()
    let place = try #require(await ann.terminal.expects("drag me").place(of: "drag me"))
    ann.terminal.mouse(.press(.left), place.x, place.y)
    ann.terminal.mouse(.drag(.left), place.x + 2, place.y + 1)
    await ann.terminal.expects { $0.place(of: "drag me") == Point(x: place.x + 2, y: place.y + 1) }
    ann.terminal.types("?")
    await ann.terminal.expects("New Note")
    ann.terminal.mouse(.release(.left), place.x + 2, place.y + 1)
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("New Note")
    let pinned = String(Theme().symbols.badges.pinned)
    ann.terminal.types("p")
    await ann.terminal.expects { $0.text.contains(pinned) && !$0.text.contains("not yet") }
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    // The last step alone.
    let stored = try await stage.stored()
    #expect(stored.map(\.pinned) == [false] && stored.map(\.x) == [96])
    await stage.close()
  }

  @Test func wordCommandsMoveSelectReplaceAndUndo() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    let ann = try await stage.open()
    await ann.terminal.expects("● ○")
    ann.terminal.types("n")
    ann.terminal.types("one two three")
    // Elsewhere these keys scroll the board, go to another one and stop the program.
    ann.terminal.press(.left, .control)
    ann.terminal.types("big ")
    await ann.terminal.expects("one two big three")
    ann.terminal.press(.left, [.control, .shift])
    ann.terminal.press(.left, [.alt, .shift])
    ann.terminal.types("2 ")
    await ann.terminal.expects("one 2 three")
    ann.terminal.press(.character("z"), .control)
    await ann.terminal.expects("one two big three")
    ann.terminal.press(.character("y"), .control)
    await ann.terminal.expects { $0.text.contains("one 2 three") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == ["one 2 three"])
    ann.terminal.press(.character("a"), .control)
    ann.terminal.types("line\nand line")
    await ann.terminal.expects { $0.text.contains("and line") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == ["line\nand line"])
    await stage.close()
  }

  @Test func doubleClickSelectsWordAndTripleClickLine() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("copy this word\nand more", x: 80, y: 64)
    let ann = try await stage.open()
    await ann.terminal.expects("and more")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    // The text begins in the third column and the second row of its note.
    ann.terminal.click(18, 6, times: 2)
    ann.terminal.press(.character("c"), .control)
    ann.terminal.types("that")
    await ann.terminal.expects("copy that word")
    #expect(ann.terminal.sent.last == TerminalSequences.clipboard("this"))
    ann.terminal.click(18, 6, times: 3)
    ann.terminal.press(.character("x"), .control)
    await ann.terminal.expectsNo("copy that word")
    #expect(ann.terminal.sent.last == TerminalSequences.clipboard("copy that word\n"))
    await stage.close()
  }

  @Test func dragDuringTypingIsASeparateUndoStep() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("word", x: 80, y: 64)
    let ann = try await stage.open()
    await ann.terminal.expects("word")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    ann.terminal.types(" one")
    await ann.terminal.expects { $0.text.contains("word one") && !$0.text.contains("not yet") }
    ann.terminal.mouse(.press(.left), 22, 5)
    ann.terminal.mouse(.drag(.left), 32, 5)
    ann.terminal.mouse(.release(.left), 32, 5)
    ann.terminal.types(" two")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("word one two") && !$0.text.contains("not yet") }
    func state() async throws -> String {
      let note = try #require(try await stage.stored().first)
      return "\(note.text) at \(note.x)"
    }
    let moved = 80 + 10 * BoardScale.pointsPerColumn
    #expect(try await state() == "word one two at \(moved)")
    for wanted in ["word one at \(moved)", "word one at 80.0", "word at 80.0"] {
      ann.terminal.types("u")
      await ann.terminal.expects("Undone")
      #expect(try await state() == wanted)
      // The next key removes the message about the previous one.
      ann.terminal.press(.tab)
      await ann.terminal.expectsNo("Undone")
    }
    await stage.close()
  }

  @Test func emptyNoteDoesNotAskOnQuit() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.types("n")
    ann.terminal.press(.character("q"), .control)
    #expect(await ann.end.value == 0)
    try stage.restart()
    await stage.close()
  }

  @Test func signalSavesEverythingBeforeExit() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    let ben = try await stage.open("ben@test")
    ann.terminal.types("n")
    ann.terminal.types("last words")
    ann.terminal.asksToEnd(SIGTERM)
    #expect(await ann.end.value == 0)
    await ben.terminal.expects("last words")
    await stage.close()
  }

  /// A text saved in another program is sent like text typed here, and kept in a file if no server accepts it.
  @Test(arguments: [true, false]) func signalDuringExternalEditorSavesEverything(isServed: Bool) async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first words")
    let ann = try await stage.open(patience: isServed ? 600_000 : 300)
    await ann.terminal.expects("first words")
    let editor = BlockedEditor(on: stage, ending: " and what is written too late")
    ann.terminal.press(.tab)
    ann.terminal.types("E")
    await editor.begins()
    stage.savedOutside = "first words, last words"
    if !isServed { stage.kill() }
    ann.terminal.asksToEnd(SIGHUP)
    _ = await ann.end.value
    await editor.end(on: ann.terminal)
    // Later texts are not sent: their file stays.
    #expect(stage.discards == 0)
    if isServed {
      #expect(try await stage.stored().map(\.text) == ["first words, last words"])
      #expect(stage.unsentTexts == nil)
    } else {
      #expect(stage.unsentTexts == "first words, last words")
      try stage.restart()
    }
    await stage.close()
  }

  /// A user who is asked before leaving without a connection can accept, stay, and continue writing.
  @Test func textSavedTwiceInExternalEditorIsCommittedOnce() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("one")
    let ann = try await stage.open()
    await ann.terminal.expects("one")
    let editor = BlockedEditor(on: stage, ending: " two three")
    ann.terminal.press(.tab)
    stage.kill()
    await ann.terminal.expects("reconnecting")
    // Keys typed ahead: the editor is starting, and no second one is started.
    ann.terminal.types("EE")
    await editor.begins()
    stage.savedOutside = "one two"
    ann.terminal.press(.character("q"), .control)
    await ann.terminal.expects { $0.text.contains("Leave?") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { !$0.text.contains("Leave?") && $0.text.contains("one two") }
    await editor.end(on: ann.terminal)
    await ann.terminal.expects("one two three")
    try stage.restart()
    await ann.terminal.expectsNo("not yet")
    #expect(try await stage.stored().map(\.text) == ["one two three"])
    #expect(stage.discards == 1)
    await stage.close()
  }

  /// A terminal that does not know pastes sends them as keys.
  @Test func longPastedKeysAreInsertedTogether() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    await ann.terminal.expects("There are no notes on Work yet")
    let lines = (0..<400).map { "line \($0) of what was pasted" }
    ann.terminal.types("n" + lines.joined(separator: "\n"))
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("line 0 of") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == [lines.joined(separator: "\n")])
    await stage.close()
  }

  @Test func textOfNoteDeletedDuringDisconnectIsOffered() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("alpha")
    let ann = try await stage.open()
    await ann.terminal.expects("alpha")
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    ann.terminal.types(" and an hour of words")
    ann.terminal.press(.escape)
    await ann.terminal.expects("1 change")
    try await stage.whileAway { carl in
      carl.context.delete(try #require(try await carl.fetch(Note.self).first))
      try await carl.save()
    }
    try stage.restart()
    // Another word is not an answer to the question. The text exists nowhere else.
    await ann.terminal.expects {
      $0.text.contains("carl@test has deleted the note that you have written in") && $0.text.contains("(n)")
        && $0.text.contains("alpha and an hour of words")
    }
    ann.terminal.types("n")
    await ann.terminal.expects { $0.text.contains("alpha and an hour") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == ["alpha and an hour of words"])
    await stage.close()
  }

  @Test func unsavableTextDoesNotBlockOtherNotes() async throws {
    let stage = try await BoardFixture()
    let most = NoteController.maximumText
    _ = try await stage.note(String(repeating: "long words\n", count: most / 11))
    _ = try await stage.note("other", x: 300)
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("long words") && $0.text.contains("other") }
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    ann.terminal.paste("more than there is room for")
    await ann.terminal.expects("a note can have at most 4 MiB of text")
    ann.terminal.press(.escape)
    // Another program does not know the maximum length.
    ann.terminal.types("E")
    await ann.terminal.expects { $0.text.contains("Not saved") && $0.text.contains("/unsent") }
    ann.terminal.types("o")
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    await ann.terminal.expects { !$0.text.contains("not yet") && !$0.text.contains("Not saved") }
    let stored = try await stage.stored()
    #expect(stored.map { $0.text.utf8.count } == [most / 11 * 11, 5])
    #expect(stored[1].color != .yellow)
    #expect(stage.unsentTexts?.hasSuffix("(edited outside)") == true)
    await stage.close()
  }

  /// Notes that were edited while the server was away, and that another user deleted meanwhile.
  private func orphans(_ count: Int, editing: Bool) async throws -> (stage: BoardFixture, ann: TestUser) {
    let stage = try await BoardFixture()
    for number in 0..<count { _ = try await stage.note("note\(number)", x: 16 + 300 * Double(number)) }
    let ann = try await stage.open()
    await ann.terminal.expects("note\(count - 1)")
    stage.kill()
    await ann.terminal.expects("reconnecting")
    for number in 0..<count {
      ann.terminal.press(.tab)
      ann.terminal.press(.enter)
      ann.terminal.types(" mine\(number)")
      await ann.terminal.expects("mine\(number)")
      if number < count - 1 || !editing { ann.terminal.press(.escape) }
    }
    return (stage, ann)
  }

  private func deleteAllElsewhere(_ stage: BoardFixture) async throws {
    try await stage.whileAway { carl in
      for note in try await carl.fetch(Note.self) { carl.context.delete(note) }
      try await carl.save()
    }
    try stage.restart()
  }

  @Test func unplacedTextIsOfferedOnQuit() async throws {
    let (stage, ann) = try await orphans(1, editing: false)
    ann.terminal.types("q")
    await ann.terminal.expects { $0.text.contains("Leave?") && $0.text.contains("(w)") }
    ann.terminal.types("w")
    await ann.terminal.expects("leaves when")
    try await deleteAllElsewhere(stage)
    await ann.terminal.expects { $0.text.contains("has deleted the note") && $0.text.contains("(n)") }
    // The question can't be bypassed either.
    ann.terminal.press(.character("q"), .control)
    await ann.terminal.expects("decide about the text first")
    ann.terminal.types("n")
    await ann.terminal.expects { $0.text.contains("note0 mine0") && !$0.text.contains("not yet") }
    ann.terminal.types("q")
    #expect(await ann.end.value == 0)
    #expect(try await stage.stored().map(\.text) == ["note0 mine0"])
    await stage.close()
  }

  @Test func textsOfTwoDeletedNotesAreBothOffered() async throws {
    let (stage, ann) = try await orphans(2, editing: true)
    try await deleteAllElsewhere(stage)
    for _ in 0..<2 {
      await ann.terminal.expects("(n)")
      ann.terminal.types("n")
      await ann.terminal.expectsNo("(n)")
    }
    // One lies over the other.
    await ann.terminal.expects {
      $0.text.contains("note0") && $0.text.contains("mine1") && !$0.text.contains("not yet")
    }
    #expect(Set(try await stage.stored().map(\.text)) == ["note0 mine0", "note1 mine1"])
    await stage.close()
  }

  @Test func obsoleteQuestionIsFollowedByTheNext() async throws {
    let (stage, ann) = try await orphans(2, editing: true)
    let id = try #require(ann.session.screen?.editing.current?.id)
    try await deleteAllElsewhere(stage)
    await ann.terminal.expects("The note is gone")
    // The server has answered the sent text, and has created no note for it.
    _ = try await ann.client.fetch(Board.self)
    #expect(try await stage.stored().isEmpty)
    _ = try await stage.other.restore(id)
    await ann.terminal.expects {
      $0.text.contains("Keep the text?") && $0.text.contains("(n)") && !$0.text.contains("The note is gone")
    }
    ann.terminal.types("n")
    await ann.terminal.expects { !$0.text.contains("(n)") && !$0.text.contains("not yet") }
    #expect(Set(try await stage.stored().map(\.text)) == ["note0 mine0", "note1 mine1"])
    await stage.close()
  }

  @Test func signalDuringQuestionSavesTextToFile() async throws {
    let (stage, ann) = try await orphans(1, editing: false)
    try await deleteAllElsewhere(stage)
    await ann.terminal.expects("has deleted the note")
    ann.terminal.asksToEnd(SIGTERM)
    _ = await ann.end.value
    #expect(stage.unsentTexts == "note0 mine0")
    await stage.close()
  }
}
