import TerminalCells

/// The contents of a status line. Each case is a fact that its owner knows, never a guess.
public struct StatusState: Hashable, Sendable {
  /// The state of the connection.
  public enum Connection: Hashable, Sendable {
    /// Messages are exchanged.
    case connected
    /// Messages are exchanged, and machines on the way can read and change them.
    case unprotected
    /// The connection is open, but the server has not answered for a while.
    case silent
    /// This computer's copy is shown: no server answers.
    case offline(keptBoards: Int?)
    /// This computer's copy is shown, because sync is off.
    case paused
    /// The connection is lost and reconnection attempts continue.
    case reconnecting
    /// The connection is closed for good, for this reason; changes are no longer possible.
    case disconnected(reason: String)
  }

  /// The edits that wait on this computer.
  public struct WaitingEdits: Hashable, Sendable {
    /// The number of edits that were not sent.
    public var unsent: Int
    /// The number of edits that the server has refused.
    public var parked: Int

    /// Creates the numbers.
    public init(unsent: Int = 0, parked: Int = 0) {
      self.unsent = unsent
      self.parked = parked
    }
  }

  /// An active filter.
  public struct Filter: Hashable, Sendable {
    /// The description of the messages that pass.
    public var words: String
    /// The number of hidden notes.
    public var hidden: Int

    /// Creates an active filter.
    public init(_ words: String, hidden: Int) {
      self.words = words
      self.hidden = hidden
    }
  }

  /// The state of the connection.
  public var connection: Connection
  /// The number of changes that the server has not confirmed.
  public var unsent: Int
  /// The edits that wait on this computer.
  public var waiting: WaitingEdits
  /// Whether changes are not allowed.
  public var isReadOnly: Bool
  /// The shown revision; nil for the present.
  public var revision: UInt64?
  /// The active filter; nil if all notes are shown.
  public var filter: Filter?
  /// The message about the last action; empty for none.
  public var message: String
  /// The board's name.
  public var board: String
  /// The other connected users.
  public var people: [DisplayedUser]

  /// Creates the contents of a status line.
  public init(
    connection: Connection, unsent: Int = 0, waiting: WaitingEdits = WaitingEdits(), isReadOnly: Bool = false,
    revision: UInt64? = nil,
    filter: Filter? = nil, message: String = "", board: String = "", people: [DisplayedUser] = []
  ) {
    self.connection = connection
    self.unsent = unsent
    self.waiting = waiting
    self.isReadOnly = isReadOnly
    self.revision = revision
    self.filter = filter
    self.message = message
    self.board = board
    self.people = people
  }
}

/// Draws the status line: states on the left, connected users on the right. If it is too long, it is truncated at the
/// end; the most important states come first.
public struct StatusLineView: Hashable, Sendable {
  /// A part that can be clicked.
  public enum Part: Hashable, Sendable {
    /// The description of the filter.
    case filter
    /// The number of edits in conflict.
    case conflicts
  }

  /// The contents.
  public let state: StatusState

  /// Creates a status line.
  public init(_ state: StatusState) { self.state = state }

  private enum Kind { case plain, good, waiting, wrong }

  /// The pieces from the left. If they do not all fit, the board's name is dropped in favor of the message, then the
  /// number of unsent changes is shortened.
  private func pieces(width: Int) -> [(part: Part?, text: String, kind: Kind)] {
    func hasRoom(_ pieces: [(part: Part?, text: String, kind: Kind)]) -> Bool {
      pieces.reduce(1) { $0 + 3 + TruncatedLine($1.text, width: width, cut: "…").width } - 2 <= width
    }
    let all = pieces()
    if state.message.isEmpty || hasRoom(all) { return all }
    let fewer = pieces(withBoard: false)
    return hasRoom(fewer) ? fewer : pieces(withBoard: false, isBrief: true)
  }

