// Tests: UnsentFileTests.swift
import Foundation
import GRDB
import GraphModel
import GraphStore

/// The queue of intents. Each call is one durable step.
extension UnsentFile {
  /// A row of the queue.
  package struct Entry: Sendable {
    package var number: Int64
    /// The JSON form.
    package var form: String
    /// The intent; nil if it has no meaning in the present version of the model.
    package var intent: Intent?
    /// The reason why `intent` is nil.
    package var failure: Refusal?
    /// The count of provisional numbers that earlier intents use.
    package var used: Int64
    /// Whether it waits for its user.
    package var isParked: Bool
  }

  /// All intents, in order.
  package func entries(_ form: IntentForm) throws -> [Entry] { try read { try Self.entries($0, form) } }

  /// The JSON forms of all intents, in order.
  package func forms() throws -> [String] {
    try read { try String.fetchAll($0, sql: "SELECT form FROM intent ORDER BY number") }
  }

  /// The numbers of queued and of parked intents.
  package func counts() throws -> (unsent: Int, parked: Int) {
    try read { database in
      func count(_ condition: String) throws -> Int {
        let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM intent WHERE \(condition)")
        return try invariant(count, "a count of rows is a number")
      }
      return (try count("state <> 'parked'"), try count("state = 'parked'"))
    }
  }

  static func entries(_ database: Database, _ form: IntentForm) throws -> [Entry] {
    let rows = try GRDB.Row.fetchAll(database, sql: "SELECT number, form, used, state FROM intent ORDER BY number")
    return rows.map { row in
      var entry = Entry(
        number: row[0], form: row[1], intent: nil, used: row[2], isParked: (row[3] as String) == "parked")
      do throws(Refusal) {
        entry.intent = try form.intent(parsing: entry.form)
      } catch {
        entry.failure = error
      }
      return entry
    }
  }

  static func update(_ intent: Intent, _ database: Database, _ form: IntentForm) throws {
    try database.execute(
      sql: "UPDATE intent SET state = ?, form = ? WHERE number = ?",
      arguments: [stateName(intent), form.json(intent).text, intent.number])
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
    try write { database in
      var intent = draft
      try update(database) { replica in
        replica.number += 1
        replica.sequence += 1
        intent.number = replica.number
        intent.transaction = TransactionID(replica: replica.id, sequence: replica.sequence)
        let numbers = try plan(intent, replica.used)
        // Another process may have sent those in front of it since the caller read the queue.
        if !intent.prerequisites.isEmpty {
          let made = try Self.madeObjects(database, form.model)
          intent.rename(made.ids, madeAt: made.revisions)
        }
        try database.execute(
          sql: "INSERT INTO intent (number, state, used, form) VALUES (?, ?, ?, ?)",
          arguments: [intent.number, Self.stateName(intent), replica.used, form.json(intent).text])
        for (number, object) in numbers {
          try database.execute(
            sql: "INSERT OR REPLACE INTO assigned (provisional, object) VALUES (?, ?)",
            arguments: [number, Data(object.key.bytes)])
          replica.used = max(replica.used, number - ProvisionalNumber.base)
        }
      }
      return intent
    }
  }

  // MARK: - Sending

  /// Marks intents as sent. Their bytes may leave when this has returned.
  /// - Returns: the marked ones; the user has discarded the others.
  package func markLeft(_ numbers: [Int64], at time: Timestamp, form: IntentForm) throws -> [Intent] {
    try write { database in
      var marked = [Intent]()
      try update(database) { replica in
        for entry in try Self.entries(database, form) where numbers.contains(entry.number) {
          guard var intent = entry.intent, case .queued = intent.state else { continue }
          intent.state = .left(time)
          try Self.update(intent, database, form)
          if intent.transaction.replica == replica.id { replica.left = max(replica.left, intent.transaction.sequence) }
          marked.append(intent)
        }
      }
      return marked
    }
  }

