import GraphModel

/// A row of the list beside the canvas.
enum ListLine: Hashable {
  /// The heading of a section.
  case heading(String)
  /// A note.
  case note(ObjectID)

  /// The note; nil for a heading.
  var id: ObjectID? { if case .note(let id) = self { id } else { nil } }
}

/// Scroll position and layout of the list beside the canvas. Local to this client, and kept while the list is closed.
struct ListPaneState {
  /// Initial and minimum width, in columns.
  static let width = 30
  static let leastWidth = 16
  /// Columns by which a key changes the width.
  static let step = 2
  /// Minimum width of the canvas, in columns; on a screen too narrow for both there is no list.
  static let leastCanvas = 30

  /// Whether the list has a section for each color.
  var isGrouped = false
  /// The preferred width, in columns.
  var width = Self.width
  /// The first visible row.
  var top = 0
  /// The note that the list last scrolled to; only a change of the focus scrolls again.
  var focus: ObjectID?
  /// Whether the mouse drags the list's edge.
  var isResizing = false
}
