import GraphModel

/// The presence of a client: board, cursor and edited note. Encoded as JSON with a version, so that programs of other
/// versions can ignore unknown members.
struct BoardPresence: Hashable {
  /// The version of the format; higher ones are ignored.
  static let version: Int64 = 1

  var board: ObjectID
  /// The cursor, in points of the board; nil if there is none.
  var x: Double?
  var y: Double?
  /// The note that is being edited.
  var editing: ObjectID?
  /// The client's color, an index into the theme's colors for people; nil if it has not chosen one.
  var color: Int?

  var bytes: [UInt8] {
    var members: [JSON.Member] = [
      .init("v", .integer(Self.version)), .init("board", .string(board.description)),
    ]
    if let x, let y { members += [.init("x", .double(x)), .init("y", .double(y))] }
    if let editing { members.append(.init("edits", .string(editing.description))) }
    if let color { members.append(.init("color", .integer(Int64(color)))) }
    return Array(JSON.object(members).text.utf8)
  }

  init(board: ObjectID, x: Double? = nil, y: Double? = nil, editing: ObjectID? = nil, color: Int? = nil) {
    (self.board, self.x, self.y, self.editing, self.color) = (board, x, y, editing, color)
  }

  /// Decodes a presence; nil if it is from another program or a later version.
  /// - Parameters:
  ///   - boards: the number of the entity Board.
  ///   - notes: the number of the entity Note.
  init?(_ bytes: [UInt8], boards: EntityNumber, notes: EntityNumber) {
    guard let text = String(validating: bytes, as: UTF8.self), let json = try? JSON(parsing: text),
      json["v"]?.integerValue == Self.version, let name = json["board"]?.stringValue, let key = UniqueID(name)
    else { return nil }
    board = ObjectID(key: key, entity: boards)
    if let x = json["x"].flatMap(Self.number), let y = json["y"].flatMap(Self.number), x.isFinite, y.isFinite {
      (self.x, self.y) = (x, y)
    }
    editing = json["edits"]?.stringValue.flatMap { UniqueID($0) }.map { ObjectID(key: $0, entity: notes) }
    color = json["color"]?.integerValue.flatMap { Int(exactly: $0) }
      .flatMap { (0..<Theme.peopleColors).contains($0) ? $0 : nil }
  }

  private static func number(_ json: JSON) -> Double? {
    switch json {
    case .double(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }
}

/// The other connected sessions.
struct PeerSessions {
  struct Peer: Hashable {
    var session: UInt64
    var author: String
    var presence: BoardPresence?

    var color: Int { presence?.color ?? PresenceColor(of: author).number }
  }

  private(set) var all = [Peer]()

  /// Records the presence of a session, or removes it if it has left.
  /// - Returns: whether the session is new, so that it has not received our presence.
  mutating func receive(_ presence: BoardPresence?, of session: UInt64, _ author: String, hasLeft: Bool) -> Bool {
    if hasLeft {
      all.removeAll { $0.session == session }
      return false
    }
    if let index = all.firstIndex(where: { $0.session == session }) {
      all[index].presence = presence
      return false
    }
    all.append(Peer(session: session, author: author, presence: presence))
    return true
  }

  /// Removes all sessions, when the connection is lost.
  mutating func forget() { all = [] }
}

/// The client's own choice among the theme's colors for people. Each client chooses and sends it with its presence,
/// so that it is the same on every screen and does not change during a session. If two clients have chosen the same
/// color, the later session switches, as long as a color is free.
struct PresenceColor {
  private(set) var number: Int

  /// Derives the initial color from the author, so that most people have the same one every day.
  init(of author: String) {
    number = author.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % Theme.peopleColors
  }

  /// Chooses another color if a session that began earlier has the same one.
  /// - Parameter session: this client's session; later sessions have higher numbers.
  mutating func giveWay(to neighbors: [PeerSessions.Peer], session: UInt64) {
    let isTaken = neighbors.contains {
      // A client that sends no color will not switch.
      $0.color == number && ($0.session < session || $0.presence?.color == nil)
    }
    let taken = Set(neighbors.map(\.color))
    let others = (1..<Theme.peopleColors).map { (number + $0) % Theme.peopleColors }
    if isTaken, let free = others.first(where: { !taken.contains($0) }) { number = free }
  }
}
