import GraphModel
import StickiesKit

/// Which notes a client looks at: those of some colors, those with one of some tags, or both. It is this client's own and
/// hides notes from the screen; nothing happens to them.
struct BoardFilter: Hashable {
  /// Papers that are shown; all of them when there is none here.
  var colors = Set<StickiesKit.Color>()
  /// Tags of which a note must have one; none is needed when there is none here.
  var tags = Set<ByteKey>()

  /// Whether it hides anything.
  var isOn: Bool { !colors.isEmpty || !tags.isEmpty }

  /// The colors in the palette's order, then the tags by name.
  private var parts: [String] {
    StickiesKit.Color.allCases.filter(colors.contains).map(\.rawValue) + tags.sorted().map { "#\($0.text)" }
  }

  /// For the status line: "yellow, #work".
  var words: String { parts.joined(separator: ", ") }

  /// Whether a note is shown. Tags that are not here yet count as none.
  func passes(_ note: Note) -> Bool {
    guard colors.isEmpty || colors.contains(note.color) else { return false }
    return tags.isEmpty || note.tags.contains { !$0.isFault && tags.contains($0.name) }
  }

  /// The same, for the server.
  var predicate: GraphPredicate {
    var parts = [GraphPredicate]()
    if !colors.isEmpty {
      let wanted = StickiesKit.Color.allCases.filter(colors.contains)
      parts.append(GraphPredicate(Note.self) { $0.color.isIn(wanted) })
    }
    if !tags.isEmpty {
      let wanted = tags.sorted().map(\.text)
      parts.append(GraphPredicate(Note.self) { $0.tags.any.name.isIn(wanted) })
    }
    return .all(parts)
  }

  mutating func toggle(_ color: StickiesKit.Color) {
    if colors.remove(color) == nil { colors.insert(color) }
  }

  mutating func toggle(_ tag: String) {
    if tags.remove(tag) == nil { tags.insert(tag) }
  }
}
