// Tests: SortedResultTests.swift
import GraphModel

/// The array index of each object's row.
///
/// Many small tables instead of a large one: growing a table of half a million objects copies all of it at once,
/// which takes tens of milliseconds.
struct RowIndexTable {
  private static let tableCount = 64

  private var tables = [[ObjectID: Int]](repeating: [:], count: tableCount)
  private(set) var count = 0

  subscript(id: ObjectID) -> Int? {
    get { tables[Self.table(of: id)][id] }
    set {
      let old = tables[Self.table(of: id)].updateOrRemove(newValue, for: id)
      count += (newValue == nil ? 0 : 1) - (old == nil ? 0 : 1)
    }
  }

  private static func table(of id: ObjectID) -> Int { Int(truncatingIfNeeded: id.key.low) & (tableCount - 1) }
}

extension Dictionary {
  /// - Returns: the previous value.
  fileprivate mutating func updateOrRemove(_ value: Value?, for key: Key) -> Value? {
    if let value { updateValue(value, forKey: key) } else { removeValue(forKey: key) }
  }
}
