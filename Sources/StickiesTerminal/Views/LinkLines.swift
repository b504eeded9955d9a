import TerminalCells

/// The display state of a link.
public struct NoteLinkState: Hashable, Sendable {
  /// The number of the link on this screen.
  public var id: Int
  /// The outline of the source note, in cells of the board.
  public var from: Rect
  /// The outline of the destination note.
  public var to: Rect
  /// The label of the arrow.
  public var label: String

  /// Creates a link state.
  public init(id: Int, from: Rect, to: Rect, label: String = "") {
    self.id = id
    self.from = from
    self.to = to
    self.label = label
  }

  /// The route of the line.
  var route: LinkRoute { LinkRoute(from: from.clamped, to: to.clamped) }
}

/// A line from the middle of a note along its row, then along the column of the other note's middle.
struct LinkRoute {
  enum Head: Hashable { case left, right, up, down }

  /// Start, corner and end of the line.
  let start: Point
  let turn: Point
  let end: Point
  /// The cell before the destination note and the direction of the arrow; nil if the notes touch.
  let head: (place: Point, direction: Head)?

  init(from: Rect, to: Rect) {
    start = from.middle
    end = to.middle
    turn = Point(x: end.x, y: start.y)
    let place: Point
    let direction: Head
    if start.y >= to.minY, start.y < to.maxY {
      direction = start.x < end.x ? .right : .left
      place = Point(x: start.x < end.x ? to.minX - 1 : to.maxX, y: start.y)
    } else {
      direction = start.y < end.y ? .down : .up
      place = Point(x: end.x, y: start.y < end.y ? to.minY - 1 : to.maxY)
    }
    head = from.contains(place) || from == to ? nil : (place, direction)
  }

  /// Whether a cell belongs to the route.
  func contains(_ point: Point) -> Bool {
    point.y == start.y && point.x >= min(start.x, turn.x) && point.x <= max(start.x, turn.x)
      || point.x == turn.x && point.y >= min(turn.y, end.y) && point.y <= max(turn.y, end.y)
  }
}

/// Draws links where no note covers them, and joins lines that meet.
struct LinkLines {
  private let clip: Rect
  private let covered: CoverageMask
  private let links: [(link: NoteLinkState, route: LinkRoute)]
  private let shift: Point
  private var joints: [UInt8]

  init(_ links: [NoteLinkState], shift: Point, clip: Rect, covered: CoverageMask) {
    self.clip = clip
    self.covered = covered
    self.shift = shift
    joints = Array(repeating: 0, count: clip.size.width * clip.size.height)
    self.links = links.map { link in
      let from = link.from.clamped.moved(x: shift.x, y: shift.y)
      return (link, LinkRoute(from: from, to: link.to.clamped.moved(x: shift.x, y: shift.y)))
    }
    for (_, route) in self.links {
      addRow(route.start.y, route.start.x, route.turn.x)
      addColumn(route.turn.x, route.turn.y, route.end.y)
    }
  }

  private mutating func addRow(_ y: Int, _ one: Int, _ other: Int) {
    guard y >= clip.minY, y < clip.maxY, one != other else { return }
    let (low, high) = (min(one, other), max(one, other))
    let row = (y - clip.minY) * clip.size.width - clip.minX
    for x in max(low, clip.minX)..<max(low, clip.minX, min(high + 1, clip.maxX)) {
      joints[row + x] |= (x > low ? 4 : 0) | (x < high ? 8 : 0)
    }
  }

  private mutating func addColumn(_ x: Int, _ one: Int, _ other: Int) {
    guard x >= clip.minX, x < clip.maxX, one != other else { return }
    let (low, high) = (min(one, other), max(one, other))
    for y in max(low, clip.minY)..<max(low, clip.minY, min(high + 1, clip.maxY)) {
      joints[(y - clip.minY) * clip.size.width + x - clip.minX] |= (y > low ? 1 : 0) | (y < high ? 2 : 0)
    }
  }

  func draw(into grid: inout Grid, _ style: Style, _ symbols: Symbols) {
    let pieces = symbols.joints.map { String($0) }
    for y in clip.minY..<clip.maxY {
      for x in clip.minX..<clip.maxX {
        let joint = joints[(y - clip.minY) * clip.size.width + x - clip.minX]
        guard joint != 0, !covered.contains(Point(x: x, y: y)) else { continue }
        grid.draw(pieces[Int(joint)], x: x, y: y, style, clip: clip)
      }
    }
    for (_, route) in links {
      if let head = route.head, clip.contains(head.place) {
        let arrow =
          switch head.direction {
          case .left: symbols.arrows.left
          case .right: symbols.arrows.right
          case .up: symbols.arrows.up
          case .down: symbols.arrows.down
          }
        grid.draw(String(arrow), x: head.place.x, y: head.place.y, style, clip: clip)
      }
    }
    var taken = [Rect]()
    for (link, route) in links where !link.label.isEmpty {
      let places = [rowLabel(link, route, symbols), columnLabel(link, route, symbols)].compactMap(\.self)
      guard
        let (place, text) = places.first(where: { place in
          !place.frame.intersection(clip).isEmpty
            && taken.allSatisfy { $0.intersection(place.frame).isEmpty }
        })
      else { continue }
      taken.append(place)
      grid.draw(text, x: place.minX, y: place.minY, style, clip: clip)
    }
  }

  private typealias Label = (frame: Rect, text: String)

  /// The notes of a link, on the screen.
  private func ends(_ link: NoteLinkState) -> (from: Rect, to: Rect) {
    (
      link.from.clamped.moved(x: shift.x, y: shift.y), link.to.clamped.moved(x: shift.x, y: shift.y)
    )
  }

  /// The label on the horizontal part of the line, between the notes.
  private func rowLabel(_ link: NoteLinkState, _ route: LinkRoute, _ symbols: Symbols) -> Label? {
    let (from, to) = ends(link)
    let goesRight = route.start.x < route.turn.x
    var low = goesRight ? from.maxX : route.turn.x
    var high = goesRight ? route.turn.x : from.minX
    if route.start.y >= to.minY, route.start.y < to.maxY {
      if goesRight { high = to.minX - 1 } else { low = to.maxX + 1 }
    }
    guard high - low >= 6 else { return nil }
    let line = TruncatedLine(link.label, width: high - low - 4, cut: symbols.cut)
    let x = low + (high - low - line.width) / 2 - 1
    return (Rect(x: x, y: route.start.y, width: line.width + 2, height: 1), " \(line.text) ")
  }

  /// The label across the vertical part of the line, between the notes.
  private func columnLabel(_ link: NoteLinkState, _ route: LinkRoute, _ symbols: Symbols) -> Label? {
    let (from, to) = ends(link)
    let goesDown = route.end.y > route.turn.y
    let low = goesDown ? max(from.maxY, route.turn.y + 1) : to.maxY + 1
    let high = goesDown ? to.minY - 1 : min(from.minY, route.turn.y)
    guard high > low else { return nil }
    let line = TruncatedLine(link.label, width: 24, cut: symbols.cut)
    let frame = Rect(x: route.turn.x - line.width / 2 - 1, y: (low + high) / 2, width: line.width + 2, height: 1)
    return (frame, " \(line.text) ")
  }
}
