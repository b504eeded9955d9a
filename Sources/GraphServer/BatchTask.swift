import Dispatch
import GraphModel
import Synchronization

/// A queued or running batch, as the event loop sees it: it reports its progress at intervals and can be cancelled.
///
/// The lock only guards the decision; the caller acts after it is released.
final class BatchTask: Sendable {
  private struct State {
    var isCancelled = false
    /// The time of the last report; 0 before the first.
    var lastReport: UInt64 = 0
  }

  /// At most four reports a second.
  private static let pauseNanoseconds: UInt64 = 250_000_000

  private let state = Mutex(State())
  private let report: @Sendable (BatchProgress) -> Void

  init(report: @escaping @Sendable (BatchProgress) -> Void) { self.report = report }

  /// Cancels the batch at its next slice and rolls back what it has written.
  func cancel() { state.withLock { $0.isCancelled = true } }

  /// Reports progress if a report is due; called on the writer's thread.
  /// - Throws: `Refusal` when the batch was cancelled.
  func progressed(_ progress: BatchProgress) throws {
    let now = DispatchTime.now().uptimeNanoseconds
    let isDue = try state.withLock { state in
      if state.isCancelled { throw Refusal(.unavailable, "batch cancelled: its client disconnected") }
      guard progress.done == progress.total || now &- state.lastReport >= Self.pauseNanoseconds else { return false }
      state.lastReport = now
      return true
    }
    if isDue { report(progress) }
  }
}
