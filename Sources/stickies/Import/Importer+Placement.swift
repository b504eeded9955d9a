import GraphModel
import StickiesFiles
import StickiesKit

extension Importer {
  /// The notes, with positions for notes without one in the file. These are beside the notes of their board, both
  /// stored and imported ones.
  func placed(_ notes: [ImportBatch.Note], _ batch: ImportBatch) async throws -> [ImportBatch.Note] {
    // Keyed by the bytes of the boards' names.
    var (homeless, atHome) = ([[UInt8]: [Int]](), [[UInt8]: [NoteLayout.Frame]]())
    for (index, note) in notes.enumerated() {
      if note.values[NoteProperties.x.name] == nil && note.values[NoteProperties.y.name] == nil {
        homeless[Array(note.board.utf8), default: []].append(index)
      } else {
        atHome[Array(note.board.utf8), default: []].append(BoardLayoutReader.frame(ofNote: note.values))
      }
    }
    guard !homeless.isEmpty else { return notes }
    let ids = try await boardIDs(batch)
    var notes = notes
    for (board, indexes) in homeless {
      var occupied = atHome[board, default: []]
      if let id = ids[board] { occupied += try await BoardLayoutReader(client: shell.client).frames(on: id) }
      let frames = NoteLayout.frames(
        for: indexes.map { BoardLayoutReader.frame(ofNote: notes[$0].values) }, beside: occupied)
      for (index, frame) in zip(indexes, frames) {
        notes[index].values[NoteProperties.x.name] = .double(frame.x)
        notes[index].values[NoteProperties.y.name] = .double(frame.y)
      }
    }
    return notes
  }

  /// The stored boards by their names in the batch.
  private func boardIDs(_ batch: ImportBatch) async throws -> [[UInt8]: ObjectID] {
    let there = try await shell.images(of: BoardProperties.entity)
    let name = BoardProperties.name
    var ids = [[UInt8]: ObjectID]()
    for board in there { ids[Array(board.text(of: name).utf8)] = board.id }
    let byID = Dictionary(there.map { ($0.id.description, $0.id) }, uniquingKeysWith: { $1 })
    for board in batch.boards {
      if let id = board.id.flatMap({ byID[$0] }) { ids[Array(board.name.utf8)] = id }
    }
    return ids
  }
}
