// Tests: LiveQueryTests.swift, ClientLifetimeTests.swift
import Synchronization

/// An event that one task waits for. The cancellation of the task ends the wait.
///
/// The library's own `withTaskCancellationHandler` runs its operation on no actor if the caller's actor is known only
/// at run time, as it is in the methods of a client. Here the operation uses nothing of the client.
final class CancellableWait: Sendable {
  private enum State {
    case pending
    case waiting(CheckedContinuation<Void, any Error>)
    case ended(Result<Void, any Error>)
  }

  private let state = Mutex(State.pending)

  /// Returns when the wait has ended.
  /// - Throws: the failure with which it ended, or `CancellationError`.
  func wait() async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state -> Result<Void, any Error>? in
          switch state {
          case .pending:
            state = .waiting(continuation)
            return nil
          case .waiting: preconditionFailure("one task waits for an event")
          case .ended(let result): return result
          }
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      end(.failure(CancellationError()))
    }
  }

  /// Ends the wait. Only the first call has an effect.
  /// - Returns: whether this call has ended it.
  @discardableResult
  func end(_ result: Result<Void, any Error> = .success(())) -> Bool {
    let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Void, any Error>?) in
      switch state {
      case .pending:
        state = .ended(result)
        return (true, nil)
      case .waiting(let continuation):
        state = .ended(result)
        return (true, continuation)
      case .ended: return (false, nil)
      }
    }
    continuation?.resume(with: result)
    return isFirst
  }
}
