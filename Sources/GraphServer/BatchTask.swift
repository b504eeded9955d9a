import Dispatch
import GraphModel
import Synchronization

/// A batch that the writer has or will have, as the hub's side sees it: it tells how far it is, now and then, and can be
/// ended. The lock decides, the caller acts.
final class BatchTask: Sendable {
  private struct State {
    var isCancelled = false
    /// When it was told last; 0 before the first time.
    var told: UInt64 = 0
  }

  /// At most four times a second.
  private static let pauseNanoseconds: UInt64 = 250_000_000

  private let state = Mutex(State())
  private let tell: @Sendable (BatchProgress) -> Void

  init(tell: @escaping @Sendable (BatchProgress) -> Void) { self.tell = tell }

  /// Takes effect at the next slice: what was written until then is rolled back.
  func cancel() { state.withLock { $0.isCancelled = true } }

  /// On the writer's thread.
  /// - Throws: `Refusal` when it was cancelled.
  func progressed(_ progress: BatchProgress) throws {
    let now = DispatchTime.now().uptimeNanoseconds
    let isDue = try state.withLock { state in
      if state.isCancelled { throw Refusal(.unavailable, "the batch was given up: who asked for it is gone") }
      guard progress.done == progress.total || now &- state.told >= Self.pauseNanoseconds else { return false }
      state.told = now
      return true
    }
    if isDue { tell(progress) }
  }
}
