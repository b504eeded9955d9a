import TerminalCells

/// The cursor of another user.
public struct PointerState: Hashable, Sendable {
  /// The user.
  public var person: DisplayedUser
  /// The position, in cells of the board.
  public var place: Point

  /// Creates a cursor.
  public init(_ person: DisplayedUser, at place: Point) {
    self.person = person
    self.place = place
  }
}

/// A part of a canvas under the mouse.
public enum CanvasPart: Hashable, Sendable {
  /// A part of the topmost note there, with the note's number.
  case note(Int, NotePart)
  /// The mark of notes that lie outside, with the number of the nearest one.
  case mark(Int)
  /// A link between two notes, with its number.
  case link(Int)
  /// The board, at a cell of the board.
  case board(Point)
}

/// The visible surface of a board. It draws links, then notes from lowest to highest, then marks of notes that lie
/// outside, then the cursors of other users. If other notes cover the title of the focused note, its frame and title
/// are drawn over them.
///
/// Invisible notes cost almost nothing: notes outside the frame, or completely covered by others, are skipped before
/// their texts are read, and of the others only a rectangle around the visible part is drawn.
public struct Canvas: Sendable {
  /// The board's color.
  public var color: PaperColor
  /// The cell of the board at the top left.
  public var origin: Point
  /// The notes, in any order. Those that lie outside are marked at the edges.
  public var notes: [NoteState]
  /// The links between notes.
  public var links: [NoteLinkState]
  /// The cursors of other users.
  public var pointers: [PointerState]

  /// Creates a canvas.
  public init(
    color: PaperColor = .gray, origin: Point = Point(x: 0, y: 0), notes: [NoteState] = [], links: [NoteLinkState] = [],
    pointers: [PointerState] = []
  ) {
    self.color = color
    self.origin = origin
    self.notes = notes
    self.links = links
    self.pointers = pointers
  }

  /// The offset from cells of the board to cells of the screen.
  func shift(in frame: Rect) -> Point {
    let limit = Rect.farthest
    return Point(
      x: frame.minX - min(max(origin.x, -limit), limit), y: frame.minY - min(max(origin.y, -limit), limit))
  }

  /// Draws the canvas.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme, cache: LayoutCache) {
    let frame = frame.clamped
    let clip = clip.intersection(frame).intersection(grid.bounds)
    guard !clip.isEmpty else { return }
    grid.hideCursor(in: clip)
    grid.fill(clip, theme.board(color))
    let shift = shift(in: frame)
    var covered = CoverageMask(clip)
    let (seen, hidden) = seen(in: clip, shift, &covered)
    if !links.isEmpty {
      LinkLines(links, shift: shift, clip: clip, covered: covered).draw(into: &grid, theme.link(color), theme.symbols)
    }
    for (place, part) in seen.reversed() {
      let outline = notes[place].outline.moved(x: shift.x, y: shift.y)
      NoteView(notes[place]).draw(into: &grid, at: outline.origin, clip: part, theme: theme, cache: cache)
    }
    if let hidden {
      let outline = notes[hidden].outline.moved(x: shift.x, y: shift.y)
      NoteView(notes[hidden]).drawFrame(into: &grid, at: outline.origin, clip: clip, theme: theme, cache: cache)
    }
    for mark in OffscreenMark.marks(of: notes, shift: shift, frame: frame, symbols: theme.symbols) {
      grid.hideCursor(in: mark.frame.intersection(clip))
      grid.draw(mark.text, x: mark.frame.minX, y: mark.frame.minY, theme.note(mark.color).title, clip: clip)
    }
    let places = seen.map(\.place)
    for pointer in pointers {
      draw(pointer, into: &grid, shift, clip, theme) { title(at: $0, places, hidden, shift, theme, cache) }
    }
  }

  /// The columns of the title that is visible at a point of the screen; nil if there is none.
  private func title(
    at point: Point, _ seen: [Int], _ hidden: Int?, _ shift: Point, _ theme: Theme, _ cache: LayoutCache
  ) -> Range<Int>? {
    func row(_ place: Int) -> Rect {
      NoteView(notes[place]).titleText(theme: theme, cache: cache).moved(x: shift.x, y: shift.y)
    }
    if let hidden, row(hidden).contains(point) { return row(hidden).minX..<row(hidden).maxX }
    let top = seen.first { notes[$0].outline.moved(x: shift.x, y: shift.y).contains(point) }
    return top.map(row).flatMap { $0.contains(point) ? $0.minX..<$0.maxX : nil }
  }

  /// Finds the visible notes.
  /// - Parameter covered: receives the cells that the notes cover.
  /// - Returns: the indices of the notes of which a cell is visible, from highest to lowest, each with a rectangle
  ///   that contains the visible part of the note and of its shadow; and the index of the focused note if other notes
  ///   cover its title.
  private func seen(
    in clip: Rect, _ shift: Point, _ covered: inout CoverageMask
  ) -> (notes: [(place: Int, part: Rect)], hidden: Int?) {
    var hidden: Int?
    var found = [(place: Int, z: Double, outline: Rect)]()
    for place in notes.indices {
      let outline = notes[place].outline.moved(x: shift.x, y: shift.y)
      // Includes the shadow.
      let reach = Rect(
        x: outline.minX, y: outline.minY, width: outline.size.width + 2, height: outline.size.height + 1)
      if reach.intersection(clip).isEmpty { continue }
      found.append((place, notes[place].z.isNaN ? 0 : notes[place].z, outline))
    }
    found.sort { $0.z == $1.z ? notes[$0.place].id > notes[$1.place].id : $0.z > $1.z }
    let seen: [(place: Int, part: Rect)] = found.compactMap { place, _, outline in
      let title = Rect(
        origin: outline.origin, size: Size(width: outline.size.width, height: min(1, outline.size.height)))
      if notes[place].isFocused, !title.intersection(clip).isEmpty, covered.free(of: title).isEmpty { hidden = place }
      let right = Rect(x: outline.maxX, y: outline.minY + 1, width: 2, height: outline.size.height)
      let below = Rect(x: outline.minX + 2, y: outline.maxY, width: outline.size.width - 2, height: 1)
      let part = covered.free(of: outline).union(covered.free(of: right)).union(covered.free(of: below))
      covered.add(outline)
      return part.isEmpty ? nil : (place, part)
    }
    return (seen, hidden)
  }

  /// The part at a point of the screen, if the canvas is drawn in `frame`; nil outside.
  public func part(at point: Point, frame: Rect, theme: Theme, cache: LayoutCache) -> CanvasPart? {
    let frame = frame.clamped
    guard frame.contains(point) else { return nil }
    let shift = shift(in: frame)
    let marks = OffscreenMark.marks(of: notes, shift: shift, frame: frame, symbols: theme.symbols)
    if let mark = marks.last(where: { $0.frame.contains(point) }) { return .mark(mark.id) }
    let place = Point(x: point.x - shift.x, y: point.y - shift.y)
    var best: Int?
    for index in notes.indices where notes[index].outline.contains(place) {
      guard let other = best else {
        best = index
        continue
      }
      let (z, otherZ) = (notes[index].z.isNaN ? 0 : notes[index].z, notes[other].z.isNaN ? 0 : notes[other].z)
      if z > otherZ || z == otherZ && notes[index].id > notes[other].id { best = index }
    }
    if let best, let part = NoteView(notes[best]).part(at: place, theme: theme, cache: cache) {
      return .note(notes[best].id, part)
    }
    if let link = links.last(where: { $0.route.contains(place) }) { return .link(link.id) }
    return .board(place)
  }
}
