import GraphModel

/// What happened to the rows of a window, in places from 0: what a list on a screen has to be told.
public struct WindowDifference: Hashable, Sendable {
  /// A row that stands in another order to its neighbors.
  public struct Move: Hashable, Sendable {
    /// Its place before.
    public var from: Int
    /// Its place now.
    public var to: Int
  }

  /// Places before, ascending: rows that went, or slid out.
  public var removed = [Int]()
  /// Places now, ascending: rows that came, or slid in.
  public var inserted = [Int]()
  /// By their places now: the fewest rows whose moves explain the new order.
  public var moved = [Move]()
  /// Places now, ascending: rows that stayed and have other values.
  public var updated = [Int]()
  /// How many rows there are before limit and offset; nil where there are as many as before.
  public var total: Int?

  /// From one order of rows to another.
  init(from old: [ObjectID], to new: [ObjectID], updated: Set<ObjectID>, total: Int?) {
    self.total = total
    let oldPlaces = Dictionary(zip(old, old.indices)) { first, _ in first }
    let isNew = Set(new)
    removed = old.indices.filter { !isNew.contains(old[$0]) }
    var stays = [(from: Int, to: Int)]()
    for (place, id) in new.enumerated() {
      guard let before = oldPlaces[id] else {
        inserted.append(place)
        continue
      }
      stays.append((before, place))
      if updated.contains(id) { self.updated.append(place) }
    }
    let stands = OrderMoves.longestRise(stays.map(\.from))
    moved = stays.indices.filter { !stands[$0] }.map { Move(from: stays[$0].from, to: stays[$0].to) }
  }
}
