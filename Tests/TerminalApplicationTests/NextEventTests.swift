import GraphTesting
import TerminalApplication
import TerminalCells
import Testing

/// The queue, and the effects of requesting the next event.
@Suite struct NextEventTests {
  private func key(_ character: Character) -> ApplicationEvent {
    ApplicationEvent(.key(KeyEvent(.character(character))), at: 0)
  }
  private func move(_ x: Int, _ kind: MouseEvent.Kind = .move) -> ApplicationEvent {
    ApplicationEvent(.mouse(MouseEvent(kind, at: Point(x: x, y: 0))), at: 0)
  }

  @Test func maskPreservesOrderOfOtherEvents() throws {
    let script = try ApplicationTranscript.running()
    let app = script.application
    for event in [key("a"), ApplicationEvent(.deltas([1]), at: 0), key("b")] { app.post(event) }
    #expect(app.nextEvent(.deltas, dequeue: false, at: 0) == .event(ApplicationEvent(.deltas([1]), at: 0)))
    #expect(app.nextEvent(.deltas, at: 0) == .event(ApplicationEvent(.deltas([1]), at: 0)))
    #expect(app.nextEvent(.deltas, at: 0) == .wait(until: nil))
    #expect(app.nextEvent(at: 0) == .event(key("a")))
    app.discardEvents(.input)
    #expect(app.nextEvent(at: 0) == .wait(until: nil))
  }

  @Test func cancelKeysBypassOtherEvents() throws {
    let script = try ApplicationTranscript.running()
    let out = [KeyEvent(.escape), KeyEvent(.character("c"), .control), KeyEvent(.character("q"), .control)]
      .map { ApplicationEvent(.key($0), at: 0) }
    for event in [key("a")] + out + [key("c")] { script.application.post(event) }
    for event in out { #expect(script.application.nextEvent(.cancel, at: 0) == .event(event)) }
    #expect(script.application.nextEvent(.cancel, at: 0) == .wait(until: nil))
    #expect(script.application.nextEvent(.key, at: 0) == .event(key("a")))
  }

  @Test func timerMayFireBeforeDeadline() throws {
    let script = try ApplicationTranscript.running()
    let app = script.application
    #expect(app.nextEvent(until: 50, at: 10) == .wait(until: 50))
    #expect(app.nextEvent(until: 50, at: 50) == .timedOut)
    #expect(app.nextEvent(until: 0, at: 50) == .timedOut)
    let timer = app.schedule(at: 70) {}
    #expect(app.nextEvent(until: 90, at: 60) == .wait(until: 70))
    #expect(app.nextEvent(.key, until: 90, at: 60) == .wait(until: 90))
    #expect(app.nextEvent([], until: 60, at: 60) == .timedOut)
    #expect(app.nextEvent(until: 60, at: 70) == .event(ApplicationEvent(.timer(timer), at: 70)))
  }

  @Test func timerFiresOnlyInItsModes() throws {
    let script = try ApplicationTranscript.running()
    let app = script.application
    _ = app.schedule(at: 10, every: 10, modes: [.default]) { script.log.add("clock") }
    _ = app.schedule(at: 10, modes: [.tracking]) { script.log.add("scrolls") }
    #expect(script.turn(at: 9) == [])
    #expect(script.turn(at: 10) == ["clock"])
    app.beginTracking(script.front)
    #expect(app.mode == .tracking)
    #expect(script.turn(at: 45) == ["scrolls"])
    app.stopTracking()
    #expect(script.turn(at: 46) == ["clock"])
    #expect(app.runTurn(at: 47).wakeTime == 50)
  }

  /// Both are due in one turn, and the first of them ends the mode of the second.
  @Test func dueTimerWaitsForItsMode() throws {
    let script = try ApplicationTranscript.running()
    let app = script.application
    _ = app.schedule(at: 10) { app.stopTracking() }
    _ = app.schedule(at: 10, every: 10, modes: [.tracking]) { script.log.add("scrolls") }
    app.beginTracking(script.front)
    #expect(script.turn(at: 10) == [])
    app.beginTracking(script.front)
    #expect(script.turn(at: 20) == ["scrolls"])
  }

  @Test func cancelledTimerDoesNotFire() throws {
    let script = try ApplicationTranscript.running()
    let app = script.application
    let timer = app.schedule(at: 10) { script.log.add("fires") }
    #expect(app.nextEvent(dequeue: false, at: 10) == .event(ApplicationEvent(.timer(timer), at: 10)))
    app.cancel(timer)
    #expect(script.turn(at: 10) == [])
  }

  @Test func missedTimerFiresOnceAndKeepsPhase() {
    var timers = TimerTable()
    let slow = timers.schedule(at: 30)
    let fast = timers.schedule(at: 10, every: 10)
    #expect(timers.takeDue(at: 35, .default) == [fast, slow])
    #expect(timers.nextDue(.modal) == 40)
    #expect(!timers.contains(slow))
    timers.cancel(fast)
    #expect(timers.nextDue(.default) == nil)
  }

  // MARK: - Coalescing and bounds

  @Test func stateEventsAreCoalesced() {
    var queue = EventQueue()
    for event in [move(1), move(2), key("a"), move(3), move(4, .drag(.left)), move(5, .drag(.left))] {
      queue.post(event)
    }
    queue.post(ApplicationEvent(.resize(Size(width: 1, height: 1)), at: 0))
    queue.post(ApplicationEvent(.deltas([1]), at: 0))
    queue.post(ApplicationEvent(.resize(Size(width: 2, height: 2)), at: 0))
    queue.post(ApplicationEvent(.deltas([2]), at: 0))
    var left = [ApplicationEvent.Kind]()
    while let event = queue.next() { left.append(event.kind) }
    #expect(
      left == [
        move(2).kind, key("a").kind, move(3).kind, move(5, .drag(.left)).kind,
        .resize(Size(width: 2, height: 2)), .deltas([1, 2]),
      ])
  }

