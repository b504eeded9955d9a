import StickiesKit

extension String {
  /// The first line that is not empty; empty if there is none.
  var firstLine: Substring { drop(while: \.isNewline).prefix { !$0.isNewline } }
}

extension ListRow {
  /// A row for a note, with its first line.
  init(_ note: NoteValues) {
    let tag = if let first = note.tags.first { "#\(first)" } else { "" }
    let detail = [note.number, tag].filter { !$0.isEmpty }.joined(separator: " ")
    self.init(.note(note.color), String(note.text.firstLine), detail: detail, marks: note.marks)
  }

  /// The heading of a color's section.
  static func heading(_ color: String, count: Int) -> ListRow { ListRow(.section, headingText(color, count: count)) }

  /// The text of that heading.
  static func headingText(_ color: String, count: Int) -> String { "\(color.capitalizedWord) (\(count))" }
}
