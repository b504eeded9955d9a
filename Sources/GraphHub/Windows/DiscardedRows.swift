/// The rows of an order that is gone. To free hundreds of thousands of objects takes a tenth of a second, so the hub hands them
/// out, and its runner drops them on another thread.
public struct DiscardedRows: Sendable {
  private let rows: OrderedRows

  init(_ rows: OrderedRows) { self.rows = rows }
}
