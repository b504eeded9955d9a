import TerminalCells

/// What a status line tells. Nothing in it is a guess: each case is known by whoever sets it.
public struct StatusState: Hashable, Sendable {
  /// How one stands to the server.
  public enum Connection: Hashable, Sendable {
    /// Messages come and go.
    case connected
    /// The connection stands, and the server owes an answer for a while.
    case silent
    /// The server is away, and is tried again and again.
    case reconnecting
    /// It is away and nobody tries; why. Nothing can be written any more.
    case disconnected(reason: String)
  }

  /// A filter that is on.
  public struct Filter: Hashable, Sendable {
    /// What it lets pass, in words.
    public var words: String
    /// How many notes it hides.
    public var hidden: Int

    /// A filter that is on.
    public init(_ words: String, hidden: Int) {
      self.words = words
      self.hidden = hidden
    }
  }

  /// How one stands to the server.
  public var connection: Connection
  /// Changes that the server has not confirmed.
  public var unsent: Int
  /// True if one may not write here.
  public var isReadOnly: Bool
  /// The revision that is shown instead of the present.
  public var revision: UInt64?
  /// What of the board is shown, and how many notes are not; nil when all are.
  public var filter: Filter?
  /// What there is to say about what was done last; empty if nothing.
  public var message: String
  /// The board's name.
  public var board: String
  /// The others who are here.
  public var people: [Person]

  /// What is to be told.
  public init(
    connection: Connection, unsent: Int = 0, isReadOnly: Bool = false, revision: UInt64? = nil,
    filter: Filter? = nil, message: String = "", board: String = "", people: [Person] = []
  ) {
    self.connection = connection
    self.unsent = unsent
    self.isReadOnly = isReadOnly
    self.revision = revision
    self.filter = filter
    self.message = message
    self.board = board
    self.people = people
  }
}

/// Draws the status line: on the left how things stand, on the right who is here. What is too long for it is cut from its end; how
/// things stand comes first, so that is the last to go.
public struct StatusLineView: Hashable, Sendable {
  /// A part of it that can be clicked.
  public enum Part: Hashable, Sendable {
    /// What of the board is shown.
    case filter
  }

  /// What is told.
  public let state: StatusState

  /// A line that tells it.
  public init(_ state: StatusState) { self.state = state }

  private enum Kind { case plain, good, waiting, wrong }

  /// Pieces from the left, in words. Where all of them have no room the board's name makes room for what is said, and then
  /// what is not on the server is told more briefly.
  private func pieces(width: Int) -> [(part: Part?, text: String, kind: Kind)] {
    func hasRoom(_ pieces: [(part: Part?, text: String, kind: Kind)]) -> Bool {
      pieces.reduce(1) { $0 + 3 + CellLine($1.text, width: width, cut: "…").width } - 2 <= width
    }
    let all = pieces()
    if state.message.isEmpty || hasRoom(all) { return all }
    let fewer = pieces(withBoard: false)
    return hasRoom(fewer) ? fewer : pieces(withBoard: false, isBrief: true)
  }

  private func pieces(withBoard: Bool = true, isBrief: Bool = false) -> [(part: Part?, text: String, kind: Kind)] {
    // Why a connection is no more may be long: it comes behind what is short, and gives way to what is said.
    let isOver = if case .disconnected = state.connection { true } else { false }
    var found: [(Part?, String, Kind)] = [isOver ? (nil, "read-only", .wrong) : connection]
    if state.unsent > 0 {
      let changes = state.unsent == 1 ? "1 change" : "\(state.unsent) changes"
      found.append((nil, isBrief ? "\(state.unsent) not yet sent" : "\(changes) not yet on the server", .waiting))
    }
    if let revision = state.revision { found.append((nil, "history: revision \(revision)", .waiting)) }
    if isOver, !isBrief { found.append(connection) }
    if state.isReadOnly, !isOver { found.append((nil, "read-only", .waiting)) }
    if withBoard, !state.board.isEmpty { found.append((nil, state.board, .plain)) }
    if let filter = state.filter {
      found.append((.filter, "only \(filter.words): \(filter.hidden) hidden", .waiting))
    }
    if !state.message.isEmpty { found.append((nil, state.message, .plain)) }
    return found
  }

