// Tests: TimeLimitTests.swift

/// The timer that wakes a replica's owner for the next tick.
///
/// The deadline moves with almost every frame, and restarting a sleep costs more than handling most frames. So a sleep
/// is restarted only if it would end too late, and postponed at most once before it fires. An early wake-up is
/// harmless. The reply to a ping postpones the sleep to the next ping, so an idle client wakes only to ping.
package struct TickTimer: Hashable, Sendable {
  /// The time at which the timer fires; nil if no sleep is active.
  package private(set) var time: Int64?
  private var wasPostponed = false

  /// A timer without an active sleep.
  package init() {}

  /// Schedules the timer at the deadline or earlier.
  /// - Returns: whether the caller has to start a sleep until `time`, which replaces an active one.
  package mutating func set(to deadline: Int64) -> Bool {
    if let time {
      guard deadline < time || (deadline > time && !wasPostponed) else { return false }
      wasPostponed = wasPostponed || deadline > time
    }
    time = deadline
    return true
  }

  /// Ends the sleep.
  package mutating func ring() { self = TickTimer() }
}
