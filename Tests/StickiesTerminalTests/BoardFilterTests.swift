import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// Showing some of a board's notes only.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardFilterTests {
  @Test func filterHidesNotesAndStatusLineCountsThem() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("sun", x: 16, y: 32, color: .yellow)
    _ = try await stage.note("sky", x: 16, y: 240, color: .blue)
    let ann = try await stage.open()
    await ann.terminal.expects("sky")
    ann.terminal.types("f")
    await ann.terminal.expects("Show Only")
    ann.terminal.types(" ")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("only yellow: 1 hidden") && !$0.text.contains("sky") }
    // Notes that others create in a hidden color are hidden as well.
    _ = try await stage.note("sea", x: 300, y: 32, color: .blue)
    await ann.terminal.expects { $0.text.contains("2 hidden") && !$0.text.contains("sea") }
    ann.terminal.types("F")
    await ann.terminal.expects { $0.text.contains("sky") && $0.text.contains("sea") && !$0.text.contains("hidden") }
    await stage.close()
  }

  @Test func hiddenSelectedNotesAreNotChanged() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("sun", x: 16, y: 32, color: .yellow)
    _ = try await stage.note("sky", x: 300, y: 32, color: .blue)
    let ann = try await stage.open()
    await ann.terminal.expects("sky")
    ann.terminal.types("ea")
    await ann.terminal.expects("Delete (2)")
    ann.session.screen?.filtering.filter.colors = [.blue]
    await ann.terminal.expects { $0.text.contains("only blue") && $0.text.contains("Delete (1)") }
    ann.terminal.types("F")
    await ann.terminal.expects { $0.text.contains("sun") && $0.text.contains("Delete (1)") }
    ann.terminal.press(.delete)
    await ann.terminal.expects { !$0.text.contains("sky") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == ["sun"])
    await stage.close()
  }

  @Test func tagsAreSuggestedAndSearchRespectsFilter() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("apples to buy", x: 16, y: 32)
    _ = try await stage.note("apples to eat", x: 300, y: 32)
    let tag = Tag(in: stage.other.context)
    tag.name = "shop"
    note.add(tag, to: try #require(StickiesModel.model.entity(named: "Note")?.property(named: "tags")?.number))
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects { $0.text.contains("#shop") && $0.text.contains("eat") }
    ann.terminal.types("f")
    await ann.terminal.expects("Tags")
    ann.terminal.press(.end)
    ann.terminal.types(" ")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("only #shop: 1 hidden") && !$0.text.contains("eat") }
    ann.terminal.types("/app")
    await ann.terminal.expects("1 note")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("1 hidden") && !$0.text.contains("eat") }
    await stage.close()
  }

  @Test func editedNoteLeavingFilterKeepsWindowAndReportsAuthor() async throws {
    let stage = try await BoardFixture()
    let note = try await stage.note("mine", color: .yellow)
    // It lies above; keys go to the editor anyway.
    _ = try await stage.note("higher", x: 340, color: .yellow)
    let ann = try await stage.open()
    await ann.terminal.expects("higher")
    ann.terminal.types("f ")
    ann.terminal.press(.escape)
    await ann.terminal.expects("only yellow: 0 hidden")
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    ann.terminal.types(" and")
    await ann.terminal.expects { $0.text.contains("mine and") && !$0.text.contains("not yet") }
    note.color = .blue
    try await stage.other.save(policy: .objectTrump)
    await ann.terminal.expects("ben@test changed it: it is no longer shown here")
    await ann.terminal.expects("Keep writing")
    ann.terminal.types("w")
    await ann.terminal.expectsNo("The note left the filter")
    ann.terminal.types(" yours")
    await ann.terminal.expects { $0.text.contains("mine and yours") && !$0.text.contains("not yet") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("1 hidden") && !$0.text.contains("mine and yours") }
    #expect(try await stage.stored().map(\.text) == ["mine and yours", "higher"])
    // Escape writes on, too.
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    ann.terminal.types(" still")
    await ann.terminal.expects { $0.text.contains("higher still") && !$0.text.contains("not yet") }
    let other = try #require(try await stage.stored().last)
    other.color = .blue
    try await stage.other.save(policy: .objectTrump)
    await ann.terminal.expects("Keep writing")
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("The note left the filter")
    ann.terminal.types(" here")
    await ann.terminal.expects { $0.text.contains("higher still here") && !$0.text.contains("not yet") }
    await stage.close()
  }

  /// The search field is empty: results would hide the note.
  @Test func newNoteEndsSearch() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("apples")
    _ = try await stage.note("pears", x: 340)
    let ann = try await stage.open()
    await ann.terminal.expects("pears")
    ann.terminal.types("/apples")
    await ann.terminal.expects { $0.text.contains("1 note") && !$0.text.contains("pears") }
    ann.terminal.press(.enter)
    ann.terminal.types("nplums")
    ann.terminal.press(.escape)
    await ann.terminal.expects {
      $0.text.contains("plums") && $0.text.contains("pears") && !$0.text.contains("not yet")
    }
    #expect(try await stage.stored().map(\.text) == ["apples", "pears", "plums"])
    await stage.close()
  }

  @Test func newNotesDoNotOverlap() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    for name in ["one", "two", "three"] {
      ann.terminal.types("n\(name)")
      ann.terminal.press(.escape)
      await ann.terminal.expects { $0.text.contains(name) && !$0.text.contains("not yet") }
    }
    let places = try await stage.stored().map { [$0.x, $0.y] }
    #expect(places.count == 3)
    #expect(places[1] == [places[0][0] + 16, places[0][1] + 16])
    #expect(places[2] == [places[1][0] + 16, places[1][1] + 16])
    await stage.close()
  }

  @Test func newNoteUnderFilterGetsItsColor() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    ann.terminal.types("f")
    ann.terminal.press(.down)
    ann.terminal.types(" ")
    ann.terminal.press(.escape)
    await ann.terminal.expects("only blue")
    ann.terminal.types("n")
    ann.terminal.types("sky")
    ann.terminal.press(.escape)
    await ann.terminal.expects {
      $0.text.contains("sky") && $0.text.contains("0 hidden") && !$0.text.contains("not yet")
    }
    #expect(try await stage.stored().map(\.color) == [.blue])
    await stage.close()
  }

  @Test func emptyBoardShowsHintAndFilteredBoardShowsFilter() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    await ann.terminal.expects("There are no notes on Work yet.")
    _ = try await stage.note("sun", color: .yellow)
    await ann.terminal.expects { $0.text.contains("sun") && !$0.text.contains("There are no notes") }
    ann.terminal.types("f")
    ann.terminal.press(.down)
    ann.terminal.types(" ")
    ann.terminal.press(.escape)
    await ann.terminal.expects("F  shows all notes again.")
    await stage.close()
  }
}
