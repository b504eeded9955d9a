// Tests: AnyActorTests.swift, MailboxTests.swift
import DequeModule
import Synchronization

/// The calls that other threads post for an object that belongs to one actor: messages of a socket, the end of a timer
/// or of a task, the release of a handle.
///
/// The object is not `Sendable`; its mailbox is, and a call receives the object as its argument. One task on the actor
/// makes the calls in the order in which they were posted (`run`). It ends when the mailbox is closed, so an actor that
/// keeps such an object is released only after that.
final class Mailbox<Owner: AnyObject>: Sendable {
  /// A call, made on the owner's actor, which is its second argument.
  typealias Call = @Sendable (Owner, isolated any Actor) -> Void

  private let calls = Calls()

  deinit { close() }

  /// Adds a call, on any thread. A call that is posted after the end, or after the owner was released, is dropped.
  func post(_ call: @escaping @Sendable (Owner) -> Void) { calls.add { owner, _ in call(owner) } }

  /// Adds a call that starts tasks on the actor.
  func postStart(_ call: @escaping Call) { calls.add(call) }

  /// Ends the mailbox after the calls that have been posted.
  func close() { calls.close() }

  /// Makes the calls on an actor, until the mailbox is closed or the owner released.
  /// - Parameter owner: belongs to the actor; held weakly between two calls.
  func run(for owner: Owner, on actor: isolated any Actor) {
    Task { [weak owner, calls] in
      while let call = await calls.next(on: actor) {
        guard let owner else { break }
        // A closure that uses the parameter runs on its actor.
        call(owner, actor)
      }
      calls.discard()
    }
  }

  /// The posted calls that have not been made, for one task.
  ///
  /// An `AsyncStream` would run the task on the global executor between two calls, which costs two changes of threads
  /// for each message of the server.
  private final class Calls: Sendable {
    private struct State {
      var calls = Deque<Call>()
      var isClosed = false
      /// The calls that were made without a pause.
      var callsInRow = 0
      /// The task while there is no call.
      var sleeper: CheckedContinuation<Void, Never>?
    }

    /// Before the next call.
    private enum Pause {
      case none
      /// Until a call is posted.
      case sleep
      /// Until the actor has run what waits for it.
      case turn
    }

    private static var turnLength: Int { 16 }

    private let state = Mutex(State())

    func add(_ call: @escaping Call) {
      let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
        if state.isClosed { return nil }
        state.calls.append(call)
        return state.sleeper.take()
      }
      sleeper?.resume()
    }

    func close() {
      let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
        state.isClosed = true
        return state.sleeper.take()
      }
      sleeper?.resume()
    }

    /// Ends the mailbox without the calls that have been posted.
    func discard() {
      // Released outside the lock: what a call captures may post when it is released.
      let dropped = state.withLock { state -> Deque<Call> in
        state.isClosed = true
        defer { state.calls = [] }
        return state.calls
      }
      withExtendedLifetime(dropped) {}
    }

    /// Takes the next call. After some calls in a row, other tasks of the actor run first.
    /// - Returns: nil after the end.
    func next(on actor: isolated any Actor) async -> Call? {
      await withCheckedContinuation(isolation: actor) { continuation in
        switch pause(continuation) {
        case .none: continuation.resume()
        case .sleep: break
        case .turn:
          Task {
            _ = actor
            continuation.resume()
          }
        }
      }
      return state.withLock { $0.calls.popFirst() }
    }

    /// Keeps the task as the sleeper if there is no call.
    private func pause(_ task: CheckedContinuation<Void, Never>) -> Pause {
      state.withLock { state in
        precondition(state.sleeper == nil, "one task makes the calls")
        if state.calls.isEmpty, !state.isClosed {
          (state.sleeper, state.callsInRow) = (task, 0)
          return .sleep
        }
        state.callsInRow += 1
        if state.callsInRow < Self.turnLength { return .none }
        state.callsInRow = 0
        return .turn
      }
    }
  }
}
