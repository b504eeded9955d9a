import CSQLite
import Foundation
import GraphModel

/// The limit of writing: inserts the same rows as a commit of the daemon, into a store that the daemon created,
/// through the C functions only: no rules, no protocol, no socket.
///
/// One commit of the daemon is the template. All columns of its history row and of a note's row are copied, so every
/// blob and number has the size that the daemon gives it. Values that differ between commits (ids, revisions,
/// checksums, numbers, dates) are replaced by new ones of the same size. The note's words go to the full-text table.
/// The daemon's commit writes nothing else: names of authors and replicas are stored once, and the counters are in
/// the history row.
final class RawSQLite {
  private let database: RawDatabase
  private let note: Statement
  private let words: Statement
  private let history: Statement
  private let begin: Statement
  private let commit: Statement
  /// The id of the note that is being inserted; bound once.
  private let id = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 8)
  private let columns: (note: [String: Int32], history: [String: Int32])
  private let notesEach: Int
  /// The bytes of all values that the template's commit wrote to its history row and its notes' rows: what an entry of
  /// a log needs to hold.
  let commitBytes: Int
  private var number: Int64
  private var revision: Int64
  private var time: Int64
  private var idHigh: UInt64 = 0
  private let replica: Int64
  private var sequence: Int64

  /// - Parameter path: a store of the daemon whose newest commit inserted as many notes as each commit shall insert.
  init(_ path: String) throws {
    database = try RawDatabase(path)
    revision = try database.integer("SELECT max(revision) FROM _commit")
    number = try database.integer("SELECT max(number) FROM Note")
    notesEach = Int(try database.integer("SELECT count(*) FROM Note WHERE _revision = \(revision)"))
    guard notesEach > 0 else { throw BenchmarkError(description: "the pattern's newest commit inserted no note") }
    time = try database.integer("SELECT max(time) FROM _commit")
    replica = try database.integer("SELECT replica FROM _commit ORDER BY revision DESC LIMIT 1")
    sequence = try database.integer("SELECT sequence FROM _commit ORDER BY revision DESC LIMIT 1")

    commitBytes =
      try database.valueBytes("SELECT * FROM _commit WHERE revision = \(revision)")
      + database.valueBytes("SELECT * FROM Note WHERE _revision = \(revision)")

    let (note, noteColumns) = try Self.copy(
      database, "Note", from: "SELECT * FROM Note ORDER BY _row DESC LIMIT 1", except: ["_row"])
    let (history, historyColumns) = try Self.copy(
      database, "_commit", from: "SELECT * FROM _commit ORDER BY revision DESC LIMIT 1", except: [])
    self.note = note
    self.history = history
    columns = (noteColumns, historyColumns)
    words = try Statement(database, "INSERT INTO \"Note.text.words\" (rowid, words) VALUES (?, ?)")
    words.bind(2, text: Bench.text.words.joined(separator: " "))
    begin = try Statement(database, "BEGIN IMMEDIATE")
    commit = try Statement(database, "COMMIT")
    if let place = noteColumns["_id"] { note.bind(place, staying: UnsafeRawBufferPointer(id)) }
  }

  /// Returns an insert of the row that a query returns, with all values bound, and the position of each column's
  /// value.
  private static func copy(
    _ database: RawDatabase, _ table: String, from query: String, except: Set<String>
  ) throws -> (Statement, [String: Int32]) {
    let pattern = try Statement(database, query)
    guard try pattern.step() else { throw BenchmarkError(description: "the pattern has no row of \(table)") }
    let all = pattern.columnNames
    let names = all.filter { !except.contains($0) }
    let insert = try Statement(
      database,
      "INSERT INTO \"\(table)\" (\(names.map { "\"\($0)\"" }.joined(separator: ", "))) "
        + "VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))")
    var places = [String: Int32]()
    for (column, name) in all.enumerated() where !except.contains(name) {
      let place = Int32(places.count + 1)
      places[name] = place
      insert.bind(place, column: Int32(column), of: pattern)
    }
    return (insert, places)
  }

  private func set(_ column: String, of statement: Statement, _ places: [String: Int32], _ value: Int64) {
    if let place = places[column] { statement.bind(place, value) }
  }

  private func insertNote() throws {
    number += 1
    // Like the daemon's ids: the high half increases with time, the low half is random.
    idHigh = max(idHigh + 1, UInt64(time) << 8)
    id.storeBytes(of: idHigh.bigEndian, as: UInt64.self)
    id.storeBytes(of: UInt64.random(in: .min ... .max), toByteOffset: 8, as: UInt64.self)
    set("_revision", of: note, columns.note, revision)
    set("_sum", of: note, columns.note, .random(in: .min ... .max))
    set("number", of: note, columns.note, number)
    set("created", of: note, columns.note, time)
    set("updated", of: note, columns.note, time)
    try note.run()
    words.bind(1, sqlite3_last_insert_rowid(database.handle))
    try words.run()
  }

  private func writeCommit(of client: Int) throws {
    revision += 1
    time += 200
    for _ in 0..<notesEach { try insertNote() }
    set("revision", of: history, columns.history, revision)
    set("time", of: history, columns.history, time)
    // Each client has its own replica and sequence.
    set("replica", of: history, columns.history, replica + Int64(client))
    set("sequence", of: history, columns.history, sequence)
    set("fingerprint", of: history, columns.history, .random(in: .min ... .max))
    try history.run()
  }

  /// Runs one SQLite transaction: a commit for each client.
  func transaction(clients: Int) throws {
    try begin.run()
    sequence += 1
    for client in 0..<clients {
      try writeCommit(of: client)
    }
    try commit.run()
  }

  deinit { id.deallocate() }
}

extension RawSQLite {
  /// Returns the limit on a new store with one board and the template's commit.
  static func fresh(notesEach: Int, in bench: Bench) throws -> RawSQLite {
    let data = bench.place("raw")
    let daemon = try Daemon(bench, data: data)
    let client = try WireClient(daemon.unix)
    let board = try client.insertBoard()
    try client.commit(try client.newNotes(notesEach, on: board))
    daemon.stop()
    return try RawSQLite(data + "/graph.sqlite")
  }
}
