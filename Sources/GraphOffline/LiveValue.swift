// Tests: LiveConflictsTests.swift
import Synchronization

/// A value that changes: the present one, and each later one.
///
/// ```swift
/// for await edits in client.conflicts { show(edits) }
/// ```
///
/// The sequence begins with the present value. A slow reader misses values in between, never the newest. It ends when
/// the client is closed.
public struct LiveValue<Value: Sendable & Equatable>: AsyncSequence, Sendable {
  /// The type of the value.
  public typealias Element = Value
  /// A live value has no error.
  public typealias Failure = Never

  let state: LiveState<Value>

  /// The present value.
  public var current: Value { state.current }

  /// An iterator that begins with the present value.
  public func makeAsyncIterator() -> AsyncStream<Value>.Iterator { state.makeStream().makeAsyncIterator() }
}

/// The owner's side of a live value. It is set from one queue at a time; readers are on any thread.
final class LiveState<Value: Sendable & Equatable>: Sendable {
  private struct Content {
    var current: Value
    var hasEnded = false
    var lastReader = 0
    var readers = [Int: AsyncStream<Value>.Continuation]()
  }

  /// Guarded by its mutex, which is released before readers are notified.
  private let content: Mutex<Content>

  init(_ value: Value) { content = Mutex(Content(current: value)) }

  deinit { end() }

  var current: Value { content.withLock { $0.current } }

  /// Replaces the value; readers receive it unless it is the same.
  func set(_ value: Value) {
    let readers = content.withLock { content -> [AsyncStream<Value>.Continuation] in
      if content.current == value || content.hasEnded { return [] }
      content.current = value
      return Array(content.readers.values)
    }
    for reader in readers { reader.yield(value) }
  }

  /// Ends the sequences of all readers. The value stays readable.
  func end() {
    let readers = content.withLock { content in
      content.hasEnded = true
      defer { content.readers = [:] }
      return content.readers.values
    }
    for reader in readers { reader.finish() }
  }

  func makeStream() -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
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
