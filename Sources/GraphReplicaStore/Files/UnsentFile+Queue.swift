// Tests: UnsentFileTests.swift
import Foundation
import GRDB
import GraphModel
import GraphStore

/// The queue of intents. Each call is one durable step, and reads only the intents that it concerns.
extension UnsentFile {
  /// A row of the queue.
  package struct Entry: Sendable {
    package var number: Int64
    /// The JSON form.
    package var form: String
    /// The intent; nil if it has no meaning in the present version of the model.
    package var intent: Intent?
    /// Why it has none.
    package var failure: Refusal?
    /// The provisional numbers that earlier intents use.
    package var used: Int64
    /// Whether it waits for its user.
    package var isParked: Bool
  }

  /// The intents that a call returns.
  package enum Selection: Sendable {
    case all
    /// Those that were not answered.
    case waiting
    /// Those that wait for their user.
    case parked

    var condition: String {
      switch self {
      case .all: ""
      case .waiting: " AND state <> 'parked'"
      case .parked: " AND state = 'parked'"
      }
    }
  }

  // MARK: - Reading

  /// The intents behind a number, in order; by default all.
  package func entries(
    _ form: IntentForm, _ selection: Selection = .all, after number: Int64 = 0, limit: Int = .max
  ) throws -> [Entry] {
    try read { try Self.entries($0, form, selection, after: number, limit: limit) }
  }

  /// One intent; nil if there is none of this number.
  package func entry(_ number: Int64, form: IntentForm) throws -> Entry? {
    try read { try Self.entry(number, $0, form) }
  }

  /// The newest intents that were not answered, newest first.
  package func newest(_ form: IntentForm, limit: Int) throws -> [Intent] {
    try read { database in
      let rows = try GRDB.Row.fetchAll(
        database.cachedStatement(
          sql: "SELECT \(Self.columns) FROM intent WHERE state <> 'parked' ORDER BY number DESC LIMIT ?"),
        arguments: [limit])
      return rows.compactMap { Self.entry($0, form).intent }
    }
  }

  /// The JSON forms of the intents behind a number, in order.
  package func forms(after number: Int64, limit: Int) throws -> [(number: Int64, form: String)] {
    try read { database in
      try GRDB.Row.fetchAll(
        database, sql: "SELECT number, form FROM intent WHERE number > ? ORDER BY number LIMIT ?",
        arguments: [number, limit]
      ).map { ($0[0], $0[1]) }
    }
  }

  /// The numbers of queued and of parked intents.
  package func counts() throws -> (unsent: Int, parked: Int) {
    try read { database in
      func count(_ states: String) throws -> Int {
        let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM intent WHERE state IN (\(states))")
        return try invariant(count, "a count of rows is a number")
      }
      return (try count("'queued', 'left'"), try count("'parked'"))
    }
  }

  private static let columns = "number, form, used, state"

  static func entries(
    _ database: Database, _ form: IntentForm, _ selection: Selection = .all, after number: Int64 = 0,
    limit: Int = .max
  ) throws -> [Entry] {
    let sql = "SELECT \(columns) FROM intent WHERE number > ?\(selection.condition) ORDER BY number LIMIT ?"
    return try GRDB.Row.fetchAll(database.cachedStatement(sql: sql), arguments: [number, limit])
      .map { entry($0, form) }
  }

  static func entry(_ number: Int64, _ database: Database, _ form: IntentForm) throws -> Entry? {
    let statement = try database.cachedStatement(sql: "SELECT \(columns) FROM intent WHERE number = ?")
    return try GRDB.Row.fetchOne(statement, arguments: [number]).map { entry($0, form) }
  }

  private static func entry(_ row: GRDB.Row, _ form: IntentForm) -> Entry {
    var entry = Entry(
      number: row[0], form: row[1], intent: nil, used: row[2], isParked: (row[3] as String) == "parked")
    do throws(Refusal) {
      entry.intent = try form.intent(parsing: entry.form)
    } catch {
      entry.failure = error
    }
    return entry
  }

  /// Passes all intents to `body`, in order, some at a time.
  static func forEachEntry(_ database: Database, _ form: IntentForm, _ body: (Entry) throws -> Void) throws {
    var page = try entries(database, form, limit: pageSize)
    while let newest = page.last {
      for entry in page { try body(entry) }
      page = try entries(database, form, after: newest.number, limit: pageSize)
    }
  }

