// Tests: WindowTests.swift

/// The rows of a removed order, to be freed on another thread.
///
/// Freeing hundreds of thousands of objects takes a tenth of a second, so the hub passes them to its runner.
public struct DiscardedRows: Sendable {
  private var rows: SortedResult

  init(_ rows: SortedResult) { self.rows = rows }

  /// Frees about 16,000 rows.
  /// - Returns: false if there are no more.
  public mutating func freeSome() -> Bool {
    for _ in 0..<16 where !rows.freeLastNodes() { return false }
    return true
  }
}
