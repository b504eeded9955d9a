import Foundation
import GraphModel
import GraphOffline
import StickiesKit
import TerminalCells
import Testing

@testable import StickiesTerminal

/// A board without its daemon: it shows this computer's copy, and goes to the daemon when that answers.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct OfflineBoardTests {
  /// The edits that wait, as the status line counts them.
  private func waiting(_ stage: BoardFixture) throws -> String {
    let unsent = try #require(try stage.replica.status()).unsent
    return unsent == 1 ? "1 edit not sent" : "\(unsent) edits not sent"
  }

  @Test func boardOpensWithoutDaemonAndSendsItsEditsLater() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("buy milk", x: 16, y: 32)
    try await stage.turnOnSync()
    stage.kill()
    let ann = try await stage.openWithCopy(isAway: true)
    await ann.terminal.expects("offline │ Work")
    await ann.terminal.expects("buy milk")
    // The state is in one place.
    #expect(ann.terminal.grid.text.components(separatedBy: "offline").count == 2)
    ann.terminal.types("n")
    ann.terminal.types("call Ann")
    ann.terminal.press(.escape)
    await ann.terminal.expects("call Ann")
    await ann.terminal.expects { $0.text.contains("+1") && !$0.text.contains("not yet") }
    await ann.terminal.expects(try waiting(stage))
    ann.terminal.types("/milk")
    await ann.terminal.expects { $0.text.contains("1 note") && !$0.text.contains("call Ann") }
    ann.terminal.press(.escape)
    await ann.terminal.expects("call Ann")
    try stage.restart()
    await ann.terminal.expects {
      $0.text.contains("connected │ Work") && !$0.text.contains("+1") && !$0.text.contains("not sent")
    }
    #expect(try await stage.stored().map(\.text) == ["buy milk", "call Ann"])
    #expect(try #require(try stage.replica.status()).unsent == 0)
    await stage.close()
  }

  /// With the server's id the note is the same one: in the same window, focused, selected and edited.
  @Test func focusSelectionAndEditorSurviveTheServersID() async throws {
    let stage = try await BoardFixture()
    try await stage.turnOnSync()
    stage.kill()
    let ann = try await stage.openWithCopy(isAway: true)
    ann.terminal.types("n")
    ann.terminal.types("plan")
    ann.terminal.press(.escape)
    await ann.terminal.expects("┏ plan")
    await ann.terminal.expects { $0.text.contains("+1") && !$0.text.contains("not yet") }
    let screen = try #require(ann.session.screen)
    let window = try #require(screen.pages.focused)
    let (before, number) = (window.id, window.number)
    ann.terminal.types(" ")
    await ann.terminal.expectsToolBar("Delete (1)")
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.cursor != nil }
    try stage.restart()
    await ann.terminal.expects { $0.text.contains("connected") && !$0.text.contains("+1") }
    #expect(screen.pages.focused === window && window.number == number && window.id != before)
    #expect(screen.pages.page.windows.count == 1)
    #expect(screen.selection.isSelected(window.id) && screen.selection.mode.selection.count == 1)
    ann.terminal.types(" B")
    await ann.terminal.expects { $0.text.contains("plan B") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().map(\.text) == ["plan B"])
    await stage.close()
  }

  @Test func listShowsTheProvisionalNumber() async throws {
    let stage = try await BoardFixture()
    try await stage.turnOnSync()
    stage.kill()
    let ann = try await stage.openWithCopy(isAway: true)
    ann.terminal.types("v")
    ann.terminal.types("n")
    ann.terminal.types("first")
    ann.terminal.press(.escape)
    // In the list and in the title of the note.
    await ann.terminal.expects("+1 twice") { $0.text.components(separatedBy: "+1").count == 3 }
    try stage.restart()
    await ann.terminal.expects { $0.text.contains("connected") && !$0.text.contains("+1") }
    await stage.close()
  }

  @Test func lostDaemonLeavesTheBoardOnTheCopy() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("buy milk", x: 16, y: 32)
    try await stage.turnOnSync()
    let ann = try await stage.openWithCopy(isAway: false)
    await ann.terminal.expects("buy milk")
    stage.kill()
    await ann.terminal.expects { $0.text.contains("offline") && $0.text.contains("buy milk") }
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    await ann.terminal.expects("1 edit not sent")
    try stage.restart()
    await ann.terminal.expects { $0.text.contains("connected") && !$0.text.contains("not sent") }
    #expect(try await stage.stored().map(\.color) == [.blue])
    await stage.close()
  }

  @Test func editOfDeletedNoteIsListedAndDiscarded() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("buy milk", x: 16, y: 32)
    try await stage.turnOnSync()
    stage.kill()
    let ann = try await stage.openWithCopy(isAway: true)
    await ann.terminal.expects("buy milk")
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    await ann.terminal.expects("1 edit not sent")
    try await stage.whileAway { carl in
      carl.context.delete(try #require(try await carl.fetch(Note.self).first))
      try await carl.save()
    }
    try stage.restart()
    await ann.terminal.expects { $0.text.contains("1 in conflict") && !$0.text.contains("buy milk") }
    ann.terminal.types("C")
    await ann.terminal.expects {
      $0.text.contains("Note.color") && $0.text.contains("carl@test") && $0.text.contains("ann@test")
        && $0.text.contains("deleted")
    }
    ann.terminal.types("d")
    await ann.terminal.expects("Discard?")
    ann.terminal.types("dd")
    await ann.terminal.expects("No edit is in conflict")
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("in conflict")
    #expect(try #require(try stage.replica.status()).parked == 0)
    await stage.close()
  }

  @Test func graphThatIsTooLargeForACopyIsSaidAtTheKey() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("buy milk", x: 16, y: 32)
    let ann = try await stage.openWithCopy(isAway: false, limit: 1)
    await ann.terminal.expects("buy milk")
    ann.terminal.press(.function(5))
    await ann.terminal.expects("the graph that you may see has more than 1 objects")
    #expect(try stage.replica.status() == nil)
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    while try await stage.stored().map(\.color) != [.blue] { await Task.yield() }
    await stage.close()
  }

  /// The copy must be loaded again, and may not: the edit is sent, and the board goes on with the daemon.
  @Test func editsLeaveAlthoughTheGraphIsTooLargeForACopy() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("buy milk", x: 16, y: 32)
    try await stage.turnOnSync()
    stage.kill()
    let ann = try await stage.openWithCopy(isAway: true, limit: 1)
    await ann.terminal.expects("buy milk")
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    await ann.terminal.expects("1 edit not sent")
    try FileManager.default.removeItem(atPath: stage.replica.path + "/mirror.sqlite")
    try stage.restart()
    await ann.terminal.expects { $0.text.contains("connected │ Work") && !$0.text.contains("not sent") }
    #expect(try await stage.stored().map(\.color) == [.blue])
    #expect(ann.client.syncTrouble.current.hasSuffix("; 1 edit was sent"))
    await stage.close()
  }

  /// Another program of this computer changes what waits; the board counts it without being asked.
  @Test func statusFollowsOtherProgramsOfThisComputer() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("buy milk", x: 16, y: 32)
    try await stage.turnOnSync()
    stage.kill()
    let ann = try await stage.openWithCopy(isAway: true)
    await ann.terminal.expects("buy milk")
    let other = try await stage.replica.open(
      model: StickiesModel.model, classes: StickiesModel.classes, options: .init(author: "ann@test"))
    let note = try #require(try await other.fetch(Note.self).first)
    note.text = "buy bread"
    try await other.save()
    await ann.terminal.expects { $0.text.contains("1 edit not sent") && $0.text.contains("buy bread") }
    await other.close()
    await stage.close()
  }

  @Test func emptyListOfConflictsSaysSo() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    ann.terminal.types("C")
    await ann.terminal.expects("No edit is in conflict")
    ann.terminal.types("r")
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("No edit is in conflict")
    await stage.close()
  }

  @Test func syncIsTurnedOnAndOffByKeys() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("buy milk", x: 16, y: 32)
    let ann = try await stage.openWithCopy(isAway: false)
    let sync = try #require(ann.session.screen).sync
    await ann.terminal.expects("buy milk")
    #expect(sync.allows(.syncOn) && !sync.allows(.syncOff) && !sync.allows(.resync) && !sync.allows(.deleteEverywhere))
    ann.terminal.press(.function(5))
    await ann.terminal.expects("sync is on")
    #expect(try stage.replica.status()?.isOn == true)
    ann.terminal.press(.function(6))
    await ann.terminal.expects("Sync off?")
    ann.terminal.types("o")
    await ann.terminal.expects { $0.text(row: 29).hasPrefix(" sync is off") }
    // The server may be there.
    #expect(sync.allows(.syncOn) && sync.allows(.resync) && !sync.allows(.deleteEverywhere))
    ann.terminal.press(.tab)
    ann.terminal.types("c")
    await ann.terminal.expects("1 edit not sent")
    #expect(try await stage.stored().map(\.color) == [.yellow])
    ann.terminal.press(.function(5))
    await ann.terminal.expects { $0.text(row: 29).hasPrefix(" connected") && !$0.text.contains("not sent") }
    #expect(try await stage.stored().map(\.color) == [.blue])
    await stage.close()
  }

  @Test func everythingIsDeletedAfterTheCountIsConfirmed() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("buy milk", x: 16, y: 32)
    try await stage.turnOnSync()
    let ann = try await stage.openWithCopy(isAway: false)
    await ann.terminal.expects("buy milk")
    ann.terminal.press(.function(8))
    await ann.terminal.expects("2 objects")
    ann.terminal.types("k")
    await ann.terminal.expectsNo("2 objects")
    #expect(try await stage.stored().count == 1)
    ann.terminal.press(.function(8))
    await ann.terminal.expects("2 objects")
    ann.terminal.types("dd")
    await ann.terminal.expects("2 objects deleted here and on the server")
    #expect(try await stage.stored().isEmpty)
    await stage.close()
  }

  @Test func copyIsLoadedAgainAfterAConfirmation() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("buy milk", x: 16, y: 32)
    try await stage.turnOnSync()
    let ann = try await stage.openWithCopy(isAway: false)
    await ann.terminal.expects("buy milk")
    ann.terminal.press(.function(7))
    await ann.terminal.expects("Nothing is deleted on the server")
    ann.terminal.types("l")
    await ann.terminal.expects("the copy was loaded again")
    await ann.terminal.expects { $0.text(row: 29).hasPrefix(" connected") && $0.text.contains("buy milk") }
    #expect(try await stage.stored().count == 1)
    await stage.close()
  }
}
