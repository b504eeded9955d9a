import GraphReplica
import GraphWire

/// The callers that wait for loads of a context.
///
/// The first one of a turn of the actor begins a collection: all loads of that turn are sent together.
struct LoadWaiters {
  private var continuations = [LoadID: [CheckedContinuation<Void, any Error>]]()
  /// Whether loads are being collected, to be sent together.
  private var isCollecting = false

  /// Adds a caller.
  /// - Returns: whether it begins a collection, which the owner ends by sending the loads.
  mutating func add(_ continuation: CheckedContinuation<Void, any Error>, for load: LoadID) -> Bool {
    continuations[load, default: []].append(continuation)
    defer { isCollecting = true }
    return !isCollecting
  }

  /// Ends a collection.
  mutating func endCollection() {
    assert(isCollecting, "a collection that ends has begun")
    isCollecting = false
  }

  /// Resumes the callers of a load that has ended. A live query's prefetch may have none.
  mutating func finish(_ load: LoadID, _ refusal: Refusal?) {
    if let callers = continuations.removeValue(forKey: load) {
      for caller in callers {
        if let refusal { caller.resume(throwing: refusal) } else { caller.resume() }
      }
    }
  }

  /// Resumes all callers with an error.
  mutating func fail(_ refusal: Refusal) {
    for load in continuations.keys.sorted() { finish(load, refusal) }
  }
}
