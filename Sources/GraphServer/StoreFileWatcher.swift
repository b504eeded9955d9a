import GraphModel
import Logging
import Synchronization

/// Checks once a second that the names of the store's files still refer to the open files, and lets the store settle.
///
/// This way a server without commits logs a loss too. Changes are logged, not each check.
final class StoreFileWatcher: Sendable {
  private struct State {
    var isChecking = false
    var failure: StoreFailure?
  }

  private let store: any GraphStoring
  private let internalReaders: ReaderPool
  private let log: Logger
  /// Guarded by its mutex: the loop starts a check, and the thread of `internalReaders` finishes it.
  private let state = Mutex(State())

  init(store: any GraphStoring, internalReaders: ReaderPool, log: Logger) {
    self.store = store
    self.internalReaders = internalReaders
    self.log = log
  }

  /// Starts a check, unless a slow file system still delays the previous one; called on the loop.
  func check() {
    let wasChecking = state.withLock { state in
      defer { state.isChecking = true }
      return state.isChecking
    }
    if wasChecking { return }
    internalReaders.enqueue { [self] in
      let failure = store.fileFailure()
      if failure == nil { store.settle() }
      let before = state.withLock { state in
        assert(state.isChecking, "one check runs at a time")
        defer { (state.isChecking, state.failure) = (false, failure) }
        return state.failure
      }
      switch failure {
      case before: break
      case let failure?:
        log.critical("the store's files were moved, replaced or removed", metadata: ["failure": "\(failure)"])
      case nil: log.notice("the store's files are back; commits resume")
      }
    }
  }
}
