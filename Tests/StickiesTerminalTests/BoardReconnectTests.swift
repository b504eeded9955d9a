import GraphReplica
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// Messages of the daemon after its return: the change that won, and that no further ones are accepted.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardReconnectTests {
  /// Ann's, with the only note in focus and the daemon away.
  private func away(_ stage: BoardFixture) async throws -> TestUser {
    _ = try await stage.note("plan", color: .yellow)
    let ann = try await stage.open(size: Size(width: 120, height: 24))
    await ann.terminal.expects("plan")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ plan")
    stage.kill()
    await ann.terminal.expects("reconnecting")
    return ann
  }

  @Test func concurrentColorChangeAfterReconnectWinsAndIsReported() async throws {
    let stage = try await BoardFixture()
    let ann = try await away(stage)
    ann.terminal.types("c")
    await ann.terminal.expects("1 change not yet on the server")
    try await stage.whileAway { carl in
      let note = try #require(try await carl.fetch(Note.self).first)
      (note.color, note.pinned) = (.pink, true)
      try await carl.save()
    }
    try stage.restart()
    await ann.terminal.expects("carl@test had changed the same; yours counts, theirs is in the history")
    // Properties that only the other user changed keep that user's values.
    await ann.terminal.expects { $0.text.contains("▲") && !$0.text.contains("not yet") }
    let note = try #require(try await stage.stored().first)
    #expect(note.color == .blue && note.pinned)
    await stage.close()
  }

  @Test func changeOfDeletedNoteIsDroppedAndReported() async throws {
    let stage = try await BoardFixture()
    let ann = try await away(stage)
    ann.terminal.types("c")
    await ann.terminal.expects("1 change not yet on the server")
    try await stage.whileAway { carl in
      carl.context.delete(try #require(try await carl.fetch(Note.self).first))
      try await carl.save()
    }
    try stage.restart()
    await ann.terminal.expects("carl@test has deleted the note; your change to it is lost")
    await ann.terminal.expects { !$0.text.contains("plan") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().isEmpty)
    await stage.close()
  }

  @Test func deleteWinsAndReportsDroppedChange() async throws {
    let stage = try await BoardFixture()
    let ann = try await away(stage)
    ann.terminal.press(.delete)
    await ann.terminal.expects { $0.text.contains("1 change") && !$0.text.contains("┏ plan") }
    try await stage.whileAway { carl in
      let note = try #require(try await carl.fetch(Note.self).first)
      note.color = .pink
      try await carl.save()
    }
    try stage.restart()
    await ann.terminal.expects("carl@test had changed the deleted note; undo brings it back")
    #expect(try await stage.stored().isEmpty)
    ann.terminal.types("u")
    await ann.terminal.expects("plan")
    #expect(try await stage.stored().map(\.color) == [.pink])
    await stage.close()
  }

  @Test func refusedClientBecomesReadOnly() async throws {
    let stage = try await BoardFixture()
    let ann = try await away(stage)
    try stage.restartWithAnotherModel()
    let reason = "read-only │ the server refuses this program: the client's model is "
    await ann.terminal.expects { $0.text.contains(reason) && $0.text.contains("┏ plan") }
    ann.terminal.types("c")
    await ann.terminal.expects("read-only │ nothing can be changed now: the server refuses this program")
    #expect(ann.session.screen?.notes.targets.map(\.color) == [.yellow])
    ann.terminal.types("q")
    #expect(await ann.end.value == 0)
    await stage.close()
  }
}
