extension FolderChanges {
  /// Returns the changes with a position for each new note whose file contains none.
  /// - Parameter notes: the notes on the board.
  public func placed(beside notes: [NoteSnapshot]) -> FolderChanges {
    func isPlaced(_ file: NewFile) -> Bool { file.note.values[.x] != nil || file.note.values[.y] != nil }
    var changes = self
    let homeless = new.indices.filter { !isPlaced(new[$0]) }
    let occupied = notes.map { NoteLayout.Frame($0.values) } + new.filter(isPlaced).map { .init($0.note.values) }
    let frames = NoteLayout.frames(for: homeless.map { .init(new[$0].note.values) }, beside: occupied)
    for (index, frame) in zip(homeless, frames) {
      changes.new[index].note.values[.x] = .number(frame.x)
      changes.new[index].note.values[.y] = .number(frame.y)
    }
    return changes
  }
}

extension NoteLayout.Frame {
  /// Creates the frame of a note with these values, using the model's defaults for missing ones.
  init(_ values: [NoteField: NoteValue]) {
    func number(_ field: NoteField, _ standard: Double) -> Double {
      if case .number(let number)? = values[field] { number } else { standard }
    }
    self.init(x: number(.x, 0), y: number(.y, 0), width: number(.width, 200), height: number(.height, 200))
  }
}
