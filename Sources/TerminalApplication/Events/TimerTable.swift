/// Identifies a timer.
public struct TimerID: Hashable, Comparable, Sendable {
  let number: UInt64

  public static func < (left: TimerID, right: TimerID) -> Bool { left.number < right.number }
}

/// The scheduled timers. The table reads no clock: times are milliseconds, passed in.
public struct TimerTable: Sendable {
  private struct Timer {
    var due: Int64
    let interval: Int64?
    let modes: Set<EventMode>
  }

  private var timers = [TimerID: Timer]()
  private var lastNumber: UInt64 = 0

  /// Creates an empty table.
  public init() {}

  /// Adds a timer.
  /// - Parameters:
  ///   - due: the time at which it fires.
  ///   - interval: the milliseconds between repetitions, at least 1; nil to fire once.
  ///   - modes: the modes in which it fires; in other modes it waits.
  public mutating func schedule(
    at due: Int64, every interval: Int64? = nil, modes: Set<EventMode> = Set(EventMode.allCases)
  ) -> TimerID {
    lastNumber += 1
    let id = TimerID(number: lastNumber)
    timers[id] = Timer(due: due, interval: interval.map { max(1, $0) }, modes: modes)
    return id
  }

  /// Cancels a timer.
  public mutating func cancel(_ id: TimerID) { timers[id] = nil }

  /// Returns whether the timer is scheduled.
  public func contains(_ id: TimerID) -> Bool { timers[id] != nil }

  /// Returns whether a scheduled timer fires in a mode.
  public func fires(_ id: TimerID, in mode: EventMode) -> Bool { timers[id]?.modes.contains(mode) == true }

  /// Returns the next due time in this mode; nil without one.
  public func nextDue(_ mode: EventMode) -> Int64? {
    timers.values.filter { $0.modes.contains(mode) }.map(\.due).min()
  }

  /// Removes and returns the due timers, by time and then by creation. A repeating timer that missed several times
  /// fires once and keeps its rhythm.
  public mutating func takeDue(at now: Int64, _ mode: EventMode) -> [TimerID] {
    let due = timers.filter { $0.value.due <= now && $0.value.modes.contains(mode) }
      .sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
    for (id, timer) in due {
      var next = timer
      if let interval = timer.interval {
        next.due += ((now - timer.due) / interval + 1) * interval
        assert(next.due > now, "a timer that repeats is due again later")
        timers[id] = next
      } else {
        timers[id] = nil
      }
    }
    return due.map(\.key)
  }
}
