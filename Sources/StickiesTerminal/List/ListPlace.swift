import GraphModel

/// A row of the list beside the canvas.
enum ListLine: Hashable {
  /// What a section is called.
  case heading(String)
  /// A note.
  case note(ObjectID)

  /// The note; nil for a heading.
  var id: ObjectID? { if case .note(let id) = self { id } else { nil } }
}

/// Where one is in the list beside the canvas: this client's own, kept while the list is closed.
struct ListPlace {
  /// Columns that it begins with, and that it has at least.
  static let width = 30
  static let leastWidth = 16
  /// Columns by which a key makes it wider or narrower.
  static let step = 2
  /// Columns that are left to the canvas; on a screen without room for both there is no list.
  static let leastCanvas = 30

  /// Whether the notes stand in sections, one for each color.
  var isGrouped = false
  /// Columns that it takes, as far as there is room.
  var width = Self.width
  /// The first row that is seen.
  var top = 0
  /// The note that the list was scrolled to last: only another focus scrolls it again.
  var focus: ObjectID?
  /// The mouse drags its edge.
  var isResizing = false
}