  private static let pageSize = 200

  static func intent(_ number: Int64, _ database: Database, _ form: IntentForm) throws -> Intent? {
    guard let entry = try entry(number, database, form) else { throw unknown(number) }
    if let failure = entry.failure { throw failure }
    return entry.intent
  }

  static func unknown(_ number: Int64) -> Refusal {
    Refusal(.notFound, "there is no unsent edit \(number); stickies sync conflicts lists them")
  }

  static func notParked(_ number: Int64) -> Refusal {
    Refusal(.conflict, "edit \(number) is not parked: it is sent when the server can be reached")
  }

  // MARK: - Writing

  /// Writes the state and the form.
  static func update(_ intent: Intent, _ database: Database, _ form: IntentForm) throws {
    try database.run(
      "UPDATE intent SET state = ?, form = ? WHERE number = ?",
      [stateName(intent), form.json(intent).text, intent.number])
  }

  /// Writes an intent that names other objects than before, or that is shown in another way.
  static func replace(_ intent: Intent, _ database: Database, _ form: IntentForm) throws {
    try update(intent, database, form)
    try database.run("DELETE FROM named WHERE number = ?", [intent.number])
    try index(intent, database)
    try log(intent, database)
  }

  static func remove(_ number: Int64, _ database: Database) throws {
    // An edit that is shown again when its undo is removed.
    for undone in try undone(by: number, database) { try log(undone, database) }
    try database.run("DELETE FROM intent WHERE number = ?", [number])
    try database.run("DELETE FROM named WHERE number = ?", [number])
    try log(number, database)
  }

  private static func stateName(_ intent: Intent) -> String {
    switch intent.state {
    case .queued: "queued"
    case .left: "left"
    case .parked: "parked"
    }
  }

  // MARK: - Appending

  /// Appends an intent, which gets its number and its transaction id here.
  /// - Parameter plan: receives the intent with its number, and returns the provisional numbers that it uses, with
  ///   their objects. If it throws, nothing is appended.
  package func append(
    _ draft: Intent, form: IntentForm,
    plan: (Intent, _ used: Int64) throws -> [(number: Int64, object: ObjectID)]
  ) throws -> Intent {
    try append(draft, form: form, after: nil, plan: plan).intent
  }

  /// Appends an intent behind a change of the queue.
  /// - Parameter change: the newest change that is planned; nil for any.
  /// - Returns: the intent, and the change that has added it.
  /// - Throws: `MirrorOverlay.QueueChanged` if the queue has a newer change.
  func append(
    _ draft: Intent, form: IntentForm, after change: Int64?,
    plan: (Intent, _ used: Int64) throws -> [(number: Int64, object: ObjectID)]
  ) throws -> (intent: Intent, change: Int64) {
    try write { database in
      if let change, try Self.newestChange(database) != change { throw MirrorOverlay.QueueChanged() }
      var intent = draft
      // The program may still name an object as it did before the server has made it.
      let made = try Self.madeObjects(of: intent.changes.flatMap(\.namedObjects), database, form.model)
      intent.rename(made.ids, madeAt: made.revisions)
      var last: Int64 = 0
      try update(database) { replica in
        replica.number += 1
        replica.sequence += 1
        intent.number = replica.number
        intent.transaction = TransactionID(replica: replica.id, sequence: replica.sequence)
        let numbers = try plan(intent, replica.used)
        try database.run(
          "INSERT INTO intent (number, state, used, form) VALUES (?, ?, ?, ?)",
          [intent.number, Self.stateName(intent), replica.used, form.json(intent).text])
        try Self.index(intent, database)
        last = try Self.log(intent, database)
        for (number, object) in numbers {
          try database.run(
            "INSERT OR REPLACE INTO assigned (provisional, object) VALUES (?, ?)",
            [number, Data(object.key.bytes)])
          replica.used = max(replica.used, number - ProvisionalNumber.base)
        }
      }
      return (intent, last)
    }
  }
}

extension Database {
  /// Runs a statement, which stays prepared.
  func run(_ sql: String, _ arguments: StatementArguments) throws {
    try cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
