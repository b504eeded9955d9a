import TerminalCells

/// What a turn comes to.
public struct Turn {
  /// How many events were answered or let go.
  public var eventCount: Int
  /// The screen as it is to be; nil when it has not changed.
  public var grid: Grid?
  /// When the next turn is due, should nothing happen before; nil when nothing is due.
  public var wakeTime: Int64?
  /// Set when the application has ended.
  public var exitCode: Int32?
}

extension Application {
  /// Whether it has ended.
  public var hasEnded: Bool {
    if case .terminated = phase { true } else { false }
  }

  /// One turn: sends every event that waits, updates the windows, draws once. What is posted meanwhile belongs to the
  /// next turn, so that a turn ends. An application that has not finished launching, or has ended, does nothing.
  /// - Parameter time: milliseconds of a clock that never goes back.
  public func runTurn(at time: Int64) -> Turn {
    turnTime = max(turnTime, time)
    isInTurn = true
    defer { isInTurn = false }
    switch phase {
    case .terminated(let code): return Turn(eventCount: 0, grid: nil, wakeTime: nil, exitCode: code)
    case .made: return Turn(eventCount: 0, grid: nil, wakeTime: nil, exitCode: nil)
    case .running, .asking, .terminating: break
    }
    let sent = sendEvents()
    updateWindows()
    let grid = display()
    if case .terminating(let code) = phase {
      phase = .terminated(code: code)
      delegate?.applicationWillTerminate(self)
      return Turn(eventCount: sent, grid: grid, wakeTime: nil, exitCode: code)
    }
    return Turn(eventCount: sent, grid: grid, wakeTime: wakeTime, exitCode: nil)
  }

  /// As many as wait now: what comes meanwhile is at the end of the queue, and is left to the next turn.
  private func sendEvents() -> Int {
    var sent = 0
    // Looking takes the timers that are due into the queue.
    guard case .event = nextEvent(taken, dequeue: false, at: now) else { return sent }
    let waiting = queue.count(of: taken)
    // The deadline is now: a turn waits for nothing.
    while sent < waiting, case .event(let event) = nextEvent(taken, until: now, mode: mode, at: now) {
      sent += 1
      send(event)
    }
    return sent
  }

  /// What is kept waiting wakes nobody.
  private var wakeTime: Int64? {
    switch nextEvent(taken, mode: mode, dequeue: false, at: now) {
    case .event, .timedOut: now
    case .wait(let time): time
    }
  }

  /// Where there is no room for another key nothing is kept waiting.
  private var taken: EventMask { queue.isFull ? .any : acceptedEvents }
}
