import TerminalApplication
import TerminalCells
import Testing

/// Turns: events in, one redraw out; and the end of the application.
@Suite struct TurnTests {
  @Test func pendingEventsAreOneTurnAndOneRedraw() throws {
    let script = try ApplicationTranscript.running()
    #expect(script.application.displayCount == 1)
    script.front.takes = [.character("a"), .character("b")]
    script.key("a")
    script.post(.deltas([3]))
    script.key("b")
    script.post(.deltas([1]))
    script.back.setNeedsDisplay()
    script.front.setNeedsDisplay()
    let turn = script.application.runTurn(at: 5)
    #expect(turn.eventCount == 3)
    #expect(turn.grid != nil)
    #expect(script.log.take() == ["front: a", "deltas [1, 3]", "front: b", "back updates", "front updates"])
    #expect(script.application.displayCount == 2)
  }

  @Test func turnWithoutChangeDrawsNothing() throws {
    let script = try ApplicationTranscript.running()
    #expect(script.application.runTurn(at: 1).grid == nil)
    script.key("x")
    #expect(script.application.runTurn(at: 2).grid == nil)
    #expect(script.application.displayCount == 1)
  }

  /// Events of the network come between turns, perhaps long after the last one: a time that they set has not passed
  /// yet.
  @Test func timeBetweenTurnsIsReadFromClock() throws {
    let script = try ApplicationTranscript.running()
    let application = script.application
    _ = application.runTurn(at: 5)
    #expect(application.now == 5)
    application.clock = { 900 }
    #expect(application.now == 900)
    var seen = [Int64]()
    script.delegate.on(.save) { seen.append(application.now) }
    script.key("s", .control)
    _ = application.runTurn(at: 700)
    #expect(seen == [700], "a turn has one time")
    var isOver = false
    _ = application.schedule(at: application.now + 500) { isOver = true }
    _ = application.runTurn(at: 1_399)
    #expect(!isOver)
    _ = application.runTurn(at: 1_400)
    #expect(isOver)
  }

  @Test func changeBetweenTurnsRequestsTurn() throws {
    let script = try ApplicationTranscript.running()
    var asked = 0
    script.application.turnIsNeeded = { asked += 1 }
    script.key("x")
    #expect(asked == 1, "an event waits")
    // Changes of a turn are drawn at its end, without a further request.
    script.delegate.on(.save) { script.front.setNeedsDisplay() }
    script.key("s", .control)
    asked = 0
    #expect(script.application.runTurn(at: 1).grid != nil)
    #expect(asked == 0)
    // A commit of others, say: no event, and the screen is out of date.
    script.front.setNeedsDisplay()
    #expect(asked == 1)
    #expect(script.application.runTurn(at: 2).grid != nil)
    // A timer: a loop that sleeps until the next one must know it.
    _ = script.application.schedule(at: 9) {}
    #expect(asked == 2)
    #expect(script.application.runTurn(at: 3).wakeTime == 9)
  }

  @Test func windowsAreDrawnFromBackToFront() throws {
    let script = try ApplicationTranscript()
    let grid = try #require(script.application.runTurn(at: 0).grid)
    #expect(grid.text == "back\n\n          front\n\n\n\n\n")
    script.front.frame.origin = Point(x: 2, y: 0)
    #expect(script.application.runTurn(at: 0).grid?.text == "bafront\n\n\n\n\n\n\n")
    script.application.orderBack(script.front)
    #expect(script.application.runTurn(at: 0).grid?.text == "backont\n\n\n\n\n\n\n")
    script.front.frame.origin = Point(x: 38, y: 0)
    #expect(script.application.runTurn(at: 0).grid?.text == "back                                  fr\n\n\n\n\n\n\n")
  }

  @Test func eventPostedInTurnIsHandledInNext() throws {
    let script = try ApplicationTranscript.running()
    var count = 0
    script.delegate.on(.save) {
      count += 1
      script.key("s", .control)
    }
    script.key("s", .control)
    let turn = script.application.runTurn(at: 7)
    #expect(count == 1)
    #expect(turn.wakeTime == 7)
    _ = script.application.runTurn(at: 8)
    #expect(count == 2)
  }

