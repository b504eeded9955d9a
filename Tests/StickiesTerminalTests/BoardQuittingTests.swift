import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// Leaving with changes that the server does not have.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardQuittingTests {
  /// A change that the server, which is down, does not have.
  private func change(_ stage: BoardFixture) async throws -> TestUser {
    _ = try await stage.note("first")
    let ann = try await stage.open()
    await ann.terminal.expects("first")
    ann.terminal.press(.tab)
    stage.kill()
    await ann.terminal.expects("reconnecting")
    ann.terminal.types("c")
    await ann.terminal.expects("1 change")
    return ann
  }

  @Test func changeWhileWaitingCancelsQuit() async throws {
    let stage = try await BoardFixture()
    let ann = try await change(stage)
    ann.terminal.types("q")
    await ann.terminal.expects { $0.text.contains("1 change is not on the server yet") && $0.text.contains("(w)") }
    ann.terminal.types("w")
    await ann.terminal.expects("leaves when")
    // The message stays while it is true.
    ann.terminal.types("?")
    await ann.terminal.expects("New Note")
    ann.terminal.press(.escape)
    await ann.terminal.expects("leaves when")
    ann.terminal.types("p")
    await ann.terminal.expects("stays open: there are changes")
    try stage.restart()
    // Everything is on the server, and the program continues.
    await ann.terminal.expects { $0.text.contains(" connected") && !$0.text.contains("not yet") }
    ann.terminal.types("?")
    await ann.terminal.expects("New Note")
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("New Note")
    ann.terminal.types("q")
    #expect(await ann.end.value == 0)
    let stored = try await stage.stored()
    #expect(stored.map(\.pinned) == [true] && stored.map(\.color) != [.yellow])
    await stage.close()
  }

  @Test func discardedChangesAreNotReportedAsLost() async throws {
    let stage = try await BoardFixture()
    let ann = try await change(stage)
    ann.terminal.types("q")
    await ann.terminal.expects("(d)")
    ann.terminal.types("d")
    #expect(await ann.end.value == 0)
    #expect(ann.session.loss == nil)
    #expect(stage.unsentTexts == nil)
    await stage.close()
  }

  @Test func questionClosesWhenChangesAreSent() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.unanswered(patience: 50)
    ann.terminal.types("q")
    await ann.terminal.expects("Leave?")
    stage.thaw()
    #expect(await ann.end.value == 0)
    #expect(try await stage.stored().map(\.color) != [.yellow])
    await stage.close()
  }
}
