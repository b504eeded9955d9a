import TerminalCells

/// A drag of a note, with the values at its start. The position is always computed from the start and the total
/// distance, so that rounding errors do not accumulate.
struct NoteGesture: Hashable {
  enum Kind: Hashable {
    case move
    case resize
    /// Selects text in the open editor.
    case select
  }

  var kind: Kind
  /// The cell of the board where the button was pressed, and the scroll position at that time.
  var start: Point
  var scroll: Point
  var x, y, width, height: Double
  var hasMoved = false
}
