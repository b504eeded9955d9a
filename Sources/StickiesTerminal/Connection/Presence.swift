import GraphModel

/// What a board shows of itself to the others: where one is, and which note one edits. As JSON with a version, so that
/// programs of other versions can pass over what they don't know.
struct BoardPresence: Hashable {
  /// Of what is said; a higher one is passed over.
  static let version: Int64 = 1

  var board: ObjectID
  /// The cursor, in points of the board; nil when there is none.
  var x: Double?
  var y: Double?
  /// The note that is edited.
  var editing: ObjectID?
  /// Which of the colors for people is one's own; nil for whoever has not chosen one.
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

  /// Nil for what is not understood: another program's, or a later version's.
  /// - Parameters:
  ///   - boards: the number of the entity of boards, `notes` of notes.
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

/// Who else is here.
struct Neighbors {
  struct Neighbor: Hashable {
    var session: UInt64
    var author: String
    var presence: BoardPresence?

    var color: Int { presence?.color ?? OwnColor(of: author).number }
  }

  private(set) var all = [Neighbor]()

  /// What a session showed; nil when it has left. Returns whether it is a new one, which has not seen us.
  mutating func take(_ presence: BoardPresence?, of session: UInt64, _ author: String, hasLeft: Bool) -> Bool {
    if hasLeft {
      all.removeAll { $0.session == session }
      return false
    }
    if let index = all.firstIndex(where: { $0.session == session }) {
      all[index].presence = presence
      return false
    }
    all.append(Neighbor(session: session, author: author, presence: presence))
    return true
  }

  /// The connection is gone, and with it what was known of others.
  mutating func forget() { all = [] }
}

/// Which of the theme's colors for people is one's own. Everybody chooses for themselves and says it with what they show:
/// so it is the same on every screen, and stays for as long as one is here. Of two who have chosen the same, whoever came
/// later gives way, as long as there is a color that nobody has.
struct OwnColor {
  private(set) var number: Int

  /// To begin with it goes by the name, so that most people have the same one every day.
  init(of author: String) {
    number = author.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % Theme.peopleColors
  }

  /// Takes another one when somebody who was here before has it.
  /// - Parameter session: one's own; sessions that began later have higher numbers.
  mutating func giveWay(to neighbors: [Neighbors.Neighbor], session: UInt64) {
    let isTaken = neighbors.contains {
      // Whoever says no color will not give way.
      $0.color == number && ($0.session < session || $0.presence?.color == nil)
    }
    let taken = Set(neighbors.map(\.color))
    let others = (1..<Theme.peopleColors).map { (number + $0) % Theme.peopleColors }
    if isTaken, let free = others.first(where: { !taken.contains($0) }) { number = free }
  }
}
