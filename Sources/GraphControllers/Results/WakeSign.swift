// Tests: WakeSignTests.swift
import Synchronization

/// A sign for one task that sleeps until there is work. A sign that is given while the task is awake stays until its
/// next wait; several count as one.
///
/// An `AsyncStream` has the same effect, but runs its reader on the global executor: each element costs two changes of
/// threads, as much time as a client needs for a commit of another client. This one resumes the task on its own actor.
package final class WakeSign: Sendable {
  private struct State {
    var isGiven = false
    var isEnded = false
    var sleeper: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  package init() {}

  /// Wakes the task, or lets its next wait return at once.
  package func give() {
    let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.isGiven = true
      return state.sleeper.take()
    }
    sleeper?.resume()
  }

  /// Ends all waits, after a sign that is still there.
  package func end() {
    let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.isEnded = true
      return state.sleeper.take()
    }
    sleeper?.resume()
  }

  /// Waits for a sign, and takes it.
  /// - Returns: false after the end, which the cancellation of the task is, too.
  package func wait(isolation actor: isolated (any Actor)? = #isolation) async -> Bool {
    await withTaskCancellationHandler(
      operation: {
        // The closure runs on the actor because it captures it.
        _ = actor
        await withCheckedContinuation(isolation: actor) { continuation in
          let sleeps = state.withLock { state -> Bool in
            precondition(state.sleeper == nil, "one task waits for a sign")
            if state.isGiven || state.isEnded { return false }
            state.sleeper = continuation
            return true
          }
          if !sleeps { continuation.resume() }
        }
      }, onCancel: end, isolation: actor)
    return state.withLock { state in
      defer { state.isGiven = false }
      return state.isGiven
    }
  }
}
