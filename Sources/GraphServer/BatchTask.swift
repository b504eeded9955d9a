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
    /// Nil until the selection begins.
    var selection: SearchTimeLimit?
  }

  /// At most four reports a second.
  private static let pauseNanoseconds: UInt64 = 250_000_000

  private let state = Mutex(State())
  private let searchLimit: Duration
  private let report: @Sendable (BatchProgress) -> Void

  /// - Parameter searchLimit: the time for the selection of the objects.
  init(searchLimit: Duration, report: @escaping @Sendable (BatchProgress) -> Void) {
    (self.searchLimit, self.report) = (searchLimit, report)
  }

  private static let cancelled = Refusal(.cancelled, "the batch was cancelled")

  /// Cancels the batch during its selection or at its next slice, and rolls back what it has written.
  func cancel() { state.withLock { $0.isCancelled = true } }

  /// Reports progress if a report is due; called on the writer's thread.
  /// - Throws: `Refusal` when the batch was cancelled.
  func progressed(_ progress: BatchProgress) throws {
    let now = DispatchTime.now().uptimeNanoseconds
    let isDue = try state.withLock { state in
      if state.isCancelled { throw Self.cancelled }
      guard progress.done == progress.total || now &- state.lastReport >= Self.pauseNanoseconds else { return false }
      state.lastReport = now
      return true
    }
    if isDue { report(progress) }
  }

  /// The refusal that ends the selection of the batch's objects; called repeatedly on the writer's thread.
  /// - Parameter found: the number of objects found so far.
  func selectionRefusal(found: Int, at now: ContinuousClock.Instant) -> Refusal? {
    state.withLock { state in
      if state.isCancelled { return Self.cancelled }
      var time = state.selection ?? SearchTimeLimit(searchLimit, from: now)
      defer { state.selection = time }
      if time.mayContinue(at: now) { return nil }
      return found == 0 ? time.refusal : time.incompleteSelection
    }
  }
}
