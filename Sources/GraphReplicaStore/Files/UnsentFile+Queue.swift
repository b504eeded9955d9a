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
    try read { try Self.forms($0, after: number, limit: limit) }
  }

  static func forms(
    _ database: Database, after number: Int64, limit: Int
  ) throws -> [(number: Int64, form: String)] {
    try GRDB.Row.fetchAll(
      database, sql: "SELECT number, form FROM intent WHERE number > ? ORDER BY number LIMIT ?",
      arguments: [number, limit]
    ).map { ($0[0], $0[1]) }
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

  /// The intent of a number, which may be known; nil if there is none, or it has no meaning.
  static func intent(_ number: Int64, _ database: Database, _ form: IntentForm, known: Entry?) throws -> Intent? {
    if let known {
      let statement = try database.cachedStatement(sql: "SELECT form FROM intent WHERE number = ?")
      let text = try String.fetchOne(statement, arguments: [number])
      if text?.utf8.elementsEqual(known.form.utf8) == true { return known.intent }
    }
    return try entry(number, database, form)?.intent
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
    try append(draft, form: form, after: nil, restores: nil, plan: plan).intent
  }

  /// Appends an intent behind a change of the queue.
  /// - Parameters:
  ///   - change: the newest change that is planned; nil for any.
  ///   - restores: the restores of the server before the mirror was opened to which the intent refers; nil for any.
  /// - Returns: the intent, and the change that has added it.
  /// - Throws: `MirrorOverlay.QueueChanged` if the queue has a newer change; `Refusal(.unavailable)` if the server was
  ///   restored since.
  func append(
    _ draft: Intent, form: IntentForm, after change: Int64?, restores: Int64?,
    plan: (Intent, _ used: Int64) throws -> [(number: Int64, object: ObjectID)]
  ) throws -> (intent: Intent, change: Int64) {
    try write { database in
      if let change, try Self.newestChange(database) != change { throw MirrorOverlay.QueueChanged() }
      var added: (intent: Intent, change: Int64)?
      try update(database) { replica in
        if let restores, restores != replica.restores { throw Self.restored }
        added = try Self.append(draft, database, form, &replica) { try ($0, plan($0, $1)) }
      }
      return try invariant(added, "an intent that was appended is in the queue")
    }
  }

  /// Appends an intent inside a transaction.
  /// - Parameter plan: returns the intent as it is appended, and the provisional numbers that it uses.
  static func append(
    _ draft: Intent, _ database: Database, _ form: IntentForm, _ replica: inout Replica,
    plan: (Intent, _ used: Int64) throws -> (Intent, [(number: Int64, object: ObjectID)])
  ) throws -> (intent: Intent, change: Int64) {
    var intent = draft
    // The program may still name an object as it did before the server has made it.
    let made = try madeObjects(of: intent.changes.flatMap(\.namedObjects), database, form.model)
    intent.rename(made.ids, madeAt: made.revisions)
    replica.number += 1
    replica.sequence += 1
    intent.number = replica.number
    intent.transaction = TransactionID(replica: replica.id, sequence: replica.sequence)
    let (planned, numbers) = try plan(intent, replica.used)
    try database.run(
      "INSERT INTO intent (number, state, used, form) VALUES (?, ?, ?, ?)",
      [planned.number, stateName(planned), replica.used, form.json(planned).text])
    try index(planned, database)
    let change = try log(planned, database)
    for (number, object) in numbers {
      try database.run(
        "INSERT OR REPLACE INTO assigned (provisional, object) VALUES (?, ?)", [number, Data(object.key.bytes)])
      replica.used = max(replica.used, number - ProvisionalNumber.base)
    }
    return (planned, change)
  }
}

extension UnsentFile {
  // MARK: - Taking

  /// Appends the intents of a file, in one step. Undos are left out.
  /// - Parameter plan: like that of `append`; an intent that it refuses is parked, with those that name its objects.
  func take(
    _ intents: [Intent], form: IntentForm, after change: Int64, restores: Int64, at time: Timestamp,
    plan: (Intent, _ used: Int64) throws -> [(number: Int64, object: ObjectID)]
  ) throws -> (taken: ReplicaStore.Taken, change: Int64) {
    try write { database in
      if try Self.newestChange(database) != change { throw MirrorOverlay.QueueChanged() }
      var (taken, last) = (ReplicaStore.Taken(), change)
      try update(database) { replica in
        if restores != replica.restores { throw Self.restored }
        var numbers = [Int64: Int64]()
        for other in intents {
          guard case .changes = other.content else {
            taken.undos += 1
            continue
          }
          let draft = try other.draft(numbers, in: replica.id, form.model)
          let added = try Self.append(draft, database, form, &replica) { intent, used in
            do {
              let maker = intent.prerequisites.filter { taken.parked.contains($0) }.min()
              if let maker { return (intent.parked(behind: maker, at: time), []) }
              return (intent, try plan(intent, used))
            } catch let refusal as Refusal {
              var parked = intent
              parked.state = .parked(Parking(refusal, at: time, left: nil))
              return (parked, [])
            }
          }
          numbers[other.number] = added.intent.number
          taken.numbers.append(added.intent.number)
          if added.intent.isParked { taken.parked.append(added.intent.number) }
          last = added.change
        }
      }
      return (taken, last)
    }
  }

  static let restored = Refusal(
    .unavailable,
    "the server was restored from a backup, and this computer's copy was loaded again: look at it, and repeat the "
      + "change")
}

extension Intent {
  /// The intent of a file as it is queued here.
  /// - Parameter numbers: the numbers here of the file's intents in front of it.
  fileprivate func draft(_ numbers: [Int64: Int64], in replica: UniqueID, _ model: Model) throws -> Intent {
    var draft = self
    draft.state = .queued
    draft.model = IntentModel(model)
    var ids = [ObjectID: ObjectID]()
    for id in changes.flatMap(\.namedObjects) {
      guard let parts = ProvisionalID.parts(of: id) else { continue }
      if let number = numbers[parts.number] {
        ids[id] = ProvisionalID.make(number: number, place: parts.place, entity: id.entity)
      } else if transaction.replica != replica {
        // Here the number is that of another edit.
        throw Refusal(
          .malformed, "edit \(number) names an object that edit \(parts.number) makes, which is not in the file")
      }
    }
    draft.rename(ids)
    return draft
  }

  fileprivate func parked(behind number: Int64, at time: Timestamp) -> Intent {
    var intent = self
    intent.state = .parked(.waiting(for: number, at: time))
    return intent
  }
}

extension Database {
  /// Runs a statement, which stays prepared.
  func run(_ sql: String, _ arguments: StatementArguments) throws {
    try cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