  @Test func fullQueueRefusesKeysAndCoalescesStates() {
    var queue = EventQueue(capacity: 3)
    func post(_ events: ApplicationEvent...) -> [Bool] { events.map { queue.post($0) } }
    #expect(post(key("a"), move(1), key("b")) == [true, true, true])
    #expect(queue.isFull)
    #expect(post(key("c"), key("d")) == [true, false])
    for number: UInt64 in 0..<100 {
      let taken = post(
        ApplicationEvent(.deltas([number]), at: 0),
        ApplicationEvent(.resize(Size(width: Int(number), height: 1)), at: 0),
        ApplicationEvent(.signal(.terminate), at: 0))
      #expect(taken == [true, true, true])
    }
    #expect(queue.count == 6)
    #expect(queue.next() == key("a"))
    #expect(queue.next() == key("b"))
    #expect(!queue.isFull)
    #expect(queue.next() == key("c"))
  }

  @Test func signalsAndConnectionEventsAreQueuedOnce() {
    var queue = EventQueue()
    for kind: ApplicationEvent.Kind in [
      .signal(.resume), .connection, .signal(.interrupt), .signal(.resume), .connection,
    ] {
      queue.post(ApplicationEvent(kind, at: 0))
    }
    #expect(queue.next()?.kind == .signal(.resume))
    #expect(queue.next()?.kind == .connection)
    #expect(queue.next()?.kind == .signal(.interrupt))
    #expect(queue.next() == nil)
  }

  @Test func refusedKeyIsReportedToDriver() throws {
    let script = try ApplicationTranscript.running(capacity: 2)
    #expect(script.application.post(key("a")))
    #expect(script.application.post(key("b")))
    #expect(script.application.isQueueFull)
    #expect(!script.application.post(key("c")))
    _ = script.application.runTurn(at: 0)
    #expect(script.application.post(key("c")))
  }

  /// The twin keeps every event, and merges them only on reading.
  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func keysAndClicksKeepTheirOrder(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queue = EventQueue(capacity: 10_000)
    var twin = [ApplicationEvent]()
    var numbers = Set<UInt64>()
    var taken = [ApplicationEvent]()
    var moves = 0
    for step in 0..<1_000 {
      let event: ApplicationEvent =
        switch Int.random(in: 0..<5, using: &random) {
        case 0: key(random.pick(["a", "b", "c"]) ?? "a")
        case 1: move(step, .press(.left))
        case 2: ApplicationEvent(.deltas([UInt64(step)]), at: 0)
        default: move(step)
        }
      queue.post(event)
      switch event.kind {
      case .deltas(let new): numbers.formUnion(new)
      case .mouse(let mouse) where mouse.kind == .move:
        moves += 1
        if let last = twin.last, case .mouse(let waiting) = last.kind, waiting.kind == .move { twin.removeLast() }
        twin.append(event)
      default: twin.append(event)
      }
    }
    var reported = Set<UInt64>()
    while let event = queue.next() {
      if case .deltas(let some) = event.kind { reported.formUnion(some) } else { taken.append(event) }
    }
    #expect(reported == numbers, "seed \(seed)")
    // A delta between two moves keeps them apart in the queue only.
    var merged = [ApplicationEvent]()
    for event in taken {
      if case .mouse(let mouse) = event.kind, mouse.kind == .move, let last = merged.last,
        case .mouse(let waiting) = last.kind, waiting.kind == .move
      {
        merged.removeLast()
      }
      merged.append(event)
    }
    #expect(merged == twin, "seed \(seed)")
    #expect(taken.count < 1_000 - numbers.count && moves > 100, "seed \(seed) shows nothing")
  }
}
