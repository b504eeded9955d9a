import GraphControllers
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The overlay that covers the board while the user waits.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardBusyTests {
  /// A note whose color was changed once, which the server has, and whose next change it does not have.
  private func changed(_ stage: BoardFixture) async throws -> TestUser {
    _ = try await stage.note("first")
    // On a slow machine, too, the program waits before it leaves.
    let ann = try await stage.open(patience: 600_000)
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    // The focus shows that both keys were handled.
    await ann.terminal.expects { $0.text.contains("┏ first") && !$0.text.contains("not yet") }
    return ann
  }

  @Test func newestWaitIsShownAndLastEndUncoversBoard() async throws {
    let stage = try await BoardFixture()
    let ann = try await changed(stage)
    stage.freeze()
    ann.terminal.types("p")
    await ann.terminal.expects("1 change")
    ann.terminal.types("u")
    await ann.terminal.expects("Waiting for the server…")
    ann.terminal.types("q")
    await ann.terminal.expects { $0.text.contains("Saving…") && !$0.text.contains("Waiting for") }
    // The user cancels one of the two; the other continues.
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("cancelled") && $0.text.contains("Saving…") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { !$0.text.contains("Saving…") && !$0.text.contains("Waiting for") }
    stage.thaw()
    await ann.terminal.expectsNo("not yet")
    await stage.close()
  }

  @Test func quickAnswerShowsNoOverlay() async throws {
    let stage = try await BoardFixture()
    let ann = try await changed(stage)
    // On a slow machine, too, the delay is not over.
    ann.session.screen?.busy.overlay = BusyOverlay(appearsAfter: 600_000)
    stage.freeze()
    ann.terminal.types("uv")
    let grid = await ann.terminal.expects("the list") { $0.text.contains("1 │") }
    #expect(ann.session.screen?.busy.overlay.isBusy == true)
    #expect(!grid.text.contains("Waiting for"))
    stage.thaw()
    let after = await ann.terminal.expects("Undone")
    #expect(!after.text.contains("Waiting for"))
    await stage.close()
  }

  @Test func oneViewServesAllWaits() async throws {
    let stage = try await BoardFixture()
    let ann = try await changed(stage)
    stage.freeze()
    ann.terminal.types("u")
    await ann.terminal.expects { $0.text.contains("Waiting for the server…") && $0.text.contains("Esc cancels") }
    let view = try #require(ann.session.screen?.busy.view.cachedView)
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("Waiting for")
    ann.terminal.types("h")
    await ann.terminal.expects("Loading the history…")
    #expect(ann.session.screen?.busy.view.cachedView === view)
    #expect(view.message == "Loading the history…")
    stage.thaw()
    await ann.terminal.expects("revision")
    await stage.close()
  }

  @Test func escapeCancelsWaitBehindEmptyHistory() async throws {
    let stage = try await BoardFixture()
    let ann = try await changed(stage)
    stage.freeze()
    ann.terminal.types("u")
    await ann.terminal.expects("Waiting for the server…")
    ann.terminal.types("h")
    await ann.terminal.expects("Loading the history…")
    ann.terminal.press(.escape)
    let grid = await ann.terminal.expects("cancelled")
    #expect(!grid.text.contains("Loading") && !grid.text.contains("Waiting for"))
    #expect(ann.session.screen?.history.window == nil)
    stage.thaw()
    await stage.close()
  }
}
