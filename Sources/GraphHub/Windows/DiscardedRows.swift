import Synchronization

/// The rows of an order that is gone. To free hundreds of thousands of objects takes a tenth of a second, so the thread that runs
/// the hub passes them on.
public final class DiscardedRows: Sendable {
  private let rows: Mutex<OrderedRows?>

  init(_ rows: OrderedRows) { self.rows = Mutex(rows) }

  /// Frees them, on the calling thread, whichever thread holds this last.
  public func free() {
    let rows = rows.withLock { rows in
      defer { rows = nil }
      return rows
    }
    withExtendedLifetime(rows) {}
  }
}
