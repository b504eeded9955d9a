// Tests: UnfinishedBodyTests.swift
import GraphHub
import Synchronization

/// The bodies of requests that have not arrived completely.
///
/// A client that announces a large body and never completes it occupies server memory, so the bytes of all of them
/// are bounded, by `UnfinishedInputs` as those of frames are; `RequestDeadlineHandler` bounds the time of each. A body
/// is counted from its first part until it is complete, is refused, or its connection ends. Small bodies are always
/// accepted; a larger one needs the login of a user, with which it is counted.
final class UnfinishedBodies: Sendable {
  /// The error that ends the wait for the next part of a body.
  struct Ended: Error {}

  private struct State {
    var bodies: UnfinishedInputs<UInt64, String?>
    var lastBody: UInt64 = 0
    /// Ends the wait of a large body for its next part.
    var waits = [UInt64: @Sendable () -> Void]()
    /// The bodies that were ended and whose tasks have not noticed it.
    var ended = Set<UInt64>()
  }

  private let limit: Int
  /// Guarded by its mutex, because each request has a task of its own.
  private let state: Mutex<State>

  init(limit: Int) {
    self.limit = limit
    state = Mutex(State(bodies: UnfinishedInputs(limit: limit, guaranteed: HTTPLimits.guaranteedBody)))
  }

  /// The number of a new body. `finish` releases it.
  func begin() -> UInt64 {
    state.withLock { state in
      state.lastBody += 1
      return state.lastBody
    }
  }

  /// Counts the received part of a body, and ends bodies if all together are too large, possibly this one.
  /// - Parameters:
  ///   - count: the size of all its parts, in bytes.
  ///   - sender: the principal; nil for a small body.
  ///   - end: ends the wait for its next part; called at most once, on any thread.
  /// - Returns: false if the body was ended.
  func receive(_ count: Int, of body: UInt64, from sender: String?, end: @escaping @Sendable () -> Void) -> Bool {
    let ended = state.withLock { state -> [UInt64: @Sendable () -> Void]? in
      if state.ended.contains(body) { return nil }
      // An earlier body has a lower number, so the number is its time.
      state.bodies.receive(count, of: body, from: sender, at: Int64(body))
      state.waits[body] = end
      var ended = [UInt64: @Sendable () -> Void]()
      while let next = state.bodies.inputToEnd {
        state.bodies.discard(next)
        state.ended.insert(next)
        ended[next] = state.waits.removeValue(forKey: next)
      }
      return ended
    }
    guard let ended else { return false }
    for (other, end) in ended where other != body { end() }
    return ended[body] == nil
  }

  /// Removes a body, which is complete or is no longer awaited.
  /// - Returns: false if it was ended.
  @discardableResult
  func finish(_ body: UInt64) -> Bool {
    state.withLock { state in
      state.bodies.discard(body)
      state.waits[body] = nil
      return state.ended.remove(body) == nil
    }
  }

  var refusal: Problem {
    let size = limit < 1 << 20 ? "\(limit >> 10) KiB" : "\(limit >> 20) MiB"
    var problem = Problem(
      .serviceUnavailable, "limit",
      "the server holds \(size) of incomplete bodies and has no space for this one: send it again later, without a "
        + "pause, or send smaller transactions")
    problem.fields[.retryAfter] = "5"
    // The rest of the body is not read.
    problem.fields[.connection] = "close"
    return problem
  }
}
