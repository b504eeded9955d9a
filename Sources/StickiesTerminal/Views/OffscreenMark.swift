import TerminalCells

/// A mark at the edge of a canvas for notes that lie outside in that direction. Every note can thus be found.
struct OffscreenMark: Hashable {
  /// The cells of the mark.
  let frame: Rect
  /// An arrow and the number of notes.
  let text: String
  /// Number and color of the nearest note.
  let id: Int
  let color: PaperColor

  /// Columns at the top or bottom that share a mark.
  private static let slot = 8

  private enum Side: Int { case left, right, up, down }

  private struct Place: Hashable {
    let side: Side
    /// The row, or the slot.
    let along: Int
  }

  /// The marks of all notes that lie completely outside, in a fixed order.
  static func marks(of notes: [NoteState], shift: Point, frame: Rect, symbols: Symbols) -> [OffscreenMark] {
    guard frame.size.width >= slot, frame.size.height >= 3 else { return [] }
    var found = [Place: (count: Int, nearest: Int, distance: Int)]()
    for index in notes.indices {
      let outline = notes[index].outline.moved(x: shift.x, y: shift.y)
      if !outline.intersection(frame).isEmpty || outline.isEmpty { continue }
      let (place, distance) = place(of: outline, frame)
      if let known = found[place] {
        let isNearer = distance < known.distance
        found[place] = (known.count + 1, isNearer ? index : known.nearest, min(distance, known.distance))
      } else {
        found[place] = (1, index, distance)
      }
    }
    let places = found.keys.sorted { ($0.side.rawValue, $0.along) < ($1.side.rawValue, $1.along) }
    return places.compactMap { place in
      guard let (count, nearest, _) = found[place] else { return nil }
      return mark(place, count, notes[nearest], frame, symbols)
    }
  }

  private static func place(of outline: Rect, _ frame: Rect) -> (Place, Int) {
    let across = max(frame.minX - outline.maxX + 1, outline.minX - frame.maxX + 1, 0)
    // Cells are twice as high as wide.
    let down = 2 * max(frame.minY - outline.maxY + 1, outline.minY - frame.maxY + 1, 0)
    let middle = outline.middle
    if across >= down {
      // The corners belong to top and bottom.
      let row = min(max(middle.y, frame.minY + 1), frame.maxY - 2)
      return (Place(side: outline.maxX <= frame.minX ? .left : .right, along: row), across + down)
    }
    let column = min(max(middle.x, frame.minX), frame.maxX - 1) - frame.minX
    return (Place(side: outline.maxY <= frame.minY ? .up : .down, along: column / slot), across + down)
  }

  private static func mark(_ place: Place, _ count: Int, _ note: NoteState, _ frame: Rect, _ symbols: Symbols)
    -> OffscreenMark
  {
    let number = count == 1 ? "" : count > 999 ? "999" : String(count)
    let arrow =
      switch place.side {
      case .left: symbols.arrows.left
      case .right: symbols.arrows.right
      case .up: symbols.arrows.up
      case .down: symbols.arrows.down
      }
    let text = place.side == .right ? "\(number)\(arrow)" : "\(arrow)\(number)"
    let width = 1 + number.count
    let column = min(frame.minX + place.along * slot + slot / 2, frame.maxX - width)
    let origin =
      switch place.side {
      case .left: Point(x: frame.minX, y: place.along)
      case .right: Point(x: frame.maxX - width, y: place.along)
      case .up: Point(x: column, y: frame.minY)
      case .down: Point(x: column, y: frame.maxY - 1)
      }
    return OffscreenMark(
      frame: Rect(origin: origin, size: Size(width: width, height: 1)), text: text, id: note.id, color: note.color)
  }
}
