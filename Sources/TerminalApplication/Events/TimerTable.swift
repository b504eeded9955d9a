/// Names a timer.
public struct TimerID: Hashable, Comparable, Sendable {
  let number: UInt64

  public static func < (left: TimerID, right: TimerID) -> Bool { left.number < right.number }
}

/// When what is due. It reads no clock: times are milliseconds, passed in.
public struct TimerTable: Sendable {
  private struct Timer {
    var due: Int64
    let interval: Int64?
    let modes: Set<EventMode>
  }

  private var timers = [TimerID: Timer]()
  private var lastNumber: UInt64 = 0

  /// No timers.
  public init() {}

  /// Adds a timer.
  /// - Parameters:
  ///   - due: when it fires.
  ///   - interval: after how many milliseconds it fires again; nil for once. Less than 1 counts as 1.
  ///   - modes: in which it fires; in another one it waits.
  public mutating func schedule(
    at due: Int64, every interval: Int64? = nil, modes: Set<EventMode> = Set(EventMode.allCases)
  ) -> TimerID {
    lastNumber += 1
    let id = TimerID(number: lastNumber)
    timers[id] = Timer(due: due, interval: interval.map { max(1, $0) }, modes: modes)
    return id
  }

  /// The timer fires no more.
  public mutating func cancel(_ id: TimerID) { timers[id] = nil }

  /// Whether the timer will fire.
  public func contains(_ id: TimerID) -> Bool { timers[id] != nil }

  /// Whether a timer that is to fire again does so in a mode.
  public func fires(_ id: TimerID, in mode: EventMode) -> Bool { timers[id]?.modes.contains(mode) == true }

  /// When the next one fires; nil when none does in this mode. Until then nobody needs to wake up.
  public func nextDue(_ mode: EventMode) -> Int64? {
    timers.values.filter { $0.modes.contains(mode) }.map(\.due).min()
  }

  /// The timers that are due, by time, and by age where they are due at once. One that repeats and missed several times
  /// fires once, and goes on in its rhythm.
  public mutating func takeDue(at now: Int64, _ mode: EventMode) -> [TimerID] {
    let due = timers.filter { $0.value.due <= now && $0.value.modes.contains(mode) }
      .sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
    for (id, timer) in due {
      if let interval = timer.interval {
        timers[id]?.due = timer.due + ((now - timer.due) / interval + 1) * interval
      } else {
        timers[id] = nil
      }
    }
    return due.map(\.key)
  }
}
