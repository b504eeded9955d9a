import GraphModel
import GraphStore
import Logging
import Synchronization

/// Looks once a second whether the names of the store's files still lead to the files that are open, so that the log says
/// it on a server without commits too. It logs a change, not each look.
final class StoreFileWatch: Sendable {
  private struct State {
    var isLooking = false
    var failure: StoreFailure?
  }

  private let store: SQLiteStore
  private let errands: ReaderPool
  private let log: Logger
  /// Guarded by its mutex: the loop begins a look, an errand's thread ends it.
  private let state = Mutex(State())

  init(store: SQLiteStore, errands: ReaderPool, log: Logger) {
    self.store = store
    self.errands = errands
    self.log = log
  }

  /// From the loop. A look that a slow file system holds up is not joined by a second one.
  func look() {
    let mustLook = state.withLock { state in
      defer { state.isLooking = true }
      return !state.isLooking
    }
    guard mustLook else { return }
    errands.enqueue { [self] in
      let failure = store.fileFailure()
      let before = state.withLock { state in
        defer { (state.isLooking, state.failure) = (false, failure) }
        return state.failure
      }
      guard failure != before else { return }
      if let failure {
        log.critical("the store's files are not where they were opened", metadata: ["failure": "\(failure)"])
      } else {
        log.notice("the store's files are back; commits are taken again")
      }
    }
  }
}
