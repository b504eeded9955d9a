import GraphModel

/// The answer to moving a window: its new number, and the rows of its new place.
public struct WindowMoved: Hashable, Sendable {
  /// The server's number for the window from here on; its previous number is no longer valid.
  public var query: UInt64
  /// The ids of the rows, in order.
  public var rows: [ObjectID]
  /// The objects of those rows that were not visible at the previous place.
  public var objects: [ObjectImage]
  /// The number of rows of the query before limit and offset.
  public var total: UInt64
  /// The state of all rows: the revision up to which everything has been sent on this connection.
  public var at: Token

  /// A window at its new place.
  public init(query: UInt64, rows: [ObjectID], objects: [ObjectImage], total: UInt64, at: Token) {
    self.query = query
    self.rows = rows
    self.objects = objects
    self.total = total
    self.at = at
  }
}