  /// Removes a committed intent; the ids of its objects take the place of the provisional ones in all others.
  /// - Parameters:
  ///   - ids: by provisional id.
  ///   - numbers: the numbers that the server has assigned, by the object's provisional id.
  ///   - rest: what the server has not applied, parked; it stays in the intent's place.
  ///   - revision: the revision of the commit.
  package func finish(
    _ number: Int64, ids: [ObjectID: ObjectID], numbers: [ObjectID: Int64] = [:], rest: Intent? = nil,
    revision: Revision = 0, form: IntentForm
  ) throws {
    try write { database in
      if let rest {
        precondition(rest.number == number && rest.isParked, "what was not applied waits for the user")
        try Self.update(rest, database, form)
      } else {
        try database.execute(sql: "DELETE FROM intent WHERE number = ?", arguments: [number])
      }
      for (provisional, permanent) in ids {
        try database.execute(
          sql: "INSERT OR REPLACE INTO name (provisional, permanent, entity, revision) VALUES (?, ?, ?, ?)",
          arguments: [
            Data(provisional.key.bytes), Data(permanent.key.bytes), form.model.entityName(permanent.entity), revision,
          ])
      }
      for (provisional, number) in numbers {
        try database.execute(
          sql: "UPDATE assigned SET number = ? WHERE object = ?", arguments: [number, Data(provisional.key.bytes)])
      }
      if ids.isEmpty { return }
      let revisions = ids.mapValues { _ in revision }
      for entry in try Self.entries(database, form) {
        guard var intent = entry.intent else { continue }
        intent.rename(ids, madeAt: revisions)
        if intent != entry.intent { try Self.update(intent, database, form) }
      }
    }
  }

  /// Parks an intent, and those behind it that name an object which only it would have made.
  package func park(_ number: Int64, _ parking: Parking, form: IntentForm) throws {
    try write { try Self.park(number, parking, $0, form) }
  }

  private static func park(_ number: Int64, _ parking: Parking, _ database: Database, _ form: IntentForm) throws {
    var parked = [number: parking]
    for entry in try entries(database, form) {
      guard var intent = entry.intent, !intent.isParked else { continue }
      var reason = parked[entry.number]
      if reason == nil, let maker = intent.prerequisites.sorted().first(where: { parked[$0] != nil }) {
        reason = Parking(
          code: Parking.waits, message: "it changes an object that the parked edit \(maker) would have made",
          at: parking.at, waitsFor: maker)
        parked[entry.number] = reason
      }
      guard let reason else { continue }
      intent.state = .parked(reason)
      try update(intent, database, form)
    }
  }

  /// Parks an intent that has no meaning in the present version of the model, and those behind it that name an object
  /// which only it would have made. Its form stays in its own names.
  package func parkUnreadable(_ number: Int64, _ parking: Parking, form: IntentForm) throws {
    try write { database in
      let text = try String.fetchOne(database, sql: "SELECT form FROM intent WHERE number = ?", arguments: [number])
      guard let text else { throw Self.unknown(number) }
      let members = try invariant(JSON(parsing: text).members, "the form of an intent is an object")
      let reason = JSON.object([
        .init("code", .string(parking.code)), .init("message", .string(parking.message)),
        .init("at", .string(RFC3339.text(parking.at))),
      ])
      let others = members.filter { $0.name != "state" && $0.name != "parked" }
      let parked = JSON.object(others + [.init("state", .string("parked")), .init("parked", reason)])
      try database.execute(
        sql: "UPDATE intent SET state = 'parked', form = ? WHERE number = ?", arguments: [parked.text, number])
      try Self.park(number, parking, database, form)
    }
  }

  // MARK: - Parked intents

  /// Queues a parked intent again, under a new transaction id, with those that wait for it.
  /// - Parameters:
  ///   - policy: nil for the intent's own.
  ///   - base: the server's revision that the user has seen now.
  /// - Returns: the numbers of the queued intents.
  package func retry(
    _ number: Int64, policy: MergePolicy? = nil, base: Revision, form: IntentForm
  ) throws -> [Int64] {
    try write { database in
      guard let first = try Self.intent(number, database, form), first.isParked else { throw Self.notParked(number) }
      var retried = [Int64]()
      try update(database) { replica in
        for entry in try Self.entries(database, form) {
          guard var intent = entry.intent, case .parked(let parking) = intent.state else { continue }
          let waits = parking.waitsFor.map { retried.contains($0) } == true
          guard entry.number == number || waits else { continue }
          replica.sequence += 1
          intent.transaction = TransactionID(replica: replica.id, sequence: replica.sequence)
          if entry.number == number { intent.prepareRetry(policy, base: base) }
          intent.state = .queued
          try Self.update(intent, database, form)
          retried.append(entry.number)
        }
      }
      return retried
    }
  }

  /// The intents that would be discarded with one: those that name an object which only it makes.
  package func dependents(of number: Int64, form: IntentForm) throws -> [Int64] {
    try read { database in try Self.dependents(of: number, database, form) }
  }

