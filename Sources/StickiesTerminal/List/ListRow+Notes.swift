import StickiesKit

extension ListRow {
  /// A row for a note, with its first line.
  init(_ note: NoteValues) {
    let title = note.text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    self.init(.note(note.color), title, detail: note.tags.first.map { "#\($0)" } ?? "", marks: note.marks)
  }

  /// The heading of a color's section.
  static func heading(_ color: String, count: Int) -> ListRow { ListRow(.section, headingText(color, count: count)) }

  /// The text of that heading.
  static func headingText(_ color: String, count: Int) -> String { "\(color.capitalizedWord) (\(count))" }
}
