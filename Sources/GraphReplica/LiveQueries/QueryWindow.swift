// Tests: WindowTests.swift
import GraphModel
import GraphWire

/// The visible rows of a window.
public struct QueryWindow {
  /// The rows, in order.
  public var objects: [ManagedObject]
  /// The number of rows before them.
  public var offset: Int
  /// The maximum number of rows.
  public var limit: Int
  /// The number of rows of the query before limit and offset, as for a scroll bar.
  public var total: Int

  /// The rows, in order, as objects of their class.
  public func objects<Object: ManagedObject>(as type: Object.Type) -> [Object] { objects.compactMap { $0 as? Object } }
}

/// The rows of a window, as the context holds them.
struct WindowState {
  var rows = [ObjectID]()
  var offset = 0
  var limit = 0
  var total = 0

  /// Applies one commit. Rows that left are removed, then new and moved rows are inserted, by ascending place.
  mutating func apply(_ changes: [Delta.Change], total: UInt64?) -> WindowDifference {
    let old = rows
    let gone = Set(changes.filter { $0.kind == .removed || $0.place != nil }.map(\.id))
    if !gone.isEmpty { rows.removeAll { gone.contains($0) } }
    let placed = changes.compactMap { change in change.place.map { (id: change.id, place: $0) } }
    for (id, place) in placed.sorted(by: { $0.place < $1.place }) {
      rows.insert(id, at: min(Int(clamping: place), rows.count))
    }
    if let total { self.total = Int(clamping: total) }
    let updated = Set(changes.filter { $0.kind == .updated }.map(\.id))
    return WindowDifference(from: old, to: rows, updated: updated, total: total.map { Int(clamping: $0) })
  }
}