  private var connection: (Part?, String, Kind) {
    switch state.connection {
    case .connected: (nil, "connected", .good)
    case .silent: (nil, "connected, no answer", .waiting)
    case .reconnecting: (nil, "reconnecting", .waiting)
    case .disconnected(let reason): (nil, reason, .wrong)
    }
  }

  private struct Piece {
    let part: Part?
    let x: Int
    let line: CellLine
    let kind: Kind
    var person: Int?
    var isParted = false
  }

  /// Where everything lies in a line of so many columns, from 0.
  private func placed(width: Int, cut: Character) -> [Piece] {
    var placed = [Piece]()
    var x = 1
    for (part, text, kind) in pieces(width: width) {
      guard width - x > 3 || placed.isEmpty else { break }
      let line = CellLine(text, width: width - x - 1, cut: cut)
      placed.append(Piece(part: part, x: x, line: line, kind: kind, isParted: x > 1))
      x += line.width + 3
    }
    // From the right as many people as there is room for, and how many more there are.
    let room = width - x
    var names = [(place: Int, line: CellLine)]()
    var used = 0
    for (place, person) in state.people.enumerated() {
      let line = CellLine(person.name, width: 16, cut: cut)
      let rest = state.people.count - place - 1
      guard used + line.width + 3 + (rest > 0 ? 5 : 0) <= room else { break }
      used += line.width + 3
      names.append((place, line))
    }
    let rest = state.people.count - names.count
    var right = width - 1
    if rest > 0, room >= 6 {
      let line = CellLine(rest > 999 ? "+999" : "+\(rest)", width: 4, cut: cut)
      right -= line.width
      placed.append(Piece(part: nil, x: right, line: line, kind: .plain))
      right -= 1
    }
    for (place, line) in names.reversed() {
      right -= line.width + 2
      placed.append(Piece(part: nil, x: right, line: line, kind: .plain, person: place))
      right -= 1
    }
    return placed
  }

  /// Draws it into the first row of `frame`.
  public func draw(into grid: inout Grid, frame: Rect, clip: Rect, theme: Theme) {
    let row = Rect(x: frame.minX, y: frame.minY, width: frame.size.width, height: min(1, frame.size.height))
    let clip = clip.intersection(row)
    guard !clip.isEmpty else { return }
    grid.hideCursor(in: clip)
    grid.fill(clip, theme.bar)
    for piece in placed(width: row.size.width, cut: theme.symbols.cut) {
      if let person = piece.person {
        let style = theme.person(state.people[person].color)
        grid.draw(" \(piece.line.text) ", x: row.minX + piece.x, y: row.minY, style, clip: clip)
        continue
      }
      if piece.isParted {
        grid.draw(theme.symbols.separator, x: row.minX + piece.x - 2, y: row.minY, theme.hint, clip: clip)
      }
      let style: Style =
        switch piece.kind {
        case .plain: theme.bar
        case .good: theme.good
        case .waiting: theme.waiting
        case .wrong: theme.wrong
        }
      grid.draw(piece.line.text, x: row.minX + piece.x, y: row.minY, style, clip: clip)
    }
  }

  /// What lies at a point; nil where nothing can be clicked.
  public func part(at point: Point, frame: Rect) -> Part? {
    guard frame.contains(point), point.y == frame.minY else { return nil }
    let x = point.x - frame.minX
    // The mark for what is cut has the same width in every theme.
    return placed(width: frame.size.width, cut: ".").first { piece in
      x >= piece.x && x < piece.x + piece.line.width
    }?.part
  }
}
