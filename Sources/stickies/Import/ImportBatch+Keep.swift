import GraphModel
import StickiesFiles
import StickiesKit

extension ImportBatch {
  private static let keepBoard = "Keep"

  /// Adds a note of Keep. Creation time and file name together identify it: several notes can have the same
  /// millisecond, and an edit in Keep changes neither.
  mutating func addKeepNote(_ note: KeepNote, file: String) {
    if note.isTrashed { return skip(file, "the note is in Keep's trash") }
    for remark in note.remarks { skip(file, remark) }
    var values: [String: Value] = [
      NoteProperties.text.name: .string(note.text), NoteProperties.pinned.name: .bool(note.isPinned),
      NoteProperties.color.name: .string(note.color.rawValue),
    ]
    if let created = note.created { values[NoteProperties.created.name] = .date(created) }
    if let updated = note.updated { values[NoteProperties.updated.name] = .date(updated) }
    var origin = KeepOrigins.origin(of: note, file: file)
    // Two folders can have files of the same name; their contents distinguish the notes.
    if let text = keepTexts[origin], !UTF8Comparison.equal(text, note.text) {
      origin += ":" + KeepOrigins.fingerprint(note.text)
    } else {
      keepTexts[origin] = note.text
    }
    addBoard(NamedObject(name: Self.keepBoard))
    notes.append(
      Note(
        origin: origin, board: Self.keepBoard, tags: note.labels + (note.isArchived ? ["archived"] : []),
        values: values, place: file, keep: note))
  }
}
