import GraphClient
import GraphModel
import GraphShell
import StickiesFiles
import StickiesKit

/// Positions inserted notes without a position beside the notes of their board.
@MainActor
final class NotePlacer: InsertPlacement {
  private let layout: BoardLayoutReader
  /// The notes of each board that was read; notes without a board have the key nil.
  private var occupied = [ObjectID?: [NoteLayout.Frame]]()

  /// Nil if the daemon serves another model, or if the policy would let an insert move an existing note.
  init?(_ client: GraphClient, _ policy: MergePolicy) {
    guard client.context.model.hash == StickiesModel.model.hash, policy == .error || policy == .storeTrump else {
      return nil
    }
    layout = BoardLayoutReader(client: client)
  }

  /// Adds a position to each insert of a note that sets neither `x` nor `y`.
  ///
  /// A board is read only when one of its notes needs a position: a large board takes seconds.
  func place(_ changes: inout [Change]) async throws {
    // Temporary ids are only valid within one commit.
    occupied = occupied.filter { $0.key?.isTemporary != true }
    let note = NoteProperties.entity
    let (x, y) = (NoteProperties.x.number, NoteProperties.y.number)
    var positioned = [ObjectID?: [NoteLayout.Frame]]()
    var homeless = [ObjectID?: [(index: Int, size: NoteLayout.Frame)]]()
    for (index, change) in changes.enumerated() where change.kind == .insert && change.id.entity == note.number {
      let values = values(of: change, note)
      let board: ObjectID? = if case .object(let id)? = values[NoteProperties.board.name] { id } else { nil }
      if change.edits.contains(where: { $0.property == x || $0.property == y }) {
        positioned[board, default: []].append(BoardLayoutReader.frame(ofNote: values))
      } else {
        homeless[board, default: []].append((index, BoardLayoutReader.frame(ofNote: values)))
      }
    }
    for board in homeless.keys { try await load(board) }
    // A board that has not been read needs no update: these notes are committed before it is.
    for (board, frames) in positioned where occupied[board] != nil { occupied[board, default: []] += frames }
    for (board, notes) in homeless {
      for (note, frame) in zip(notes, try await frames(for: notes.map(\.size), on: board)) {
        changes[note.index].edits.append(Edit(x, .set(.double(frame.x))))
        changes[note.index].edits.append(Edit(y, .set(.double(frame.y))))
      }
    }
  }

  /// Frames for notes of these sizes; they count as occupied afterwards.
  func frames(for sizes: [NoteLayout.Frame], on board: ObjectID?) async throws -> [NoteLayout.Frame] {
    try await load(board)
    let frames = NoteLayout.frames(for: sizes, beside: occupied[board, default: []])
    occupied[board, default: []] += frames
    return frames
  }

  private func load(_ board: ObjectID?) async throws {
    guard occupied[board] == nil else { return }
    if let board, !board.isTemporary {
      occupied[board] = try await layout.frames(on: board)
    } else {
      occupied[board] = []
    }
  }

  private func values(of insert: Change, _ note: Entity) -> [String: Value] {
    var values = [String: Value]()
    for edit in insert.edits {
      guard case .set(let value) = edit.action, let property = note.property(edit.property) else { continue }
      values[property.name] = value
    }
    return values
  }

  // MARK: - Rows

  func appendedProperties(to properties: [Property], of entity: Entity) -> [Property] {
    let positions = [NoteProperties.x, NoteProperties.y]
    let isPlaced = properties.contains { property in positions.contains { $0.number == property.number } }
    return entity.number == NoteProperties.entity.number && !isPlaced ? positions : []
  }

  func place(rows: inout [[Value]], of properties: [Property]) async throws {
    // The columns that determine the position of a note.
    let columns = properties.enumerated().filter { column in
      [NoteProperties.board, NoteProperties.width, NoteProperties.height].contains {
        $0.number == column.element.number
      }
    }
    func values(of row: [Value]) -> [String: Value] {
      Dictionary(uniqueKeysWithValues: columns.map { ($0.element.name, row[$0.offset]) })
    }
    var indexes = [ObjectID?: [Int]]()
    for (index, row) in rows.enumerated() {
      let board: ObjectID? = if case .object(let id)? = values(of: row)[NoteProperties.board.name] { id } else { nil }
      indexes[board, default: []].append(index)
    }
    for (board, indexes) in indexes {
      let sizes = indexes.map { BoardLayoutReader.frame(ofNote: values(of: rows[$0])) }
      let frames = try await frames(for: sizes, on: board)
      for (index, frame) in zip(indexes, frames) { rows[index] += [.double(frame.x), .double(frame.y)] }
    }
  }
}

/// Reads the frames of the notes on a board.
@MainActor
struct BoardLayoutReader {
  let client: GraphClient

  /// The frames of a board's notes.
  func frames(on board: ObjectID) async throws -> [NoteLayout.Frame] {
    let isOnBoard = GraphPredicate.equal(NoteProperties.board, .object(board))
    var frames = [NoteLayout.Frame]()
    let properties = [NoteProperties.x, NoteProperties.y, NoteProperties.width, NoteProperties.height]
    let names = properties.map(\.name)
    let rows = client.rows(of: NoteProperties.entity, names.joined(separator: ","), where: isOnBoard)
    // The frame of a damaged note is unknown, and must not prevent inserts on its board.
    rows.omitsDamage = true
    for try await chunk in rows {
      for row in chunk {
        frames.append(Self.frame(ofNote: Dictionary(uniqueKeysWithValues: names.map { ($0, row[$0] ?? .null) })))
      }
    }
    return frames
  }

  /// The frame of an insert with these values.
  static func frame(ofNote values: [String: Value]) -> NoteLayout.Frame {
    func number(_ property: Property) -> Double {
      for value in [values[property.name], property.attribute?.defaultValue] {
        if case .double(let number)? = value { return number }
      }
      preconditionFailure("the built-in model has no default for a note's \(property.name)")
    }
    return .init(
      x: number(NoteProperties.x), y: number(NoteProperties.y), width: number(NoteProperties.width),
      height: number(NoteProperties.height))
  }
}
