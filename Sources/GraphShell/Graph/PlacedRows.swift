import GraphModel

/// The rows of one batch, with the values that a placement appends.
@MainActor
final class PlacedRows {
  /// The properties of each row's values.
  let properties: [Property]
  private let lines: BatchRowReader
  private let placement: (any InsertPlacement)?
  private var ready = [[Value]]()[...]

  /// The number of rows that are placed together.
  private static let rowsAtOnce = 1_000

  init(_ lines: BatchRowReader, _ entity: Entity, _ placement: (any InsertPlacement)?) {
    self.lines = lines
    guard let placement else {
      (properties, self.placement) = (lines.properties, nil)
      return
    }
    let appended = placement.appendedProperties(to: lines.properties, of: entity)
    properties = lines.properties + appended
    self.placement = appended.isEmpty ? nil : placement
  }

  /// The next row; nil at the end.
  func next() async throws -> [Value]? {
    guard let placement else { return try await lines.next() }
    if ready.isEmpty {
      var rows = [[Value]]()
      while rows.count < Self.rowsAtOnce, let row = try await lines.next() { rows.append(row) }
      let count = rows.count
      try await placement.place(rows: &rows, of: lines.properties)
      precondition(
        rows.count == count && rows.allSatisfy { $0.count == properties.count },
        "a placement appends to each row a value of each property that it announced")
      ready = rows[...]
    }
    return ready.popFirst()
  }
}
