import TerminalCells

/// The result of a turn.
public struct TurnResult {
  /// The number of handled or dropped events.
  public var eventCount: Int
  /// The new screen; nil if it has not changed.
  public var grid: Grid?
  /// The time of the next turn if no event arrives before; nil if none is due.
  public var wakeTime: Int64?
  /// The exit code, once the application has ended.
  public var exitCode: Int32?
}

extension Application {
  /// Whether the application has ended.
  public var hasEnded: Bool {
    if case .terminated = phase { true } else { false }
  }

  /// Runs a turn: sends all queued events, updates the windows, and draws once. Events posted meanwhile belong to the
  /// next turn, so a turn always ends. Does nothing before launching has finished and after the application has
  /// ended.
  /// - Parameter time: milliseconds of a monotonic clock.
  public func runTurn(at time: Int64) -> TurnResult {
    turnTime = max(turnTime, time)
    isInTurn = true
    defer { isInTurn = false }
    switch phase {
    case .terminated(let code): return TurnResult(eventCount: 0, grid: nil, wakeTime: nil, exitCode: code)
    case .made: return TurnResult(eventCount: 0, grid: nil, wakeTime: nil, exitCode: nil)
    case .running, .asking, .terminating: break
    }
    let sent = sendEvents()
    updateWindows()
    let grid = display()
    if case .terminating(let code) = phase {
      phase = .terminated(code: code)
      delegate?.applicationWillTerminate(self)
      return TurnResult(eventCount: sent, grid: grid, wakeTime: nil, exitCode: code)
    }
    return TurnResult(eventCount: sent, grid: grid, wakeTime: wakeTime, exitCode: nil)
  }

  /// Sends the events that are queued now; later ones wait for the next turn.
  private func sendEvents() -> Int {
    var sent = 0
    // This call also queues the due timers.
    guard case .event = nextEvent(taken, dequeue: false, at: now) else { return sent }
    let waiting = queue.count(of: taken)
    // A deadline of now, because a turn never waits.
    while sent < waiting, case .event(let event) = nextEvent(taken, until: now, mode: mode, at: now) {
      sent += 1
      send(event)
    }
    return sent
  }

  /// The time of the next turn; events that are not accepted yet do not count.
  private var wakeTime: Int64? {
    switch nextEvent(taken, mode: mode, dequeue: false, at: now) {
    case .event, .timedOut: now
    case .wait(let time): time
    }
  }

  /// The accepted events; all of them if the queue is full.
  private var taken: EventMask { queue.isFull ? .any : acceptedEvents }
}
