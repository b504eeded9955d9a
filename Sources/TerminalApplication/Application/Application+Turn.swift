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
    var sent = 0
    // Peeking takes the timers that are due into the queue.
    _ = nextEvent(dequeue: false, at: now)
    let waiting = queue.count
    while sent < waiting, case .event(let event) = nextQueued() {
      sent += 1
      send(event)
    }
    updateWindows()
    let grid = display()
    if case .terminating(let code) = phase {
      phase = .terminated(code: code)
      delegate?.applicationWillTerminate(self)
      return Turn(eventCount: sent, grid: grid, wakeTime: nil, exitCode: code)
    }
    let wake = queue.count > 0 ? now : timers.nextDue(mode)
    return Turn(eventCount: sent, grid: grid, wakeTime: wake, exitCode: nil)
  }

  private func nextQueued() -> NextEvent {
    queue.next().map { .event($0) } ?? .wait(until: nil)
  }
}
