// Tests: ClientLifetimeTests.swift, LiveConflictsTests.swift
import Synchronization

/// A value that changes, for readers on any thread: the present one, and each later one.
///
/// A slow reader misses older values, never the newest. One queue or actor sets the value, so that readers receive the
/// values in order.
package final class LiveState<Value: Sendable & Equatable>: Sendable {
  private struct Content {
    var current: Value
    var hasEnded = false
    var lastReader = 0
    var readers = [Int: AsyncStream<Value>.Continuation]()
  }

  /// Guarded by its mutex, which is released before readers are notified.
  private let content: Mutex<Content>
  /// The number of values that wait for a slow reader.
  private let maximumWaiting: Int

  package init(_ value: Value, maximumWaiting: Int = 1) {
    content = Mutex(Content(current: value))
    self.maximumWaiting = maximumWaiting
  }

  deinit { end() }

  package var current: Value { content.withLock { $0.current } }

  /// The number of streams that are read.
  var readerCount: Int { content.withLock { $0.readers.count } }

  /// Replaces the value; readers receive it unless it is the same. Without effect after the end.
  package func set(_ value: Value) {
    let readers = content.withLock { content -> [AsyncStream<Value>.Continuation] in
      if content.current == value || content.hasEnded { return [] }
      content.current = value
      return Array(content.readers.values)
    }
    for reader in readers { reader.yield(value) }
  }

  /// Ends the streams of all readers. The value stays readable.
  package func end() {
    let readers = content.withLock { content in
      content.hasEnded = true
      defer { content.readers = [:] }
      return content.readers.values
    }
    for reader in readers { reader.finish() }
  }

  /// A stream that begins with the current value.
  package func makeStream() -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(maximumWaiting))
    let number = content.withLock { content -> Int? in
      // It has no consumer yet, so this resumes nothing.
      continuation.yield(content.current)
      if content.hasEnded { return nil }
      content.lastReader += 1
      content.readers[content.lastReader] = continuation
      return content.lastReader
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  private func remove(_ number: Int) { content.withLock { $0.readers[number] = nil } }
}
