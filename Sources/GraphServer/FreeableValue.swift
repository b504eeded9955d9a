import Synchronization

/// Frees its value on the thread that calls `free`, whichever thread releases the reference last.
final class FreeableValue<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>

  init(_ value: Value) { self.value = Mutex(value) }

  /// Frees the value on the calling thread, if this is the only reference to it.
  func free() {
    let value = value.withLock { value in
      defer { value = nil }
      return value
    }
    withExtendedLifetime(value) {}
  }
}