  @Test func unacceptedEventsStayQueuedWithoutWakeup() throws {
    let script = try ApplicationTranscript.running()
    script.application.accepted = .any.subtracting(.key)
    for letter: Character in ["a", "b"] { script.key(letter) }
    script.post(.deltas([1]))
    let turn = script.application.runTurn(at: 5)
    #expect(turn.eventCount == 1)
    #expect(turn.wakeTime == nil)
    #expect(script.log.take().filter { $0.hasPrefix("front:") || $0.hasPrefix("deltas") } == ["deltas [1]"])
    script.key("c")
    script.application.accepted = .any
    #expect(script.turn().filter { $0.hasPrefix("front:") } == ["front: a", "front: b", "front: c"])
  }

  @Test func fullQueueOfUnacceptedEventsDropsThem() throws {
    let script = try ApplicationTranscript.running(capacity: 2)
    script.application.accepted = .any.subtracting(.key)
    for letter: Character in ["a", "b"] { script.key(letter) }
    #expect(script.application.isQueueFull)
    let turn = script.application.runTurn(at: 5)
    #expect(turn.eventCount == 1)
    #expect(turn.wakeTime == nil)
    #expect(script.log.take().filter { $0.hasPrefix("front:") } == ["front: a"])
    #expect(script.application.post(ApplicationEvent(.key(KeyEvent(.character("c"))), at: 5)))
  }

  @Test func idleApplicationNeedsNoWakeup() throws {
    let script = try ApplicationTranscript.running()
    #expect(script.application.runTurn(at: 5).wakeTime == nil)
    let timer = script.application.schedule(at: 100) {}
    #expect(script.application.runTurn(at: 6).wakeTime == 100)
    script.application.cancel(timer)
    #expect(script.application.runTurn(at: 7).wakeTime == nil)
  }

  @Test func resizeIsHandledOnceAndRedrawn() throws {
    let script = try ApplicationTranscript.running()
    script.post(.resize(Size(width: 50, height: 9)))
    script.post(.resize(Size(width: 60, height: 10)))
    #expect(script.turn() == ["back: screen 60x10", "front: screen 60x10", "resized to 60x10"])
    #expect(script.application.display() == nil)
    script.post(.resize(Size(width: 60, height: 10)))
    #expect(script.turn() == [])
  }

  // MARK: - The end

  @Test func terminateTakesEffectAfterTurn() throws {
    let script = try ApplicationTranscript.running()
    script.delegate.on(.quit) { script.application.terminate(code: 3) }
    script.key("q", .control)
    script.key("z")
    script.front.setNeedsDisplay()
    let turn = script.application.runTurn(at: 0)
    #expect(turn.eventCount == 2)
    #expect(turn.grid != nil)
    #expect(turn.exitCode == 3)
    #expect(
      script.log.take() == [
        "should terminate", "front: z", "controller: z", "application: z", "delegate: z",
        "back updates", "front updates", "will terminate",
      ])
    #expect(script.application.hasEnded)
    script.key("z")
    #expect(script.application.runTurn(at: 1).exitCode == 3)
    #expect(script.log.take() == [])
  }

  @Test func delegateMayRefuseOrDelayTermination() throws {
    let script = try ApplicationTranscript.running()
    script.delegate.reply = .cancel
    script.application.terminate()
    #expect(script.application.runTurn(at: 0).exitCode == nil)
    script.delegate.reply = .later
    script.application.terminate()
    script.application.terminate()
    #expect(script.log.take().filter { $0 == "should terminate" }.count == 2)
    #expect(script.application.runTurn(at: 0).exitCode == nil)
    script.application.replyToTerminate(false)
    #expect(script.application.phase == .running)
    script.application.terminate()
    script.application.replyToTerminate(true)
    #expect(script.application.runTurn(at: 0).exitCode == 0)
  }

  @Test func signalsAreDeliveredAsEvents() throws {
    let script = try ApplicationTranscript.running()
    script.delegate.reply = .later
    script.post(.signal(.resume))
    script.post(.signal(.resume))
    script.post(.connection)
    #expect(script.turn() == ["signal resume", "connection"])
    #expect(script.application.displayCount == 2)
    script.post(.signal(.interrupt))
    #expect(script.turn() == ["should terminate", "signal interrupt"])
    script.post(.signal(.terminate))
    #expect(script.turn() == ["signal terminate", "will terminate"])
  }
}
