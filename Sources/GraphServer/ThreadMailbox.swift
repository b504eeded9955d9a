import Foundation
import Synchronization

/// The mailbox of one thread: other threads change its contents, the thread takes from them and waits for more.
///
/// A change wakes the thread only if it waits, so a busy thread costs the others no system call.
final class ThreadMailbox<Contents: Sendable>: Sendable {
  private struct State {
    var contents: Contents
    /// Whether the thread found nothing to take, and the contents have not changed since.
    var isIdle = false
  }

  private let state: Mutex<State>
  private let wake = DispatchSemaphore(value: 0)

  init(_ contents: Contents) { state = Mutex(State(contents: contents)) }

  /// Changes the contents, and wakes the thread if it waits.
  /// - Returns: the result of `body`.
  @discardableResult
  func change<Result: Sendable>(_ body: (inout Contents) -> Result) -> Result {
    let (result, mustWake) = state.withLock { state in
      let result = body(&state.contents)
      defer { state.isIdle = false }
      return (result, state.isIdle)
    }
    if mustWake { wake.signal() }
    return result
  }

  /// Takes something from the contents. Only the mailbox's thread calls it.
  /// - Returns: the result of `body`. If it is nil, the next change ends a `wait`.
  func take<Item: Sendable>(_ body: (inout Contents) -> Item?) -> Item? {
    state.withLock { state in
      let item = body(&state.contents)
      state.isIdle = item == nil
      return item
    }
  }

  /// Waits for a change, after `take` returned nil. It may also return early; call `take` again.
  func wait() { wake.wait() }

  /// Waits for a change, but not longer than a time.
  /// - Returns: whether there was a change.
  func wait(atMost time: DispatchTimeInterval) -> Bool { wake.wait(timeout: .now() + time) == .success }
}
