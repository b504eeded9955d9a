import Synchronization

/// A value that is freed where it is taken, whichever thread releases this reference last.
final class FreeableValue<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>

  init(_ value: Value) { self.value = Mutex(value) }

  /// The value, which belongs to the caller from now on; nil if it was taken before.
  func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
