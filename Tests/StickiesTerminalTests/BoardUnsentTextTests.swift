import Foundation
import GraphClient
import GraphModel
import GraphTesting
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// Unsent texts whose note disappears from view.
@MainActor @Suite struct BoardUnsentTextTests {
  /// Takes the only note to the second board.
  private func moveToHome(_ stage: BoardFixture) async throws {
    let home = try #require(try await stage.other.fetch(Board.self, sort: [\.created.ascending]).last)
    let note = try #require(try await stage.stored().first)
    note.board = home
    try await stage.other.save()
  }

  private func boards(_ stage: BoardFixture) async throws -> [String?] {
    let boards = try await stage.other.fetch(Board.self)
    return try await stage.stored().map { note in boards.first { $0.id == note.board?.id }?.name }
  }

  @Test(arguments: [true, false]) func editorFollowsNoteMovedToOtherBoard(isNew: Bool) async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    if !isNew {
      _ = try await stage.note("first")
      // This note lies above, and keys do not affect it.
      _ = try await stage.note("second", x: 340)
    }
    let ann = try await stage.open()
    if isNew {
      ann.terminal.types("nfirst")
    } else {
      await ann.terminal.expects("second")
      ann.terminal.press(.tab)
      ann.terminal.press(.enter)
    }
    ann.terminal.types(" words")
    await ann.terminal.expects { $0.text.contains("first words") && !$0.text.contains("not yet") }
    try await moveToHome(stage)
    await ann.terminal.expects { $0.text.contains("The note has moved") && $0.text.contains("“Home”") }
    await ann.terminal.expects("(w)")
    ann.terminal.types("w")
    ann.terminal.types(" and more")
    ann.terminal.press(.escape)
    await ann.terminal.expects { !$0.text.contains("not yet") && !$0.text.contains("first words") }
    #expect(try await stage.stored().map(\.text).first == "first words and more")
    #expect(try await boards(stage).first == "Home")
    await stage.close()
  }

  @Test func followCommandOpensBoardOfNote() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    let ann = try await stage.open()
    ann.terminal.types("nalpha")
    await ann.terminal.expects { $0.text.contains("alpha") && !$0.text.contains("not yet") }
    try await moveToHome(stage)
    await ann.terminal.expects { $0.text.contains("The note has moved") && $0.text.contains("(g)") }
    ann.terminal.types("g")
    await ann.terminal.expects { $0.text.contains("Home") && $0.text.contains("alpha") && !$0.text.contains("(g)") }
    #expect(try await stage.stored().map(\.text) == ["alpha"])
    await stage.close()
  }

  @Test func externalEditorTextIsSavedOnOtherBoard() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("a long text\nof two lines")
    let ann = try await stage.open()
    await ann.terminal.expects("of two lines")
    stage.outside = { [stage] text in
      try await self.moveToHome(stage)
      let note = try #require(try await stage.stored().first)
      note.text = "a long text\nof just two lines"
      try await stage.other.save()
      // Later events have arrived.
      _ = try await ann.client.fetch(Board.self)
      return text.replacing("long", with: "LONG") + " and more"
    }
    ann.terminal.press(.tab)
    ann.terminal.types("E")
    await ann.terminal.expects("the note is on another board now")
    await ann.terminal.expectsNo("not yet")
    #expect(try await stage.stored().map(\.text) == ["a LONG text\nof just two lines and more"])
    #expect(try await boards(stage) == ["Home"])
    await stage.close()
  }

  @Test(arguments: [true, false]) func restoredStoreWithoutNoteDoesNotBlock(editing: Bool) async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("old", x: 300)
    stage.kill()
    try stage.keepStore()
    try stage.restart()
    let ann = try await stage.open()
    ann.terminal.types("nnewer")
    await ann.terminal.expects { $0.text.contains("newer") && !$0.text.contains("not yet") }
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.types(" words")
    if !editing { ann.terminal.press(.escape) }
    await ann.terminal.expects("1 change")
    try stage.bringBackStore()
    try stage.restart()
    await ann.terminal.expects {
      $0.text.contains(editing ? "The note is gone" : "without the note") && $0.text.contains("(n)")
    }
    ann.terminal.types("n")
    await ann.terminal.expects {
      $0.text.contains("newer words") && !$0.text.contains("(n)") && !$0.text.contains("not yet")
    }
    #expect(try await stage.stored().map(\.text).sorted() == ["newer words", "old"])
    ann.terminal.types("q")
    #expect(await ann.end.value == 0)
    await stage.close()
  }

  @Test func restoredStoreWithoutTagSavesNoteWithoutIt() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("alpha")
    stage.kill()
    try stage.keepStore()
    try stage.restart()
    let ann = try await stage.open()
    let beta = try await stage.note("beta", x: 300)
    let tag = Tag(in: stage.other.context)
    tag.name = "late"
    beta.tags.insert(tag)
    try await stage.other.save()
    await ann.terminal.expects("#late")
    // The list of tags is requested when the user needs it.
    ann.terminal.press(.tab)
    ann.terminal.types("tl")
    await ann.terminal.expects { $0.text.components(separatedBy: "late").count > 2 }
    ann.terminal.press(.escape)
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.types("tlate\nc")
    await ann.terminal.expects("1 change")
    try stage.bringBackStore()
    try stage.restart()
    await ann.terminal.expects {
      !$0.text.contains("not yet") && !$0.text.contains("beta") && $0.text.contains("connected")
    }
    let stored = try #require(try await stage.stored().first)
    #expect(stored.color != .yellow)
    #expect(stored.tags.isEmpty)
    await stage.close()
  }

  @Test func cutTextIsPastedInOtherNote() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("one")
    _ = try await stage.note("two", x: 300)
    let ann = try await stage.open()
    await ann.terminal.expects("two")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    for key in ["a", "x"] as [Character] { ann.terminal.press(.character(key), .control) }
    ann.terminal.press(.escape)
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    ann.terminal.press(.character("v"), .control)
    await ann.terminal.expects { $0.text.contains("twoone") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == ["", "twoone"])
    await stage.close()
  }

  @Test func longTextIsPastedWithoutTerminalClipboard() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    let long = String(repeating: "word ", count: TerminalSequences.maximumClipboard / 5 + 1)
    ann.terminal.types("n")
    ann.terminal.paste(long)
    await ann.terminal.expects { $0.text.contains("word word") && !$0.text.contains("not yet") }
    stage.other.context.delete(try #require(try await stage.stored().first))
    try await stage.other.save()
    await ann.terminal.expects("(c)")
    ann.terminal.types("c")
    await ann.terminal.expects("too long for the terminal's clipboard")
    ann.terminal.types("n")
    ann.terminal.press(.character("v"), .control)
    await ann.terminal.expects { $0.text.contains("word word") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == [long])
    await stage.close()
  }

  @Test func pasteUnderNewQuestionIsKept() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open(pause: 5_000)
    ann.terminal.types("none ")
    await ann.terminal.expects { $0.text.contains("one") && !$0.text.contains("not yet") }
    stage.other.context.delete(try #require(try await stage.stored().first))
    try await stage.other.save()
    await ann.terminal.expects("The note is gone")
    ann.terminal.types("typed ")
    ann.terminal.paste("pasted ")
    ann.terminal.types("after")
    await ann.terminal.expects("(n)")
    ann.terminal.types("n")
    await ann.terminal.expects {
      $0.text.contains("after") && !$0.text.contains("(n)") && !$0.text.contains("not yet")
    }
    #expect(try await stage.stored().map(\.text) == ["one typed pasted after"])
    await stage.close()
  }

  @Test(arguments: [true, false]) func typingContinuesInRestoredNote(isAway: Bool) async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("one")
    let id = note.id
    let ann = try await stage.open(pause: 5_000)
    await ann.terminal.expects("one")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.cursor != nil }
    if isAway {
      stage.kill()
      await ann.terminal.expects("reconnecting")
      ann.terminal.types(" and")
      await ann.terminal.expects("1 change")
      try await stage.whileAway { carl in
        let note = try #require(try await carl.fetch(Note.self).first)
        note.text = "zero one"
        try await carl.save()
        carl.context.delete(note)
        try await carl.save()
      }
      try stage.restart()
    } else {
      ann.terminal.types(" and")
      await ann.terminal.expects { $0.text.contains("one and") && !$0.text.contains("not yet") }
      stage.other.context.delete(note)
      try await stage.other.save(policy: .objectTrump)
    }
    await ann.terminal.expects("The note is gone")
    // Typed text still goes into the editor.
    ann.terminal.types(" more")
    await ann.terminal.expects("and more")
    // Earlier messages are answered.
    _ = try await ann.client.fetch(Board.self)
    #expect(try await stage.stored().isEmpty)
    _ = try await stage.other.restore(id)
    await ann.terminal.expects {
      !$0.text.contains("The note is gone") && $0.text.contains("one and more") && !$0.text.contains("not yet")
    }
    ann.terminal.types(" words")
    // A longer line wraps.
    await ann.terminal.expects { $0.text.contains("words") && !$0.text.contains("not yet") }
    let before = isAway ? "zero " : ""
    let stored = try await stage.stored().map(\.text)
    #expect(stored == [before + "one and more words"])
    await stage.close()
  }

  @Test func bothVersionsOfTextAreOffered() {
    #expect(TextSplice.merged("a b", mine: "a b mine", theirs: "theirs a b") == "theirs a b mine")
    #expect(TextSplice.merged("a b c", mine: "a b c", theirs: "a c") == "a c")
    #expect(TextSplice.merged("a", mine: "a mine", theirs: "a") == "a mine")
  }

  /// During a save, other users' texts may arrive, and the connection may be lost before the answer.
  @Test func savedEditorStateFollowsTypedText() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("one")
    let ann = try await stage.open()
    await ann.terminal.expects("one")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.cursor != nil }
    stage.kill()
    await ann.terminal.expects("reconnecting")
    let controller = try #require(ann.session.screen?.editing.current)
    controller.draft = "one"
    ann.terminal.types(" hour of words")
    await ann.terminal.expects("one hour of words")
    #expect(controller.draft == "one hour of words")
    // Once the note is known to be gone, the editor is the newer of the two.
    (controller.draft, controller.isLost) = ("one", true)
    controller.keepDraft()
    #expect(controller.editor?.text == "one hour of words" && controller.draft == nil)
    await stage.close()
  }

  @Test func textIsOfferedWithoutBoard() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    ann.terminal.types("nalpha")
    await ann.terminal.expects { $0.text.contains("alpha") && !$0.text.contains("not yet") }
    stage.other.context.delete(try #require(try await stage.other.fetch(Board.self).first))
    try await stage.other.save()
    await ann.terminal.expects("(n)")
    ann.terminal.types("n")
    await ann.terminal.expects { $0.text.contains("there is no board for the note") && $0.text.contains("(n)") }
    let board = Board(in: stage.other.context)
    board.name = "Late"
    try await stage.other.save()
    await ann.terminal.expects("Late")
    ann.terminal.types("n")
    await ann.terminal.expects {
      $0.text.contains("alpha") && !$0.text.contains("(n)") && !$0.text.contains("not yet")
    }
    #expect(try await stage.stored().map(\.text) == ["alpha"])
    await stage.close()
  }

  /// A word that begins with the letter of an answer is no answer.
  @Test func unsavedTextIsDiscardedOnlyByRepeatedKey() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("first")
    let ann = try await stage.open(pause: 50)
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    ann.terminal.types(" words")
    await ann.terminal.expects { $0.text.contains("first words") && !$0.text.contains("not yet") }
    stage.other.context.delete(note)
    try await stage.other.save(policy: .objectTrump)
    await ann.terminal.expects { $0.text.contains("The note is gone") && $0.text.contains("Discard it (d)") }
    ann.terminal.types("d")
    await ann.terminal.expects("Discard it (d once more)")
    // Another key ends the question.
    ann.terminal.types("o")
    await ann.terminal.expects("Discard it (d)")
    ann.terminal.types("d")
    await ann.terminal.expects("Discard it (d once more)")
    ann.terminal.types("d")
    await ann.terminal.expects { !$0.text.contains("The note is gone") && $0.text.contains("discarded") }
    await stage.close()
  }
}
