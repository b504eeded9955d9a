import GraphModel
import GraphStore
import Logging
import Synchronization

/// Checks once a second that the names of the store's files still refer to the open files.
///
/// This way a server without commits logs a loss too. Changes are logged, not each check.
final class StoreFileWatcher: Sendable {
  private struct State {
    var isLooking = false
    var failure: StoreFailure?
  }

  private let store: SQLiteStore
  private let errands: ReaderPool
  private let log: Logger
  /// Guarded by its mutex: the loop starts a check, and the thread of `errands` finishes it.
  private let state = Mutex(State())

  init(store: SQLiteStore, errands: ReaderPool, log: Logger) {
    self.store = store
    self.errands = errands
    self.log = log
  }

  /// Starts a check, unless a slow file system still delays the previous one; called on the loop.
  func look() {
    let mustLook = state.withLock { state in
      defer { state.isLooking = true }
      return !state.isLooking
    }
    guard mustLook else { return }
    errands.enqueue { [self] in
      let failure = store.fileFailure()
      let before = state.withLock { state in
        assert(state.isLooking, "one check runs at a time")
        defer { (state.isLooking, state.failure) = (false, failure) }
        return state.failure
      }
      guard failure != before else { return }
      if let failure {
        log.critical("the store's files were moved, replaced or removed", metadata: ["failure": "\(failure)"])
      } else {
        log.notice("the store's files are back; commits resume")
      }
    }
  }
}
