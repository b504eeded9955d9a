import GraphModel

/// The rows that were read one after the other. Whoever comes back to them in about the same order finds each without a
/// search: a table by id would cost a large transaction more than it saves.
struct RowTrail {
  private struct Step {
    let id: ObjectID
    let root: EntityNumber
    let row: Int64
  }

  /// Steps that are kept: some megabytes. Rows beyond are searched for.
  static let limit = 100_000
  /// How far ahead an object is looked for: in between lies what was read and is not written.
  static let sight = 8

  private var steps = [Step]()
  private var place = 0

  mutating func append(_ id: ObjectID, row: Int64, in table: EntityTable) {
    if steps.count < Self.limit { steps.append(Step(id: id, root: table.root.number, row: row)) }
  }

  /// The row of an object that stands next, or soon; nil for any other.
  mutating func next(_ id: ObjectID, in table: EntityTable) -> Int64? {
    for index in place..<min(place + Self.sight, steps.count)
    where steps[index].id == id && steps[index].root == table.root.number {
      place = index + 1
      return steps[index].row
    }
    return nil
  }
}
