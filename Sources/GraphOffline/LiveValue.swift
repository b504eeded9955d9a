// Tests: LiveConflictsTests.swift
import GraphClient

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
