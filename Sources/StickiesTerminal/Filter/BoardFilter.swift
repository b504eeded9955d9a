import GraphModel
import StickiesKit

/// Selects notes by color, by tag, or both. The filter belongs to this client and only hides notes from its screen.
struct BoardFilter: Hashable {
  /// The colors that are shown; empty for all.
  var colors = Set<NoteColor>()
  /// The tags of which a note must have one; empty for no restriction.
  var tags = Set<ByteKey>()

  /// Whether the filter restricts anything.
  var isOn: Bool { !colors.isEmpty || !tags.isEmpty }

  /// The colors in the palette's order, then the tags by name.
  private var parts: [String] {
    NoteColor.allCases.filter(colors.contains).map(\.rawValue) + tags.sorted().map { "#\($0.text)" }
  }

  /// The description in the status line, as in "yellow, #work".
  var words: String { parts.joined(separator: ", ") }

  /// Whether a note passes the filter. Tags that are not loaded do not count.
  func passes(_ note: Note) -> Bool {
    guard colors.isEmpty || colors.contains(note.color) else { return false }
    return tags.isEmpty || note.tags.contains { !$0.isFault && tags.contains($0.name) }
  }

  /// The same condition as a predicate for the server.
  var predicate: GraphPredicate {
    var parts = [GraphPredicate]()
    if !colors.isEmpty {
      let wanted = NoteColor.allCases.filter(colors.contains)
      parts.append(GraphPredicate(Note.self) { $0.color.isIn(wanted) })
    }
    if !tags.isEmpty {
      let wanted = tags.sorted().map(\.text)
      parts.append(GraphPredicate(Note.self) { $0.tags.any.name.isIn(wanted) })
    }
    return .all(parts)
  }

  mutating func toggle(_ color: NoteColor) {
    if colors.remove(color) == nil { colors.insert(color) }
  }

  mutating func toggle(_ tag: String) {
    if tags.remove(tag) == nil { tags.insert(tag) }
  }
}