  private static func dependents(of number: Int64, _ database: Database, _ form: IntentForm) throws -> [Int64] {
    var gone: Set<Int64> = [number]
    for entry in try entries(database, form) {
      if let intent = entry.intent, !intent.prerequisites.isDisjoint(with: gone) { gone.insert(entry.number) }
    }
    return gone.sorted()
  }

  /// Removes an intent, and those that name an object which only it makes. One that may have reached the server and
  /// has no answer is not removed.
  /// - Returns: the removed intents' forms.
  package func discard(_ number: Int64, form: IntentForm) throws -> [String] {
    try write { database in
      var forms = [String]()
      for number in try Self.dependents(of: number, database, form) {
        let row = try GRDB.Row.fetchOne(
          database, sql: "SELECT form, state FROM intent WHERE number = ?", arguments: [number])
        guard let row else { throw Self.unknown(number) }
        guard (row[1] as String) != "left" else {
          throw Refusal(
            .conflict,
            "edit \(number) is on its way: it can be undone when the server has answered (stickies sync now)")
        }
        forms.append(row[0])
        try database.execute(sql: "DELETE FROM intent WHERE number = ?", arguments: [number])
      }
      return forms
    }
  }

  /// Replaces a parked intent by another form of it, and queues it under a new transaction id.
  package func replace(_ number: Int64, by other: Intent, form: IntentForm) throws {
    try write { database in
      guard try Self.intent(number, database, form)?.isParked == true else { throw Self.notParked(number) }
      var intent = other
      try update(database) { replica in
        replica.sequence += 1
        intent.transaction = TransactionID(replica: replica.id, sequence: replica.sequence)
        intent.number = number
        intent.state = .queued
        try Self.update(intent, database, form)
      }
    }
  }

  /// Removes all intents, in any state.
  package func discardAll() throws {
    try write { try $0.execute(sql: "DELETE FROM intent") }
  }

  static func intent(_ number: Int64, _ database: Database, _ form: IntentForm) throws -> Intent? {
    let text = try String.fetchOne(database, sql: "SELECT form FROM intent WHERE number = ?", arguments: [number])
    guard let text else { throw unknown(number) }
    return try form.intent(parsing: text)
  }

  private static func unknown(_ number: Int64) -> Refusal {
    Refusal(.notFound, "there is no unsent edit \(number); stickies sync conflicts lists them")
  }

  private static func notParked(_ number: Int64) -> Refusal {
    Refusal(.conflict, "edit \(number) is not parked: it is sent when the server can be reached")
  }

  // MARK: - Names

  /// The objects that the server has made of unsent ones.
  package struct MadeObjects: Sendable {
    /// The permanent ids, by the provisional ones.
    package var ids = [ObjectID: ObjectID]()
    /// The revisions at which the server has made them, by the provisional ids.
    package var revisions = [ObjectID: Revision]()
  }

  /// All objects that the server has made.
  package func madeObjects(_ model: Model) throws -> MadeObjects { try read { try Self.madeObjects($0, model) } }

  private static func madeObjects(_ database: Database, _ model: Model) throws -> MadeObjects {
    var made = MadeObjects()
    for row in try GRDB.Row.fetchAll(database, sql: "SELECT provisional, permanent, entity, revision FROM name") {
      guard let old = UniqueID(bytes: Array(row[0] as Data)), let new = UniqueID(bytes: Array(row[1] as Data)),
        let entity = model.entity(named: row[2])
      else { continue }
      let id = ObjectID(key: old, entity: entity.number)
      made.ids[id] = ObjectID(key: new, entity: entity.number)
      made.revisions[id] = row[3]
    }
    return made
  }

  /// The number that the server has assigned in place of a provisional one; nil if it has not.
  package func assignedNumber(for provisional: Int64) throws -> Int64? {
    try read { database in
      try Int64.fetchOne(
        database, sql: "SELECT number FROM assigned WHERE provisional = ?", arguments: [provisional])
    }
  }
}

extension Intent {
  /// Bases what the user has seen of the server's values by now on the present revision.
  mutating func prepareRetry(_ policy: MergePolicy?, base: Revision) {
    if let policy { self.policy = policy }
    guard case .changes(var changes) = content else { return }
    for index in changes.indices where changes[index].base > 0 {
      changes[index].base = max(changes[index].base, base)
      if var condition = changes[index].onlyIf {
        condition.revision = max(condition.revision, base)
        changes[index].onlyIf = condition
      }
    }
    content = .changes(changes)
  }
}
