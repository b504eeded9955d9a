import Synchronization

/// A reference that is set once, before another thread reads it.
final class OnceResult<Value: Sendable>: Sendable {
  private let storage = Mutex<Value?>(nil)

  var value: Value? { storage.withLock { $0 } }

  func set(_ value: Value) { storage.withLock { $0 = $0 ?? value } }
}
