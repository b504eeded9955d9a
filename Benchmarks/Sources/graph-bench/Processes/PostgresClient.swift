import GraphWire

/// A client of PostgreSQL that speaks its protocol with prepared statements and binary values.
///
/// `@unchecked Sendable`: each is used by one thread at a time.
final class PostgresClient: PeerClient, @unchecked Sendable {
  static let role = "bench"

  private let socket: Socket
  /// The high half of the newest note's id; ids of one client ascend with time, like the daemon's.
  private var idHigh = UInt64(now() * 1e9)

  /// The texts and places of this many notes, encoded.
  private var contents: (notes: Int, arrays: [[UInt8]]) = (0, [])

  private static let writing = """
    WITH added AS (
      INSERT INTO note (id, board, text, x, y)
      SELECT id, 1, text, x, y FROM unnest($1::uuid[], $2::text[], $3::float8[], $4::float8[]) AS t (id, text, x, y)
      RETURNING id)
    INSERT INTO change (note, kind) SELECT id, 'inserted' FROM added
    """

  /// - Parameter isPrepared: whether the tables exist and the client shall use them.
  init(_ address: ServerAddress, isPrepared: Bool = true) throws {
    socket = try Socket(address)
    var startup = PostgresMessage()
    startup.add(Int32(196_608))
    for word in ["user", Self.role, "database", "postgres", ""] { startup.add(word) }
    try socket.write(startup.framed)
    try finish()
    guard isPrepared else { return }
    try prepare("write", Self.writing)
    try prepare("read", "SELECT * FROM note WHERE number = $1::int8")
    try prepare("snapshot", "SELECT * FROM note ORDER BY id")
  }

  /// Runs statements without parameters; returns the number of rows.
  @discardableResult
  func run(_ sql: String) throws -> Int {
    var query = PostgresMessage("Q")
    query.add(sql)
    try socket.write(query.framed)
    return try finish()
  }

  private func prepare(_ name: String, _ sql: String) throws {
    var parse = PostgresMessage("P")
    parse.add(name)
    parse.add(sql)
    parse.add(Int16(0))
    try socket.write(parse.framed + Self.sync)
    try finish()
  }

  private static let sync = PostgresMessage("S").framed

  /// Runs a prepared statement in one round trip; returns the number of rows.
  /// - Parameter values: its parameters in their binary form.
  @discardableResult
  private func execute(_ name: String, _ values: [[UInt8]] = []) throws -> Int {
    var bind = PostgresMessage("B")
    // The portal without a name; all values and all results are binary.
    bind.add("")
    bind.add(name)
    for number in [1, 1, Int16(values.count)] { bind.add(number) }
    for value in values { bind.add(sized: value) }
    for number: Int16 in [1, 1] { bind.add(number) }
    var execute = PostgresMessage("E")
    execute.add("")
    // All rows at once.
    execute.add(Int32(0))
    try socket.write(bind.framed + execute.framed + Self.sync)
    return try finish()
  }

  /// Reads up to the message that the server is ready again; returns the number of rows.
  @discardableResult
  private func finish() throws -> Int {
    var rows = 0
    while true {
      let (type, body) = try socket.nextTypedMessage()
      switch type {
      case UInt8(ascii: "Z"): return rows
      case UInt8(ascii: "D"), UInt8(ascii: "d"): rows += 1
      case UInt8(ascii: "E"):
        let text = body.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
        throw BenchmarkError(description: "PostgreSQL says: \(text)")
      default: break
      }
    }
  }

  // MARK: - Notes

  func write(notes: Int) throws {
    if contents.notes != notes {
      let (x, y) = (PostgresMessage.bytes(10.0.bitPattern), PostgresMessage.bytes(20.0.bitPattern))
      contents = (
        notes,
        [
          PostgresMessage.array(of: .text, Array(repeating: Array(Bench.text.utf8), count: notes)),
          PostgresMessage.array(of: .double, Array(repeating: x, count: notes)),
          PostgresMessage.array(of: .double, Array(repeating: y, count: notes)),
        ]
      )
    }
    let ids = (0..<notes).map { _ in nextID() }
    try execute("write", [PostgresMessage.array(of: .uuid, ids)] + contents.arrays)
  }

  private func nextID() -> [UInt8] {
    idHigh += 1
    return PostgresMessage.bytes(idHigh) + PostgresMessage.bytes(UInt64.random(in: .min ... .max))
  }

  func read(note number: Int) throws {
    guard try execute("read", [PostgresMessage.bytes(Int64(number))]) == 1 else {
      throw BenchmarkError(description: "PostgreSQL has no note \(number)")
    }
  }

  /// Reads all notes in the order of their ids; returns their number.
  func readAll() throws -> Int { try execute("snapshot") }

  /// Reads all notes in the order of the table; returns their number.
  func copyAll() throws -> Int {
    // The last of the rows only marks the end.
    try run("COPY note TO STDOUT (FORMAT binary)") - 1
  }
}
