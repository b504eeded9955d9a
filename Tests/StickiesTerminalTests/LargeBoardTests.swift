import GraphModel
import StickiesKit
import StickiesModel
import TerminalCells
import Testing

@testable import GraphReplica
@testable import StickiesTerminal

/// Boards with more notes than a client keeps, on real daemons: visible notes are loaded, and all others can be found.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(5))) struct LargeBoardTests {
  private nonisolated static let count = 2_500
  /// Notes around a screen, a window of the list, and some more; far fewer than there are.
  private static let few = 2 * BoardWindow.listRows

  /// A board with notes n0, n1, … from left to right, 30 columns apart, and a user who has it open.
  private func opened(_ count: Int = Self.count) async throws -> (stage: BoardFixture, ann: TestUser) {
    let stage = try await BoardFixture()
    try await stage.row(of: 0..<count)
    let ann = try await stage.open()
    await ann.terminal.expects("n2 ")
    return (stage, ann)
  }

  @Test func largeBoardLoadsOnlyVisibleRegion() async throws {
    let (stage, ann) = try await opened()
    // Three are seen.
    await ann.terminal.expects("\(Self.count - 3)→")
    #expect(ann.client.context.heldStates.count < Self.few)
    for _ in 0..<50 { ann.terminal.mouse(.wheel(.right), 70, 20) }
    // 300 columns: n10 begins there.
    await ann.terminal.expects("n10 ")
    await ann.terminal.expects { $0.text.contains("←10") && $0.text.contains("\(Self.count - 13)→") }
    #expect(ann.client.context.heldStates.count < Self.few)
    await stage.close()
  }

  @Test func historyOfLargeBoardLoadsOnlyVisibleRegion() async throws {
    let (stage, ann) = try await opened()
    let third = try #require(try await stage.other.fetch(Note.self, where: "text == 'n1'").first)
    third.text = "changed"
    try await stage.other.save()
    await ann.terminal.expects("changed")
    ann.terminal.types("h")
    await ann.terminal.expects { $0.text.contains("revision") && $0.text.contains("changed") }
    ann.terminal.press(.left)
    await ann.terminal.expects { $0.text.contains("n1 ") && !$0.text.contains("changed") }
    // Notes that a scroll brings into view are requested.
    for _ in 0..<50 { ann.terminal.mouse(.wheel(.right), 40, 10) }
    await ann.terminal.expects { $0.text.contains("n10 ") && $0.text.contains("revision") }
    for _ in 0..<37 { ann.terminal.press(.right, .control) }
    await ann.terminal.expects { $0.text.contains("n20 ") && $0.text.contains("revision") }
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("n20 ") && !$0.text.contains("revision") }
    #expect(ann.client.context.heldStates.count < 2 * Self.few)
    await stage.close()
  }

  @Test func unloadedNotesAreFoundByKeyListAndSearch() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.types("o")
    // The focus follows.
    await ann.terminal.expects("┏ n3 ")
    ann.terminal.types("/n2400")
    await ann.terminal.expectsNo("n4 ")
    ann.terminal.press(.enter)
    await ann.terminal.expects("┏ n2400 ")
    // A user who went there stays there.
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ n2400 ") && $0.text.contains("╭ n2401 ") }
    ann.terminal.types("v")
    // Its neighbors are in the list, and not on the canvas.
    await ann.terminal.expects { $0.text.contains("n2395") && $0.text.contains("n2399") }
    #expect(ann.client.context.heldStates.count < 2 * Self.few)
    await stage.close()
  }

  /// The note stays loaded for the return, and is not shown among the results.
  @Test func previouslyFocusedNoteIsNotListedAsMatch() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ n0 ")
    ann.terminal.types("/n240")
    let grid = await ann.terminal.expects { $0.text.contains("11 notes") && $0.text.contains("11→") }
    #expect(!grid.text.contains(" n0 ") && !grid.text.contains(" n1 "))
    ann.terminal.press(.escape)
    await ann.terminal.expects("┏ n0 ")
    await stage.close()
  }

  /// The focused note is loaded wherever it lies, and whether it matches the filter or not.
  @Test func focusedNoteIsCountedOnce() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ n0 ")
    let part = try #require(ann.session.screen?.pages.page.part)
    for _ in 0..<100 { ann.terminal.mouse(.wheel(.right), 70, 20) }
    await ann.terminal.expects { $0.text.contains("n20 ") && $0.text.contains("←20") }
    #expect(part.shown?.parameters.pinned.isEmpty == false)
    #expect(part.matchingCount == Self.count)
    ann.session.screen?.filtering.filter.colors = [.blue]
    await ann.terminal.expects("\(Self.count) hidden")
    await stage.close()
  }

  @Test func searchOnLargeBoardRestoresPosition() async throws {
    let (stage, ann) = try await opened()
    // The list's window does not have it: nothing but the search keeps the note.
    ann.terminal.types("/n1000\n")
    await ann.terminal.expects("┏ n1000 ")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ n1000 ") && $0.text.contains("╭ n1001 ") }
    ann.terminal.types("/n2400")
    await ann.terminal.expects { $0.text.contains("1 note") && !$0.text.contains("n1001 ") }
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ n2400 ")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("┏ n1000 ") && $0.text.contains("╭ n1001 ") }
    await stage.close()
  }

  /// The uppermost thousand of a heap are loaded; a note that the user goes to lies below them.
  @Test func noteBelowLoadedOnesKeepsFocus() async throws {
    let stage = try await BoardFixture()
    try await stage.row(of: 0..<BoardPage.maximumNotes + 1, step: 0)
    let under = try await stage.note("under", x: 0, y: 48)
    under.z = -1
    try await stage.other.save()
    let ann = try await stage.open()
    await ann.terminal.expects("the top \(BoardWindow.maximumNotes) are shown")
    let part = try #require(ann.session.screen?.pages.page.part)
    let (changes, changed) = AsyncStream.makeStream(of: Void.self)
    let observation = ann.client.context.observe { _ in changed.yield() }
    // The last one in reading order.
    ann.terminal.press(.tab, .shift)
    await ann.terminal.expects("┏ under ")
    var events = changes.makeAsyncIterator()
    while part.shown?.parameters.pinned.contains(under.id) != true { await events.next() }
    #expect(part.shown?.notes.position(of: under.id) == nil)
    #expect(ann.session.screen?.pages.focused?.id == under.id)
    await stage.close()
    withExtendedLifetime(observation) {}
  }

  /// The answer that moves the focus can arrive together with a piece that was requested before, for another place.
  @Test func focusSurvivesPieceThatWasRequestedEarlier() async throws {
    let stage = try await BoardFixture()
    try await stage.row(of: 0..<Self.count)
    let (session, client) = try await stage.openWithoutTurns()
    let screen = try #require(session.screen)
    let (changes, changed) = AsyncStream.makeStream(of: Void.self)
    let observation = client.context.observe { _ in changed.yield() }
    var events = changes.makeAsyncIterator()
    while screen.pages.page.part?.shown == nil { await events.next() }
    let part = try #require(screen.pages.page.part)
    let near = try #require(screen.pages.page.windows.ids.last)
    part.ask(for: Rect(x: 40_000, y: 0, width: 80, height: 22))
    let earlier = try #require(part.asked)
    screen.navigation.show(near)
    #expect(screen.pages.focused?.id == near)
    #expect(part.asked === earlier && !earlier.parameters.pinned.contains(near))
    while part.shown !== earlier { await events.next() }
    #expect(earlier.notes.position(of: near) == nil)
    #expect(screen.pages.focused?.id == near)
    #expect(screen.navigation.boardFrame(of: near) != nil)
    await stage.close()
    withExtendedLifetime((session, observation)) {}
  }

  /// A commit that moves the note away arrives in the turn in which the note got the focus.
  @Test func focusSurvivesMoveOutOfPiece() async throws {
    let stage = try await BoardFixture()
    try await stage.row(of: 0..<Self.count)
    let (session, client) = try await stage.openWithoutTurns()
    let screen = try #require(session.screen)
    let (changes, changed) = AsyncStream.makeStream(of: Void.self)
    let observation = client.context.observe { _ in changed.yield() }
    var events = changes.makeAsyncIterator()
    while screen.pages.page.part?.shown == nil { await events.next() }
    let piece = try #require(screen.pages.page.part?.shown)
    let first = try #require(try await stage.other.fetch(Note.self, where: "text == 'n0'").first)
    screen.navigation.show(first.id)
    #expect(screen.pages.focused?.id == first.id)
    first.x = 500_000
    try await stage.other.save()
    while piece.notes.position(of: first.id) != nil { await events.next() }
    #expect(screen.pages.page.part?.shown === piece)
    #expect(screen.pages.focused?.id == first.id)
    #expect(screen.navigation.boardFrame(of: first.id) != nil)
    await stage.close()
    withExtendedLifetime((session, observation)) {}
  }

  @Test func allMatchesAreListed() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.types("v")
    await ann.terminal.expects("2500 │")
    // n2, n20 to n29, n200 to n299, n2000 to n2499.
    ann.terminal.types("/n2")
    await ann.terminal.expects { $0.text.contains("611 notes") && $0.text.contains("Found") }
    for _ in 0..<250 { ann.terminal.mouse(.wheel(.down), 5, 10) }
    await ann.terminal.expects("n2499")
    #expect(ann.client.context.heldStates.count < 3 * Self.few)
    await stage.close()
  }

  @Test func typingAfterPendingKeyReachesFoundNote() async throws {
    let (stage, ann) = try await opened()
    stage.freeze()
    ann.terminal.press(.tab)
    ann.terminal.press(.enter)
    ann.terminal.types(" hello")
    ann.terminal.paste(" pasted")
    ann.terminal.types(" after")
    stage.thaw()
    await ann.terminal.expects { $0.text.contains("after") && !$0.text.contains("not yet") }
    #expect(try await stage.stored().first?.text == "n0 hello pasted after")
    await stage.close()
  }

  @Test func cancelledKeyDropsFollowingKeys() async throws {
    let (stage, ann) = try await opened()
    stage.freeze()
    ann.terminal.press(.tab)
    ann.terminal.types("h")
    await ann.terminal.expects("Waiting for the server…")
    ann.terminal.press(.escape)
    await ann.terminal.expects { $0.text.contains("cancelled") && !$0.text.contains("Waiting for") }
    // Later events follow it.
    ann.terminal.types("?")
    await ann.terminal.expects("New Note")
    #expect(ann.session.screen?.history.window == nil)
    stage.thaw()
    await stage.close()
  }

  @Test func quitWorksDuringPendingNextNote() async throws {
    let (stage, ann) = try await opened()
    stage.freeze()
    ann.terminal.press(.tab)
    ann.terminal.types("held")
    ann.terminal.press(.character("c"), .control)
    #expect(await ann.end.value == 0)
    stage.thaw()
    await stage.close()
  }

  @Test func nextNoteAfterLastIsFirst() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.press(.tab, .shift)
    await ann.terminal.expects("┏ n\(Self.count - 1) ")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ n0 ")
    await stage.close()
  }

  @Test func pageKeysWorkOnLargeBoard() async throws {
    let (stage, ann) = try await opened()
    let page = try #require(ann.session.screen).navigation.notesPerPage
    let steps: [(Key, Int)] = [
      (.home, 0), (.pageDown, page), (.pageDown, 2 * page), (.pageUp, page), (.end, Self.count - 1),
      (.pageDown, Self.count - 1), (.pageUp, Self.count - 1 - page), (.pageDown, Self.count - 1), (.home, 0),
      (.pageUp, 0),
    ]
    for (key, number) in steps {
      ann.terminal.press(key)
      await ann.terminal.expects("┏ n\(number) ")
    }
    await stage.close()
  }

  @Test func pageKeyWithoutFocusStartsAtFirst() async throws {
    let (stage, ann) = try await opened()
    let page = try #require(ann.session.screen).navigation.notesPerPage
    ann.terminal.press(.pageDown)
    await ann.terminal.expects("┏ n\(page - 1) ")
    ann.terminal.press(.escape)
    await ann.terminal.expectsNo("┏")
    ann.terminal.press(.pageUp)
    await ann.terminal.expects("┏ n\(Self.count - page) ")
    await stage.close()
  }

  @Test func pageKeysReachEndOfMatches() async throws {
    let (stage, ann) = try await opened()
    let page = try #require(ann.session.screen).navigation.notesPerPage
    // n1, n10 to n19, n100 to n199, n1000 to n1999: more than the list holds.
    let found = [1] + Array(10..<20) + Array(100..<200) + Array(1_000..<2_000)
    ann.terminal.types("/n1")
    await ann.terminal.expects("\(found.count) notes")
    ann.terminal.press(.enter)
    let steps: [(Key, Int)] = [
      (.home, 0), (.pageDown, page), (.end, found.count - 1), (.pageUp, found.count - 1 - page),
      (.pageDown, found.count - 1), (.pageDown, found.count - 1), (.home, 0),
    ]
    for (key, place) in steps {
      ann.terminal.press(key)
      await ann.terminal.expects("┏ n\(found[place]) ")
    }
    await stage.close()
  }

  @Test func linkFocusesDistantNote() async throws {
    let (stage, ann) = try await opened()
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ n0 ")
    ann.terminal.types("L")
    await ann.terminal.expects("chooses the other note")
    ann.terminal.press(.tab, .shift)
    await ann.terminal.expects("┏ n\(Self.count - 1) ")
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.text.contains("linked") && !$0.text.contains("not yet") && $0.cursor == nil }
    let ends = "from.text == 'n0' AND to.text == 'n\(Self.count - 1)'"
    #expect(try await stage.other.fetch(Link.self, where: ends).count == 1)
    await stage.close()
  }

  /// Another user adds a line from the first note to the last one.
  private func link(_ stage: BoardFixture) async throws {
    let first = try #require(try await stage.other.fetch(Note.self, where: "text == 'n0'").first)
    let last = try #require(try await stage.other.fetch(Note.self, where: "text == 'n\(Self.count - 1)'").first)
    let line = Link(in: stage.other.context)
    (line.from, line.to) = (first, last)
    try await stage.other.save()
  }

  @Test func linkFromDistantNoteIsDeletedAndNotDuplicated() async throws {
    let (stage, ann) = try await opened()
    try await link(stage)
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ n0 ")
    ann.terminal.types("L")
    await ann.terminal.expects("chooses the other note")
    ann.terminal.press(.tab, .shift)
    await ann.terminal.expects("┏ n\(Self.count - 1) ")
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.text.contains("unlinked; u undoes it") && !$0.text.contains("not yet") }
    #expect(try await stage.other.fetch(Link.self).isEmpty)
    ann.terminal.types("u")
    await ann.terminal.expects("Undone")
    #expect(try await stage.other.fetch(Link.self).count == 1)
    await stage.close()
  }

  @Test func linkFromDistantNoteIsLabeled() async throws {
    let (stage, ann) = try await opened()
    try await link(stage)
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ n0 ")
    ann.terminal.press(.tab, .shift)
    await ann.terminal.expects("┏ n\(Self.count - 1) ")
    ann.terminal.types("W")
    await ann.terminal.expects("╭─ Label ")
    ann.terminal.types("far\n")
    await ann.terminal.expects { !$0.text.contains("╭─ Label ") && !$0.text.contains("not yet") }
    #expect(try await stage.other.fetch(Link.self).map(\.label) == ["far"])
    ann.terminal.press(.tab, .shift)
    await ann.terminal.expects("┏ n\(Self.count - 2) ")
    ann.terminal.types("W")
    await ann.terminal.expects("no line leads to this note; L draws one")
    await stage.close()
  }

  @Test func remoteChangesOnLargeBoardAreShownAndCounted() async throws {
    let (stage, ann) = try await opened()
    await ann.terminal.expects("\(Self.count - 3)→")
    let near = try await stage.note("nearby", x: 16, y: 240)
    await ann.terminal.expects("nearby")
    _ = try await stage.note("far away", x: 900_000, y: 32)
    await ann.terminal.expects("\(Self.count - 2)→")
    stage.other.context.delete(near)
    try await stage.other.save(policy: .objectTrump)
    await ann.terminal.expectsNo("nearby")
    await stage.close()
  }

  @Test func editorKeepsNoteWhileScrolling() async throws {
    let (stage, ann) = try await opened()
    let ben = try await stage.open("ben@test")
    await ben.terminal.expects("n2 ")
    ann.terminal.press(.tab)
    await ann.terminal.expects("┏ n0 ")
    ann.terminal.press(.enter)
    await ann.terminal.expects { $0.cursor != nil }
    ann.terminal.types(" one")
    for _ in 0..<100 { ann.terminal.mouse(.wheel(.right), 70, 20) }
    await ann.terminal.expects("n20 ")
    ann.terminal.types(" two")
    await ben.terminal.expects("n0 one two")
    #expect(!ann.terminal.grid.text.contains("The note is gone"))
    #expect(try await stage.stored().first?.text == "n0 one two")
    await stage.close()
  }

  @Test func growingBoardSwitchesToRegion() async throws {
    let first = BoardPage.maximumNotes - 10
    let (stage, ann) = try await opened(first)
    #expect(ann.client.context.heldStates.count >= first)
    ann.terminal.press(.tab)
    try await stage.row(of: first..<first + 20)
    // The marks of a completely loaded board end at 999.
    let grid = await ann.terminal.expects("\(first + 17)→")
    #expect(grid.place(of: "n0 ") != nil)
    #expect(ann.client.context.heldStates.count < Self.few)
    await stage.close()
  }

  @Test func otherLimitsAreReportedSeparately() async throws {
    let (stage, ann) = try await opened(10)
    let page = try #require(ann.session.screen?.pages.page)
    page.results(page.notes, didFail: Refusal(.limit, "a connection follows at most 16384 queries"))
    // A message is drawn with the next turn.
    ann.terminal.press(.tab)
    await ann.terminal.expects("a connection follows at most 16384 queries")
    #expect(page.part == nil)
    await stage.close()
  }
}