  private func pieces(withBoard: Bool = true, isBrief: Bool = false) -> [(part: Part?, text: String, kind: Kind)] {
    // The reason for a closed connection may be long: it comes after short pieces and is dropped in favor of the
    // message.
    let isOver = if case .disconnected = state.connection { true } else { false }
    var found: [(Part?, String, Kind)] = [isOver ? (nil, "read-only", .wrong) : connection]
    if state.unsent > 0 {
      let changes = state.unsent == 1 ? "1 change" : "\(state.unsent) changes"
      found.append((nil, isBrief ? "\(state.unsent) not yet sent" : "\(changes) not yet \(destination)", .waiting))
    }
    if state.waiting.unsent > 0 {
      let edits = state.waiting.unsent == 1 ? "1 edit" : "\(state.waiting.unsent) edits"
      found.append((nil, isBrief ? "\(state.waiting.unsent) unsent" : "\(edits) not sent", .waiting))
    }
    if state.waiting.parked > 0 { found.append((.conflicts, "\(state.waiting.parked) in conflict", .wrong)) }
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

  /// Where changes go that are not saved.
  private var destination: String {
    switch state.connection {
    case .offline, .paused: "in this computer's copy"
    case .connected, .unprotected, .silent, .reconnecting, .disconnected: "on the server"
    }
  }

  private var connection: (Part?, String, Kind) {
    switch state.connection {
    case .connected: (nil, "connected", .good)
    case .unprotected: (nil, "connected, not encrypted", .waiting)
    case .silent: (nil, "connected, no answer", .waiting)
    case .offline(nil): (nil, "offline", .waiting)
    case .offline(let boards?): (nil, "offline, \(boards == 1 ? "1 board" : "\(boards) boards") kept", .waiting)
    case .paused: (nil, "sync is off", .waiting)
    case .reconnecting: (nil, "reconnecting", .waiting)
    case .disconnected(let reason): (nil, reason, .wrong)
    }
  }

  private struct Segment {
    let part: Part?
    let x: Int
    let line: TruncatedLine
    let kind: Kind
    var person: Int?
    var isParted = false
  }

  /// The pieces with their columns in a line of a width, from 0.
  private func placed(width: Int, cut: Character) -> [Segment] {
    var placed = [Segment]()
    var x = 1
    for (part, text, kind) in pieces(width: width) {
      guard width - x > 3 || placed.isEmpty else { break }
      let line = TruncatedLine(text, width: width - x - 1, cut: cut)
      placed.append(Segment(part: part, x: x, line: line, kind: kind, isParted: x > 1))
      x += line.width + 3
    }
    // From the right as many names as fit, and the number of the others.
    let room = width - x
    var names = [(place: Int, line: TruncatedLine)]()
    var used = 0
    for (place, person) in state.people.enumerated() {
      let line = TruncatedLine(person.name, width: 16, cut: cut)
      let rest = state.people.count - place - 1
      guard used + line.width + 3 + (rest > 0 ? 5 : 0) <= room else { break }
      used += line.width + 3
      names.append((place, line))
    }
    let rest = state.people.count - names.count
    var right = width - 1
    if rest > 0, room >= 6 {
      let line = TruncatedLine(rest > 999 ? "+999" : "+\(rest)", width: 4, cut: cut)
      right -= line.width
      placed.append(Segment(part: nil, x: right, line: line, kind: .plain))
      right -= 1
    }
    for (place, line) in names.reversed() {
      right -= line.width + 2
      placed.append(Segment(part: nil, x: right, line: line, kind: .plain, person: place))
      right -= 1
    }
    return placed
  }

  /// Draws the line in the first row of `frame`.
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

  /// The part at a point; nil where nothing can be clicked.
  public func part(at point: Point, frame: Rect) -> Part? {
    guard frame.contains(point), point.y == frame.minY else { return nil }
    let x = point.x - frame.minX
    // The truncation mark has the same width in every theme.
    return placed(width: frame.size.width, cut: ".").first { piece in
      x >= piece.x && x < piece.x + piece.line.width
    }?.part
  }
}
