import GraphModel
import TerminalCells

/// The position of the user on the board: the mouse, or the note focused by keys since. Used for new notes and
/// presence.
struct UserPosition: Hashable {
  /// The last known position of the mouse, in cells of the screen. Terminals that do not report moves report presses.
  private(set) var mouse: Point?
  /// The note focused by keys; nil if the mouse was used last.
  private(set) var note: ObjectID?
  /// The focus at the last `look`.
  private var focus: ObjectID?
  /// Whether the mouse was used since; a change of the focus then came from the mouse.
  private var isMouseNews = false

  /// Records the position of the mouse on the canvas.
  mutating func mouse(at point: Point) { (mouse, note, isMouseNews) = (point, nil, true) }

  /// Updates the position from the focus; once per turn.
  mutating func look(at focus: ObjectID?) {
    defer { (self.focus, isMouseNews) = (focus, false) }
    if focus != self.focus, !isMouseNews { note = focus }
  }

  /// Replaces a temporary id by the permanent one.
  mutating func identify(_ old: ObjectID, as new: ObjectID) {
    if note == old { note = new }
    if focus == old { focus = new }
  }
}
