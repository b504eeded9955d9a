// Tests: ResultsUpdatesTests.swift, LiveSequenceTests.swift

/// The turns of tasks that read from one place. Each task reads alone; the others wait, in the order of their calls.
/// All of them belong to one actor.
package final class ReaderTurns {
  private var isTaken = false
  /// The tasks that wait, the first one first. A sign hands the turn over.
  private var waiting = [WakeSign]()

  package init() {}

  /// Waits for the turn of the calling task.
  /// - Returns: false if the task was cancelled before; it then has no turn.
  package func begin(isolation actor: isolated (any Actor)? = #isolation) async -> Bool {
    if !isTaken {
      isTaken = true
      return true
    }
    let sign = WakeSign()
    waiting.append(sign)
    if await sign.wait(isolation: actor) { return true }
    waiting.removeAll { $0 === sign }
    return false
  }

  /// Ends the turn of the calling task.
  package func end() {
    precondition(isTaken, "a turn that ends has begun")
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().give() }
  }
}
