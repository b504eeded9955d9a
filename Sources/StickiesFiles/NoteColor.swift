/// The colors of a note in files. The readers of files know no graph: a test compares the cases with the model's.
public enum NoteColor: String, CaseIterable, Sendable {
  /// The paper has this color.
  case yellow, blue, green, pink, purple, gray, orange, red, teal, brown, white
}
