import TerminalCells

/// A drag of a note: what it began with. The note's place is always what it began with and how far the mouse has come over
/// the board, so that nothing is lost by rounding.
struct NoteGesture: Hashable {
  enum Kind: Hashable {
    case move
    case resize
    /// Selects text in the open editor.
    case select
  }

  var kind: Kind
  /// Where the button went down, in cells of the board, and how that was scrolled then.
  var start: Point
  var scroll: Point
  var x, y, width, height: Double
  var hasMoved = false
}
