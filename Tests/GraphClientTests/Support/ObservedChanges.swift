import Observation

/// Returns when a condition of observable properties holds.
@MainActor func wait(until condition: @MainActor () -> Bool) async {
  while !condition() {
    await withCheckedContinuation { (changed: CheckedContinuation<Void, Never>) in
      withObservationTracking {
        _ = condition()
      } onChange: {
        changed.resume()
      }
    }
    // The observer is called before the change.
    await Task.yield()
  }
}
