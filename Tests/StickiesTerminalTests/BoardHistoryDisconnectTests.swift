import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The past while the server is away: keys that are meant for it never come to the board beneath.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardHistoryDisconnectTests {
  /// Ann's, with the only note in focus, of which there are two revisions.
  private func opened(_ stage: BoardFixture) async throws -> TestUser {
    let note = try await stage.note("at first", x: 16)
    note.text = "in the end"
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects("in the end")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ in the end")
    return ann
  }

  private func expectUnmoved(_ ann: TestUser) {
    #expect(ann.session.screen?.notes.targets.map(\.x) == [16])
    #expect(ann.session.screen?.quitting.changesNotOnServer == 0)
  }

  @Test func shownPastStaysDuringDisconnect() async throws {
    let stage = try await BoardFixture()
    let ann = try await opened(stage)
    ann.terminal.types("h")
    await ann.terminal.expects("history: revision 3")
    ann.terminal.press(.left)
    await ann.terminal.expects { $0.text.contains("history: revision 2") && $0.text.contains("at first") }
    stage.kill()
    await ann.terminal.expects {
      $0.text.contains("reconnecting") && $0.text.contains("history: revision 2") && $0.text.contains("at first")
    }
    ann.terminal.press(.right)
    await ann.terminal.expects {
      $0.text.contains("other revisions need the server") && $0.text.contains("revision 2 of 3, ")
        && $0.text.contains("history: revision 2") && $0.text.contains("at first")
    }
    expectUnmoved(ann)
    try stage.restart()
    await ann.terminal.expects { !$0.text.contains("reconnecting") && $0.text.contains("history: revision 2") }
    _ = try await stage.note("later", x: 300)
    await ann.terminal.expects { $0.text.contains("revision 2 of 4, ") && !$0.text.contains("later") }
    ann.terminal.press(.right)
    await ann.terminal.expects { $0.text.contains("history: revision 3") && $0.text.contains("in the end") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ in the end") && $0.text.contains("later") }
    await stage.close()
  }

  @Test func pendingRevisionLoadsAfterReconnect() async throws {
    let stage = try await BoardFixture()
    let ann = try await opened(stage)
    ann.terminal.types("h")
    await ann.terminal.expects("history: revision 3")
    stage.freeze()
    ann.terminal.press(.left)
    await ann.terminal.expects { $0.text.contains("revision 2 of 3") && $0.text.contains("history: revision 3") }
    stage.kill()
    await ann.terminal.expects {
      $0.text.contains("reconnecting") && $0.text.contains("history: revision 3") && $0.text.contains("in the end")
        && $0.text.contains("can't show revision 2: ")
    }
    try stage.restart()
    await ann.terminal.expects { $0.text.contains("history: revision 2") && $0.text.contains("at first") }
    await stage.close()
  }

  @Test func emptyHistoryShowsReasonAndLoadsAfterReconnect() async throws {
    let stage = try await BoardFixture()
    let ann = try await opened(stage)
    stage.freeze()
    ann.terminal.types("h")
    await ann.terminal.expects("Loading the history…")
    stage.kill()
    await ann.terminal.expects {
      $0.text.contains("reconnecting") && $0.text.contains("No history: ") && $0.text.contains("Esc  goes back to now")
    }
    ann.terminal.press(.right)
    await ann.terminal.expects("other revisions need the server")
    expectUnmoved(ann)
    try stage.restart()
    await ann.terminal.expects {
      $0.text.contains("history: revision 3") && $0.text.contains("in the end") && !$0.text.contains("No history")
    }
    ann.terminal.press(.escape)
    await ann.terminal.expects("┏ in the end")
    // Without the server the past is not opened, and a message reports this.
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.types("h")
    await ann.terminal.expects { $0.text.contains("the history needs the server") && $0.text.contains("┏ in the end") }
    #expect(ann.session.screen?.history.window == nil)
    await stage.close()
  }
}
