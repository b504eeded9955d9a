import GraphModel
import GraphReplica
import GraphWire

/// The callers that wait for loads of a context.
///
/// The first one of a turn of the actor begins a collection: all loads of that turn are sent together. A caller leaves
/// when its load has ended, or when its task is cancelled; the owner cancels a load whose last caller has left.
struct LoadWaiters {
  private var waits = [LoadID: [CancellableWait]]()
  /// Whether loads are being collected, to be sent together.
  private var isCollecting = false

  /// Adds a caller.
  /// - Returns: whether it begins a collection, which the owner ends by sending the loads.
  mutating func add(_ wait: CancellableWait, for load: LoadID) -> Bool {
    waits[load, default: []].append(wait)
    defer { isCollecting = true }
    return !isCollecting
  }

  /// Removes a caller whose task was cancelled.
  /// - Returns: whether it was the last one that waited for the load, which may have ended at the same time.
  mutating func remove(_ wait: CancellableWait, for load: LoadID) -> Bool {
    waits.modifyIfPresent(load) { callers in callers.removeAll { $0 === wait } }
    if waits[load]?.isEmpty == false { return false }
    waits[load] = nil
    return true
  }

  /// Ends a collection.
  mutating func endCollection() {
    assert(isCollecting, "a collection that ends has begun")
    isCollecting = false
  }

  /// Resumes the callers of a load that has ended. A live query's prefetch may have none.
  mutating func finish(_ load: LoadID, _ refusal: Refusal?) {
    if let callers = waits.removeValue(forKey: load) {
      for caller in callers { caller.end(refusal.map { .failure($0) } ?? .success(())) }
    }
  }

  /// Resumes all callers with an error.
  mutating func fail(_ refusal: Refusal) {
    for load in waits.keys.sorted() { finish(load, refusal) }
  }
}

/// An owner of a context whose callers wait for loads.
protocol LoadOwner: AnyObject {
  var context: ObjectContext { get }
  var loadWaiters: LoadWaiters { get set }

  /// Ends the collection of loads and sends them, at the end of the turn of the actor.
  func sendCollectedLoads()
}

extension LoadOwner {
  /// Waits for a load, and cancels it if the tasks of all callers that wait for it are cancelled.
  func wait(for load: LoadID) async throws {
    let wait = CancellableWait()
    // Otherwise another caller of this turn has begun to collect.
    let beginsCollection = loadWaiters.add(wait, for: load)
    if beginsCollection { sendCollectedLoads() }
    do {
      // Before the loads are sent, so that a cancelled task sends none.
      try Task.checkCancellation()
      try await wait.wait()
    } catch {
      if error is CancellationError, loadWaiters.remove(wait, for: load) { context.cancel(load) }
      throw error
    }
  }
}
