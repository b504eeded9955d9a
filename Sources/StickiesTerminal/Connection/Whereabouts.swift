import GraphModel
import TerminalCells

/// Where one is on the board, for oneself and for others: at the mouse, or at the note to which keys have led since.
struct Whereabouts: Hashable {
  /// Where the mouse was seen last, in cells of the screen; terminals that don't tell its moves tell its presses.
  private(set) var mouse: Point?
  /// The note that keys have led to; nil while the mouse was used last.
  private(set) var note: ObjectID?
  /// The focus as it was looked at last.
  private var focus: ObjectID?
  /// Whether the mouse was used since: then it has led the focus to where that is.
  private var isMouseNews = false

  /// The mouse was seen at a cell of the canvas.
  mutating func mouse(at point: Point) { (mouse, note, isMouseNews) = (point, nil, true) }

  /// Looks at the focus, once in each turn.
  mutating func look(at focus: ObjectID?) {
    defer { (self.focus, isMouseNews) = (focus, false) }
    if focus != self.focus, !isMouseNews { note = focus }
  }

  /// A temporary id became permanent.
  mutating func identify(_ old: ObjectID, as new: ObjectID) {
    if note == old { note = new }
    if focus == old { focus = new }
  }
}
