// Tests: WindowTests.swift

/// The rows of a removed order, to be freed on another thread.
///
/// Freeing hundreds of thousands of objects takes a tenth of a second, so the hub passes them to its runner.
public struct DiscardedRows: Sendable {
  private let rows: SortedResult

  init(_ rows: SortedResult) { self.rows = rows }
}
