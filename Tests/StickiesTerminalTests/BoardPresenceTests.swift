import GraphClient
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The present users and their positions.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardPresenceTests {
  @Test func cursorOfOthersFollowsMouseAndKeys() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("here", x: 80, y: 64)
    let ann = try await stage.open()
    let ben = try await stage.open("ben@test")
    await ben.terminal.expects("here")
    ann.terminal.mouse(.move, 50, 12)
    await ben.terminal.expects { $0.place(of: "▘ann") == Point(x: 50, y: 12) }
    ann.terminal.mouse(.move, 12, 20)
    await ben.terminal.expects { $0.place(of: "▘ann") == Point(x: 12, y: 20) }
    // Beside the note, which is 25 columns wide and begins in the eleventh.
    ann.terminal.press(.tab)
    await ben.terminal.expects { $0.place(of: "▘ann") == Point(x: 35, y: 5) }
    ann.terminal.press(.right)
    await ben.terminal.expects { $0.place(of: "▘ann") == Point(x: 36, y: 5) }
    ann.terminal.mouse(.press(.left), 60, 18)
    ann.terminal.mouse(.release(.left), 60, 18)
    await ben.terminal.expects { $0.place(of: "▘ann") == Point(x: 60, y: 18) }
    ann.terminal.types("q")
    _ = await ann.end.value
    await ann.client.close()
    await ben.terminal.expectsNo("▘ann")
    await stage.close()
  }

  @Test func allEditorsOfNoteAreShown() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("left", x: 80, y: 64)
    let ann = try await stage.open()
    let ben = try await stage.open("ben@test")
    let cyd = try await stage.open("cyd@test")
    for seat in [ann, ben, cyd] { await seat.terminal.expects("left") }
    for seat in [ben, cyd] {
      seat.terminal.press(.tab)
      seat.terminal.press(.enter)
    }
    await ann.terminal.expects { $0.text.contains("ben, cyd edit ") || $0.text.contains("cyd, ben edit ") }
    await cyd.terminal.expects("ben edits")
    ben.terminal.press(.escape)
    await ann.terminal.expects("cyd edits")
    await stage.close()
  }

  @Test func cursorsOfOthersCoverNoTitle() async throws {
    let stage = try await BoardFixture()
    _ = try await stage.note("left", x: 80, y: 64)
    _ = try await stage.note("right", x: 280, y: 64)
    let ann = try await stage.open()
    let ben = try await stage.open("ben@test")
    await ben.terminal.expects { $0.text.contains("╭ left") && $0.text.contains("╭ right") }
    // A new note is placed beside the note that keys have focused.
    ann.terminal.press(.tab)
    await ben.terminal.expects { $0.place(of: "ann▘ right ") == Point(x: 32, y: 5) }
    ann.terminal.mouse(.move, 13, 5)
    await ben.terminal.expects { $0.place(of: "╭ left▘ann─") == Point(x: 10, y: 5) && $0.text.contains("╭ right ") }
    await stage.close()
  }

  @Test func connectionEventsAreHandledInTheirTurn() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    let screen = try #require(ann.session.screen)
    let now = screen.now
    _ = screen.application.runTurn(at: now)
    let drawn = screen.application.displayCount
    ann.client.stateDidChange?(.reconnecting(attempt: 1))
    ann.client.stateDidChange?(.connected)
    ann.client.silenceDidChange?(true)
    let state = BoardPresence(board: screen.pages.page.board.id).bytes
    for session in 1_000..<1_050 as Range<UInt64> {
      ann.client.presenceDidChange?(Presence(session: session, author: "p\(session)@test", state: state))
    }
    #expect(screen.presence.neighbors.all.isEmpty && !screen.selection.wasDisconnected && !screen.connection.isSilent)
    let turn = screen.application.runTurn(at: now)
    #expect(turn.eventCount == 1)
    #expect(turn.grid?.text.contains("no answer") == true)
    #expect(screen.application.displayCount == drawn + 1)
    // No event is lost, and the present users after the break are those of the new connection.
    #expect(
      screen.presence.neighbors.all.count == 50 && screen.selection.wasDisconnected
        && screen.connection.state == .connected)
    await stage.close()
  }

  /// Ben, Cem and Hal would have the same color by their names, and the next but one is Ann's.
  @Test func everyUserHasTheSameColorOnAllScreens() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    let ben = try await stage.open("ben@test")
    ben.terminal.mouse(.move, 20, 4)
    ann.terminal.mouse(.move, 5, 6)
    let bens = try #require(await ann.terminal.expects("Ben") { $0.color(of: "ben") != nil }.color(of: "ben"))
    let anns = try #require(await ben.terminal.expects("Ann") { $0.color(of: "ann") != nil }.color(of: "ann"))
    #expect(anns != bens)
    let cem = try await stage.open("cem@test")
    cem.terminal.mouse(.move, 40, 4)
    var grid = await ann.terminal.expects("Cem in a color of his own") {
      $0.color(of: "ben") == bens && $0.color(of: "cem").map { ![anns, bens].contains($0) } == true
    }
    let cems = try #require(grid.color(of: "cem"))
    let hal = try await stage.open("hal@test")
    hal.terminal.mouse(.move, 60, 4)
    grid = await ann.terminal.expects("Hal in a color of his own") {
      $0.color(of: "ben") == bens && $0.color(of: "cem") == cems
        && $0.color(of: "hal").map { ![anns, bens, cems].contains($0) } == true
    }
    let hals = try #require(grid.color(of: "hal"))
    await ben.terminal.expects("the same colors at Ben's") {
      $0.color(of: "ann") == anns && $0.color(of: "cem") == cems && $0.color(of: "hal") == hals
    }
    await hal.terminal.expects("the same colors at Hal's") {
      $0.color(of: "ann") == anns && $0.color(of: "ben") == bens && $0.color(of: "cem") == cems
    }
    // A user who stays keeps the color.
    ben.terminal.types("q")
    _ = await ben.end.value
    await ben.client.close()
    await ann.terminal.expects("no other user in another color") {
      !$0.text.contains("▘ben") && $0.color(of: "cem") == cems && $0.color(of: "hal") == hals
    }
    await stage.close()
  }

  @Test func presenceUpdatesAreRateLimited() async throws {
    let stage = try await BoardFixture()
    let ann = try await stage.open()
    let ben = try await stage.open("ben@test")
    // A user without a presence does not see others.
    stage.other.showPresence(Array("{}".utf8))
    var received = 0
    let (reported, report) = AsyncStream.makeStream(of: Void.self)
    stage.other.presenceDidChange = {
      guard $0.author == "ann@test", $0.state != nil else { return }
      received += 1
      report.yield()
    }
    let clock = ContinuousClock()
    let begin = clock.now
    for step in 0..<300 { ann.terminal.mouse(.move, step % 70, 2 + step % 19) }
    // The last of them is never lost.
    await ben.terminal.expects { $0.place(of: "▘ann") == Point(x: 299 % 70, y: 2 + 299 % 19) }
    // Other observers may receive it a moment later.
    var first = reported.makeAsyncIterator()
    await first.next()
    let tenths = Int((clock.now - begin) / .milliseconds(PresenceController.intervalMilliseconds))
    #expect(received > 0 && received <= tenths + 2)
    #expect(ann.terminal.frames < 100)
    await stage.close()
  }
}

extension Grid {
  /// The color of a user's cursor; nil unless the name in the status line has it, too.
  fileprivate func color(of name: String) -> Color? {
    guard let cursor = place(of: "▘\(name)") else { return nil }
    let color = self[cursor.x + 1, cursor.y].style.background
    let row = size.height - 1
    let isNamed = (0..<size.width - name.count).contains { x in
      zip(x..., name).allSatisfy { self[$0, row].text == String($1) && self[$0, row].style.background == color }
    }
    return isNamed ? color : nil
  }
}
