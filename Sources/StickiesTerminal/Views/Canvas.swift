import TerminalCells

/// The cursor of somebody else.
public struct PointerState: Hashable, Sendable {
  /// Whose it is.
  public var person: Person
  /// Where it is, in cells of the board.
  public var place: Point

  /// Somebody's cursor.
  public init(_ person: Person, at place: Point) {
    self.person = person
    self.place = place
  }
}

/// A part of a canvas that the mouse can be at.
public enum CanvasPart: Hashable, Sendable {
  /// A part of the highest note there, by the note's number.
  case note(Int, NotePart)
  /// The mark of notes that lie outside, by the number of the nearest one.
  case mark(Int)
  /// A line between two notes, by the link's number.
  case link(Int)
  /// The board, at a cell of the board.
  case board(Point)
}

/// A board's surface as far as it is seen: links, then notes from the lowest to the highest, then marks of those that lie
/// outside, then the cursors of others. Of a note that has the focus and whose title others cover, frame and title are drawn
/// over those.
///
/// What is not seen costs next to nothing: notes outside of the frame, or wholly under others, are left out before
/// their texts are looked at, and of the others no more is drawn than a rectangle around what is seen.
public struct Canvas: Sendable {
  /// The board's color.
  public var color: PaperColor
  /// The cell of the board that lies at the top left.
  public var origin: Point
  /// The notes, in any order. Those that lie outside are marked at the edges.
  public var notes: [NoteState]
  /// Lines between notes.
  public var links: [LinkState]
  /// Where others are.
  public var pointers: [PointerState]

  /// A surface.
  public init(
    color: PaperColor = .gray, origin: Point = Point(x: 0, y: 0), notes: [NoteState] = [], links: [LinkState] = [],
    pointers: [PointerState] = []
  ) {
    self.color = color
    self.origin = origin
    self.notes = notes
    self.links = links
    self.pointers = pointers
  }

  /// How far cells of the board lie from those of the screen.
  func shift(in frame: Rect) -> Point {
    let limit = Rect.farthest
    return Point(
      x: frame.minX - min(max(origin.x, -limit), limit), y: frame.minY - min(max(origin.y, -limit), limit))
  }

  /// Draws it.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme, cache: LayoutCache) {
    let frame = frame.clamped
    let clip = clip.intersection(frame).intersection(grid.bounds)
    guard !clip.isEmpty else { return }
    grid.hideCursor(in: clip)
    grid.fill(clip, theme.board(color))
    let shift = shift(in: frame)
    var covered = Coverage(clip)
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
    for mark in EdgeMark.marks(of: notes, shift: shift, frame: frame, symbols: theme.symbols) {
      grid.hideCursor(in: mark.frame.intersection(clip))
      grid.draw(mark.text, x: mark.frame.minX, y: mark.frame.minY, theme.note(mark.color).title, clip: clip)
    }
    let places = seen.map(\.place)
    for pointer in pointers {
      draw(pointer, into: &grid, shift, clip, theme) { title(at: $0, places, hidden, shift, theme, cache) }
    }
  }

  /// The columns of the title of which a point of the screen shows a cell; nil for any other point.
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

  /// The places of the notes of which a cell is seen, from the highest to the lowest, each with a rectangle that holds what
  /// is seen of it and of its shadow; what they cover is added to `covered`. And the place of the note that has the focus,
  /// when nothing of its title is seen because of others.
  private func seen(
    in clip: Rect, _ shift: Point, _ covered: inout Coverage
  ) -> (notes: [(place: Int, part: Rect)], hidden: Int?) {
    var hidden: Int?
    var found = [(place: Int, z: Double, outline: Rect)]()
    for place in notes.indices {
      let outline = notes[place].outline.moved(x: shift.x, y: shift.y)
      // With its shadow.
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

  /// What lies at a point of the screen, when it is drawn in `frame`; nil beside it.
  public func part(at point: Point, frame: Rect, theme: Theme, cache: LayoutCache) -> CanvasPart? {
    let frame = frame.clamped
    guard frame.contains(point) else { return nil }
    let shift = shift(in: frame)
    let marks = EdgeMark.marks(of: notes, shift: shift, frame: frame, symbols: theme.symbols)
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
