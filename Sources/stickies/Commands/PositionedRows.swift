import GraphModel
import StickiesKit

/// The rows of one batch; those of notes without a position get one appended.
@MainActor
final class PositionedRows {
  /// The properties of each row's values.
  let properties: [Property]
  private let lines: BatchRowReader
  /// The columns that decide where a note goes.
  private let layoutColumns: [(index: Int, name: String)]
  private let placement: NotePlacer?
  private let shell: CommandContext
  private var ready = [[Value]]()[...]

  /// The number of notes that are laid out together.
  private static let rowsAtOnce = 1_000

  init(_ lines: BatchRowReader, _ entity: Entity, _ policy: MergePolicy, _ shell: CommandContext) {
    self.lines = lines
    layoutColumns = lines.properties.enumerated().compactMap { index, property in
      ["board", "width", "height"].contains(property.name) ? (index, property.name) : nil
    }
    self.shell = shell
    let hasPlace = lines.properties.contains { $0.name == "x" || $0.name == "y" }
    if entity.name == "Note", !hasPlace, let placement = NotePlacer(shell, policy) {
      self.placement = placement
      properties = lines.properties + [shell.property("Note", "x"), shell.property("Note", "y")]
    } else {
      placement = nil
      properties = lines.properties
    }
  }

  /// The next row; nil at the end.
  func next() async throws -> [Value]? {
    guard let placement else { return try await lines.next() }
    if ready.isEmpty { try await fill(placement) }
    return ready.popFirst()
  }

  private func fill(_ placement: NotePlacer) async throws {
    var rows = [[Value]]()
    while rows.count < Self.rowsAtOnce, let row = try await lines.next() { rows.append(row) }
    var indexes = [ObjectID?: [Int]]()
    for (index, row) in rows.enumerated() {
      let board: ObjectID? = if case .object(let id)? = values(of: row)["board"] { id } else { nil }
      indexes[board, default: []].append(index)
    }
    for (board, indexes) in indexes {
      let sizes = indexes.map { shell.frame(ofNote: values(of: rows[$0])) }
      let frames = try await placement.frames(for: sizes, on: board)
      for (index, frame) in zip(indexes, frames) { rows[index] += [.double(frame.x), .double(frame.y)] }
    }
    ready = rows[...]
  }

  private func values(of row: [Value]) -> [String: Value] {
    Dictionary(uniqueKeysWithValues: layoutColumns.map { ($0.name, row[$0.index]) })
  }
}
