import CSQLite
import GraphModel
import GraphWire

extension Bench {
  private static let stored = 1_000_000
  private static let found = 20
  private static let fetches = 1_000

  /// Measures a fetch of twenty out of a million objects by an indexed equality: in the store, the same SQL through
  /// the C functions, and the round trip to a daemon on the same store.
  func measureFetch() throws {
    let data = place("people")
    let teams = Self.stored / Self.found
    do {
      let staff = try StaffStore(data)
      try staff.fill(people: Self.stored, teams: teams)
      try staff.close()
    }
    // Far apart, and equal for all.
    let wanted = (0..<Self.fetches).map { Int64($0 * 7_919 % teams) }
    var (ours, limit, kept, trips) = ([Double](), [Double](), [Double](), Builds<Double>())
    for _ in 0..<Self.rounds {
      let staff = try StaffStore(data)
      ours.append(try fetchTime(staff, wanted))
      try staff.close()
      let raw = try RawFetch(data + "/graph.sqlite")
      limit.append(try median(wanted.map { team in try timed { try check(raw.fetch(team: team, keeping: false)) } }))
      kept.append(try median(wanted.map { team in try timed { try check(raw.fetch(team: team, keeping: true)) } }))
      try trips.measure(self) { try $0.fetchRoundTrip(data, wanted) * 1e6 }
    }
    Figure(
      name: "20 of 1,000,000 objects by an indexed equality", unit: "µs", ours: median(ours) * 1e6,
      limit: median(limit) * 1e6, aim: .atMost(1.5)
    ).report()
    Figure(name: "– the limit, its statement made once", unit: "µs", ours: median(kept) * 1e6).report()
    let trip = trips.median
    Figure(name: "– the round trip to a daemon", unit: "µs", ours: trip.ours, baseline: trip.baseline).report()
    remove(data)
  }

  private func check(_ count: Int) throws {
    guard count == Self.found else { throw BenchmarkError(description: "\(count) objects were found") }
  }

  private func fetchTime(_ staff: StaffStore, _ wanted: [Int64]) throws -> Double {
    let (person, team) = (try staff.entity("Person").number, try staff.property("Person", "team"))
    return median(
      try wanted.map { number in
        try timed {
          var count = 0
          _ = try staff.store.fetch(FetchRequest(entity: person, predicate: .equal(team, .integer(number)))) { _ in
            count += 1
          }
          try check(count)
        }
      })
  }

  private func fetchRoundTrip(_ data: String, _ wanted: [Int64]) throws -> Double {
    let daemon = try Daemon(self, data: data, schema: try Staff.folder(in: self))
    defer { daemon.stop() }
    let client = try WireClient(daemon.unix)
    return median(
      try wanted.map { number in
        try timed {
          try client.send(.fetch(Fetch(entity: client.number(of: "Person"), predicate: "team == \(number)")))
          try client.skip(to: .chunk)
        }
      })
  }
}

/// The limit of a fetch: the store's columns and row order, in its own read transaction.
private struct RawFetch {
  private let database: RawDatabase
  private let sql: String
  private let statement: Statement
  private let begin: Statement
  private let end: Statement

  init(_ path: String) throws {
    database = try RawDatabase(path)
    let names = try Statement(database, "SELECT * FROM Person LIMIT 1").columnNames.filter { $0 != "_sum" }
    sql =
      "SELECT \(names.map { "t.\"\($0)\"" }.joined(separator: ", ")) FROM Person AS t WHERE t.team = ? ORDER BY t._id"
    statement = try Statement(database, sql)
    begin = try Statement(database, "BEGIN")
    end = try Statement(database, "COMMIT")
  }

  /// - Parameter keeping: whether to reuse a prepared statement; otherwise it is prepared from its text, as by a
  ///   server that receives a predicate.
  /// - Returns: the number of rows.
  func fetch(team: Int64, keeping: Bool) throws -> Int {
    try begin.run()
    let rows = keeping ? statement : try Statement(database, sql)
    rows.bind(1, team)
    var (count, size) = (0, 0)
    while try rows.step() {
      count += 1
      for column in 0..<sqlite3_column_count(rows.pointer) { size += read(rows, column) }
    }
    sqlite3_reset(rows.pointer)
    try end.run()
    return size > 0 ? count : 0
  }

  /// Copies a column's value, as every reader must.
  private func read(_ rows: Statement, _ column: Int32) -> Int {
    switch sqlite3_column_type(rows.pointer, column) {
    case SQLITE_INTEGER: rows.integer(column) == 0 ? 0 : 1
    case SQLITE_FLOAT: rows.double(column) == 0 ? 0 : 1
    case SQLITE_TEXT: rows.text(column).utf8.count
    case SQLITE_BLOB: rows.blob(column).count
    default: 0
    }
  }
}
