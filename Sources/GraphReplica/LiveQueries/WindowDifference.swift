// Tests: WindowTests.swift
import GraphModel

/// The changes to the rows of a window, as indices from 0 for a list view.
public struct WindowDifference: Hashable, Sendable {
  /// A row whose order among the remaining rows changed.
  public struct Move: Hashable, Sendable {
    /// The index before the change.
    public var from: Int
    /// The index after the change.
    public var to: Int
  }

  /// Indices before the change, ascending: rows that left the query or the window.
  public var removed = [Int]()
  /// Indices after the change, ascending: rows that joined the query or the window.
  public var inserted = [Int]()
  /// By index after the change: the fewest rows whose moves explain the new order.
  public var moved = [Move]()
  /// Indices after the change, ascending: rows that stayed and have other values.
  public var updated = [Int]()
  /// The number of rows before limit and offset; nil if it did not change.
  public var total: Int?

  /// The difference between two orders of rows.
  init(from old: [ObjectID], to new: [ObjectID], updated: Set<ObjectID>, total: Int?) {
    self.total = total
    let oldPlaces = Dictionary(zip(old, old.indices)) { first, _ in first }
    let isNew = Set(new)
    removed = old.indices.filter { !isNew.contains(old[$0]) }
    var kept = [(from: Int, to: Int)]()
    for (place, id) in new.enumerated() {
      guard let before = oldPlaces[id] else {
        inserted.append(place)
        continue
      }
      kept.append((before, place))
      if updated.contains(id) { self.updated.append(place) }
    }
    let isUnmoved = ListReorderer.longestIncreasingSubsequence(kept.map(\.from))
    assert(isUnmoved.count == kept.count, "each row that stayed moved or did not")
    moved = kept.indices.filter { !isUnmoved[$0] }.map { Move(from: kept[$0].from, to: kept[$0].to) }
  }
}
