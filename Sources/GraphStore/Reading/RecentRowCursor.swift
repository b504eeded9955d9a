// Tests: FetchTests.swift, RandomGraphTests.swift
import GraphModel

/// The rows that were read, in order. Accesses in about the same order find each row without a lookup; a dictionary
/// by id would cost a large transaction more than it saves.
struct RecentRowCursor {
  private struct Step {
    let id: ObjectID
    let root: EntityNumber
    let row: Int64
  }

  /// The maximum number of recorded rows, some megabytes; further rows are looked up.
  static let limit = 100_000
  /// The number of steps ahead that are searched; objects in between were read but are not written.
  static let sight = 8

  private var steps = [Step]()
  private var place = 0

  mutating func append(_ id: ObjectID, row: Int64, in table: EntityTable) {
    if steps.count < Self.limit { steps.append(Step(id: id, root: table.root.number, row: row)) }
  }

  /// Returns the row of an object that comes next or soon; nil for any other.
  mutating func next(_ id: ObjectID, in table: EntityTable) -> Int64? {
    for index in place..<min(place + Self.sight, steps.count)
    where steps[index].id == id && steps[index].root == table.root.number {
      place = index + 1
      assert(place <= steps.count)
      return steps[index].row
    }
    return nil
  }
}
