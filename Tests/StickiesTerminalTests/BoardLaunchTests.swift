import StickiesKit
import TerminalApplication
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The application that `stickies open` runs, and that there is only one.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardLaunchTests {
  @Test func secondBoardInOneProcessIsRefused() async throws {
    let stage = try await BoardFixture()
    let launcher = ApplicationLauncher()
    let ann = try await stage.open(launcher: launcher)
    do {
      _ = try await stage.open("ben@test", launcher: launcher)
      Issue.record("a second one runs")
    } catch {
      #expect("\(error)" == "the application 'editor' is already running; a program can have only one")
    }
    ann.terminal.types("q")
    #expect(await ann.end.value == 0)
    _ = try await stage.open("ben@test", launcher: launcher)
    await stage.close()
  }

  @Test func interfaceSelectsInitialViews() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("upper", x: 16, y: 160)
    let ann = try await stage.open(configuration: .board(interface: "list"))
    let row = Point(x: 3, y: 2)
    await ann.terminal.expects("a list") { $0.place(of: "upper") == row }
    // It is the list that the menu closes and opens.
    ann.terminal.types("v")
    await ann.terminal.expects("no list") { $0.place(of: "upper") != nil && $0.place(of: "upper") != row }
    let ben = try await stage.open("ben@test")
    let grid = await ben.terminal.expects("upper")
    #expect(grid.place(of: "upper") != row)
    await stage.close()
  }

  @Test func viewerIsReadOnly() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("first", x: 80, y: 64)
    let ann = try await stage.open(configuration: .board(application: "viewer"))
    let place = try #require(await ann.terminal.expects("first").place(of: "first"))
    #expect(ann.terminal.grid.text.contains("read-only"))
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ first")
    ann.terminal.types("cpu")
    ann.terminal.press(.right)
    ann.terminal.press(.delete)
    ann.terminal.types("n")
    await ann.terminal.expects("opened to view only")
    ann.terminal.paste("pasted")
    ann.terminal.mouse(.press(.left), place.x, place.y)
    ann.terminal.mouse(.drag(.left), place.x + 4, place.y + 2)
    ann.terminal.mouse(.release(.left), place.x + 4, place.y + 2)
    ann.terminal.types("q")
    #expect(await ann.end.value == 0)
    let note = try #require(try await stage.stored().first)
    #expect((note.text, note.x, note.color, note.pinned) == ("first", 80, .yellow, false))
    #expect(try await stage.stored().count == 1)
    await stage.close()
  }

  @Test(arguments: [
    (
      ApplicationConfiguration.board(interface: "grid"), "no interface is called 'grid'; the interfaces are board, list"
    ),
    (.board(application: "clock"), "no application is called 'clock'; the applications are editor, viewer"),
  ])
  func unknownNamesListKnownOnes(
    configuration: ApplicationConfiguration, sentence: String
  ) throws {
    let launcher = ApplicationLauncher()
    launcher.registerBoards()
    let error = #expect(throws: ApplicationError.self) {
      try launcher.launch(configuration, screenSize: Size(width: 80, height: 24))
    }
    #expect(error?.description == sentence)
  }

  @Test(arguments: ["board", "list"]) func commandWithoutMenuItemPreventsStart(interface: String) throws {
    let launcher = ApplicationLauncher()
    launcher.registerBoards()
    let application = try launcher.launch(.board(interface: interface), screenSize: Size(width: 80, height: 24))
    let delegate = ApplicationDelegate()
    delegate.on(Command("stray")) {}
    application.delegate = delegate
    let error = #expect(throws: ApplicationError.self) { try application.finishLaunching() }
    #expect(error?.description == "the command 'stray' is in no menu; add an item for it")
  }
}
