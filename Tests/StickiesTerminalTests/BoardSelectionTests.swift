import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// Commands for several notes at once.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardSelectionTests {
  /// The following keys would be taken for other commands.
  @Test func noteKeyWithoutFocusIsReported() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("one")
    let ann = try await stage.open()
    await ann.terminal.expects("one")
    ann.terminal.types("t")
    await ann.terminal.expects("no note is chosen; use Tab or a click")
    ann.terminal.types("e")
    ann.terminal.press(.delete)
    await ann.terminal.expects("no note is selected")
    #expect(try await stage.stored().count == 1)
    await stage.close()
  }

  @Test func emptySelectionDoesNothing() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("only one", color: .yellow)
    let ann = try await stage.open()
    await ann.terminal.expects("only one")
    ann.terminal.press(.tab)
    ann.terminal.types("e")
    let grid = await ann.terminal.expectsToolBar("Delete (0)")
    // Neither key nor click reaches the note that has the focus.
    ann.terminal.press(.delete)
    ann.terminal.types("t")
    let delete = try #require(grid.place(of: "Delete (0)"))
    ann.terminal.mouse(.press(.left), delete.x, delete.y)
    ann.terminal.mouse(.release(.left), delete.x, delete.y)
    ann.terminal.types("a")
    let all = await ann.terminal.expectsToolBar("Delete (1)")
    #expect(all.place(of: "only one") != nil && all.place(of: "Tag ─") == nil)
    let color = try #require(all.place(of: "Color (1)"))
    ann.terminal.mouse(.press(.left), color.x, color.y)
    ann.terminal.mouse(.release(.left), color.x, color.y)
    let blue = Theme(depth: .direct).note(.blue).text.background
    let note = try #require(all.place(of: "only one"))
    await ann.terminal.expects { !$0.text.contains("not yet") && $0[note.x, note.y + 2].style.background == blue }
    #expect(try await stage.stored().map(\.color) == [.blue])
    await stage.close()
  }

  @Test func selectedNotesAreMovedToCompletedBoardAndUndone() async throws {
    let stage = try await BoardFixture(boards: ["Work", "Home"])
    _ = try await stage.note("first", x: 0, y: 32)
    _ = try await stage.note("second", x: 300, y: 32)
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("second") && $0.text.contains("● ○") }
    ann.terminal.types("ea")
    await ann.terminal.expects("Move (2)")
    ann.terminal.types("m")
    await ann.terminal.expects("Move to Board")
    ann.terminal.types("ho")
    await ann.terminal.expects("│ Home ")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    await ann.terminal.expects { !$0.text.contains("first") && !$0.text.contains("second") && $0.text.contains("(0)") }
    ann.terminal.types("2")
    await ann.terminal.expects { $0.text.contains("first") && $0.text.contains("second") && $0.text.contains("│ Home") }
    ann.terminal.types("u")
    await ann.terminal.expects { !$0.text.contains("first") && !$0.text.contains("second") }
    ann.terminal.types("1")
    await ann.terminal.expects { $0.text.contains("first") && $0.text.contains("second") && $0.text.contains("│ Work") }
    await stage.close()
  }

  @Test func deleteMessageStaysUntilUndoOrNextAction() async throws {
    let stage = try await BoardFixture()
    let ids = [try await stage.note("first", x: 16).id, try await stage.note("second", x: 300).id]
    let ann = try await stage.open()
    await ann.terminal.expects("second")
    let reported = "deleted 2 notes; u brings them back"
    func delete() async {
      ann.terminal.types("a")
      ann.terminal.press(.delete)
      await ann.terminal.expects {
        $0.text.contains(reported) && !$0.text.contains("first") && !$0.text.contains("not yet")
      }
    }
    await delete()
    ann.terminal.types("u")
    var grid = await ann.terminal.expects {
      $0.text.contains("first") && $0.text.contains("second") && $0.text.contains("Undone")
    }
    #expect(!grid.text.contains(reported))
    await delete()
    // Another user may revert it as well; no key is pressed here meanwhile.
    for id in ids { _ = try await stage.other.restore(id) }
    grid = await ann.terminal.expects("first")
    #expect(!grid.text.contains(reported))
    await ann.terminal.expects("second")
    await delete()
    ann.terminal.types("nfresh")
    grid = await ann.terminal.expects("fresh")
    #expect(!grid.text.contains(reported))
    await stage.close()
  }

  @Test func completedTagIsAddedToSelectionAsOneStep() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("first", x: 0, y: 32)
    _ = try await stage.note("second", x: 240, y: 32)
    let tag = Tag(in: stage.other.context)
    tag.name = "shopping"
    note.add(tag, to: try #require(StickiesModel.model.entity(named: "Note")?.property(named: "tags")?.number))
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("#shopping") && $0.text.contains("second") }
    ann.terminal.types("eat")
    await ann.terminal.expects("╭─ Tag ")
    ann.terminal.types("sh")
    await ann.terminal.expects("│ shopping")
    ann.terminal.press(.down)
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.text.split(separator: "#shopping", omittingEmptySubsequences: false).count == 3 }
    await ann.terminal.expectsNo("not yet")
    // The existing tag is used, not a second one.
    #expect(try await stage.other.fetch(Tag.self, sort: [\.name.ascending]).map(\.name) == ["shopping"])
    ann.terminal.types("u")
    await ann.terminal.expects { $0.text.split(separator: "#shopping", omittingEmptySubsequences: false).count == 2 }
    await stage.close()
  }

  @Test func menuShowsCountAndUnknownBoardIsReported() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first", x: 0, y: 32)
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    ann.terminal.types("ea")
    ann.terminal.press(.function(10))
    ann.terminal.press(.right)
    await ann.terminal.expects("Color (1)  ")
    ann.terminal.press(.escape)
    ann.terminal.types("mNowhere\n")
    await ann.terminal.expects("no other board is called Nowhere")
    await stage.close()
  }

  /// A new tag is made with the note that gets it first; by the time that is taken back it may be others', too.
  @Test func undoRemovesTagAndKeepsItForOthers() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first", x: 16)
    let second = try await stage.note("second", x: 300)
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("first") && $0.text.contains("second") }
    ann.terminal.press(.tab)
    ann.terminal.types("tgroup")
    await ann.terminal.expects("5 characters")
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.text.contains("#group") && !$0.text.contains("not yet") }
    let tag = try #require(try await stage.other.fetch(Tag.self).first)
    let tags = try #require(StickiesModel.model.entity(named: "Note")?.property(named: "tags"))
    second.add(tag, to: tags.number)
    try await stage.other.save()
    ann.terminal.types("u")
    await ann.terminal.expects("Undone; later changes by others stay")
    #expect(try await stage.stored().map { $0.tags.map(\.name) } == [[], ["group"]])
    await stage.close()
  }

  @Test func editButtonBecomesCancelAndClearsSelection() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first")
    let ann = try await stage.open()
    func clickButton(_ word: String) async throws {
      let grid = await ann.terminal.expects("the button \(word)") { $0.text(row: 0).hasSuffix(" \(word) ") }
      ann.terminal.click(try #require(grid.place(of: " \(word)")).x + 1, 0)
    }
    await ann.terminal.expects("first")
    // It ends the current edit, as the menus do.
    ann.terminal.types("nnew ")
    await ann.terminal.expects { $0.cursor != nil }
    try await clickButton("Edit")
    await ann.terminal.expects { $0.text.contains("Delete (0)") && $0.text.contains("○ first") && $0.cursor == nil }
    ann.terminal.types("a")
    await ann.terminal.expects { $0.text.contains("Delete (2)") && $0.text.contains("● first") }
    // The menu says the same.
    ann.terminal.press(.function(10))
    for _ in 1...4 { ann.terminal.press(.right) }
    await ann.terminal.expects { $0.text.contains("Cancel ") && $0.text.contains("Next Note Out of Sight") }
    ann.terminal.press(.escape)
    try await clickButton("Cancel")
    await ann.terminal.expects { !$0.text.contains("Delete (") && !$0.text.contains("● first") }
    ann.terminal.press(.function(10))
    for _ in 1...4 { ann.terminal.press(.right) }
    await ann.terminal.expects { $0.text.contains("Edit  ") && $0.text.contains("Next Note Out of Sight") }
    ann.terminal.press(.escape)
    try await clickButton("Edit")
    await ann.terminal.expects("Delete (0)")
    await stage.close()
  }

  @Test func editMenuContainsTextCommandsDuringEditing() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    ann.terminal.types("none two")
    await ann.terminal.expects("one two")
    func choose(_ steps: Int) async {
      ann.terminal.press(.function(10))
      for _ in 1...2 { ann.terminal.press(.right) }
      await ann.terminal.expects("Select All Text")
      for _ in 0..<steps { ann.terminal.press(.down) }
      ann.terminal.press(.enter)
      await ann.terminal.expects { !$0.text.contains("Select All Text") && $0.cursor != nil }
    }
    await choose(6)
    await ann.terminal.expects { $0.text.contains("one ") && !$0.text.contains("two") }
    // A key without a meaning in the middle of a sequence ends it.
    ann.terminal.press(.function(10))
    ann.terminal.press(.right)
    await ann.terminal.expects("Collapse")
    let collapse = try #require(await ann.terminal.expects("Collapse").place(of: "Collapse"))
    ann.terminal.mouse(.press(.left), collapse.x, collapse.y)
    await ann.terminal.expects { !$0.text.contains("Collapse") && $0.cursor == nil && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == ["one "])
    #expect(try await stage.stored().map(\.collapsed) == [true])
    await stage.close()
  }

  @Test func checkboxesSlideInWithToolBar() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first", x: 16, y: 160)
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    ann.terminal.types("v")
    await ann.terminal.expects { $0.text.contains("┏ first") && $0.text.contains("1 │") }
    let screen = try #require(ann.session.screen)
    // On a slow machine, too, this is the beginning of the progress.
    screen.selection.mode = EditMode(slideMilliseconds: 1_000_000_000)
    ann.terminal.types("e")
    let before = await ann.terminal.expects("the button") { $0.text(row: 0).hasSuffix(" Cancel ") }
    #expect(before.place(of: "┏ first") != nil && before.place(of: "All") == nil && before.place(of: "○") == nil)
    // And this is the middle.
    var mode = EditMode<ObjectID>(slideMilliseconds: 1_000_000_000)
    mode.begin(at: screen.now - 500_000_000)
    screen.selection.mode = mode
    screen.selection.slide()
    let middle = await ann.terminal.expects("┏○ first")
    // In the list, the title has left space for this.
    #expect(middle.place(of: "first") == Point(x: 4, y: 2))
    let half = try #require(middle.place(of: "All"))
    screen.selection.mode = EditMode()
    screen.selection.slide()
    await ann.terminal.expects { $0.place(of: "┏ first") != nil && $0.place(of: "All") == nil }
    ann.terminal.types("e")
    let after = await ann.terminal.expects { $0.text.contains("┏ ○ first") && $0.text.contains("Color (0)") }
    #expect(try #require(after.place(of: "All")).x < half.x - 10)
    await stage.close()
  }
}
